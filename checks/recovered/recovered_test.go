package recovered_test

import (
	"testing"

	"github.com/restaq/restaq/internal/checktest"
	"github.com/restaq/restaq/checks/recovered"
)

func Test(t *testing.T) { checktest.Run(t, recovered.Analyzer) }
