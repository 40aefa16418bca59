package corpus

import (
	"testing"

	"github.com/restaq/restaq/runtime/codec/codectest"
)

// Codecs do what encoding/json does, with values and with texts of all kinds.
func TestCodecsMeanWhatEncodingJSONMeans(t *testing.T) { codectest.Test(t, 300, restaqCodecs...) }
