package nested_test

import (
	"testing"

	"github.com/restaq/restaq/checks/nested"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, nested.Analyzer) }
