package nested_test

import (
	"testing"

	"github.com/restaq/restaq/internal/checktest"
	"github.com/restaq/restaq/checks/nested"
)

func Test(t *testing.T) { checktest.Run(t, nested.Analyzer) }
