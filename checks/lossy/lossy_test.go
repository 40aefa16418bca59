package lossy_test

import (
	"testing"

	"github.com/restaq/restaq/checks/lossy"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, lossy.Analyzer) }
