package nondeterminism_test

import (
	"testing"

	"github.com/restaq/restaq/checks/nondeterminism"
	"github.com/restaq/restaq/internal/checktest"
)

func TestWhatDiffersBetweenAttemptsIsReported(t *testing.T) {
	checktest.Run(t, nondeterminism.Analyzer)
}
