package directcall_test

import (
	"testing"

	"github.com/restaq/restaq/checks/directcall"
	"github.com/restaq/restaq/internal/checktest"
)

func TestDirectCallsAreReported(t *testing.T) { checktest.Run(t, directcall.Analyzer) }
