package wrongevent_test

import (
	"testing"

	"github.com/restaq/restaq/checks/wrongevent"
	"github.com/restaq/restaq/internal/checktest"
)

func Test(t *testing.T) { checktest.Run(t, wrongevent.Analyzer) }
