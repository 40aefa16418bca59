package lossy_test

import (
	"testing"

	"github.com/restaq/restaq/checks/internal/checktest"
	"github.com/restaq/restaq/checks/lossy"
)

func Test(t *testing.T) { checktest.Run(t, lossy.Analyzer) }
