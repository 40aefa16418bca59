package recovered_test

import (
	"testing"

	"github.com/restaq/restaq/checks/recovered"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, recovered.Analyzer) }
