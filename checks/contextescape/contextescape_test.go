package contextescape_test

import (
	"testing"

	"github.com/restaq/restaq/checks/contextescape"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, contextescape.Analyzer) }
