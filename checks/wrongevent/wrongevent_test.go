package wrongevent_test

import (
	"testing"

	"github.com/restaq/restaq/internal/checktest"
	"github.com/restaq/restaq/checks/wrongevent"
)

func Test(t *testing.T) { checktest.Run(t, wrongevent.Analyzer) }
