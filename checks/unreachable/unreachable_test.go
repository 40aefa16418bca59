package unreachable_test

import (
	"testing"

	"github.com/restaq/restaq/checks/unreachable"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, unreachable.Analyzer) }
