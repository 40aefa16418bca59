package ignorederror_test

import (
	"testing"

	"github.com/restaq/restaq/checks/ignorederror"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, ignorederror.Analyzer) }
