package ignore_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks/directcall"
	"github.com/restaq/restaq/checks/ignore"
	"github.com/restaq/restaq/internal/checktest"
)

func TestSilencersThatSilenceNothingAreReported(t *testing.T) {
	checktest.Run(t, ignore.New([]*analysis.Analyzer{directcall.Analyzer}))
}
