package sideeffect_test

import (
	"testing"

	"github.com/restaq/restaq/checks/sideeffect"
	"github.com/restaq/restaq/internal/checktest"
)

func TestEffectsOutsideStepsAreReported(t *testing.T) { checktest.Run(t, sideeffect.Analyzer) }
