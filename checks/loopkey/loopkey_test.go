package loopkey_test

import (
	"testing"

	"github.com/restaq/restaq/checks/loopkey"
	"github.com/restaq/restaq/internal/checktest"
)

// The paths through functions are the business of internal/calls, whose cases are
// in internal/check.
func TestStepsThatAreCalledTwiceAreReported(t *testing.T) { checktest.Run(t, loopkey.Analyzer) }
