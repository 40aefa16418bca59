package lock

import (
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"
)

const text = `{
  "//": "Shapes of this package's step outputs, by which records of earlier builds are told from today's. Written by restaqgen; commit it.",
  "steps": {
    "charge": {
      "inputs": "00000000000000aa",
      "output": "00000000000000bb",
      "schema": {
        "type": "string",
        "format": "date-time"
      },
      "earlier": [
        "00000000000000cc"
      ]
    },
    "send": {
      "inputs": "00000000000000dd"
    }
  }
}
`

func sample() File {
	return File{Steps: map[string]Step{
		"send": {Inputs: "00000000000000dd"},
		"charge": {
			Inputs: "00000000000000aa", Output: "00000000000000bb", Earlier: []string{"00000000000000cc"},
			Schema: &jsonschema.Schema{Type: "string", Format: "date-time"},
		},
	}}
}

func TestAFileIsSortedAndBeginsWithAnExplanation(t *testing.T) {
	got, err := sample().Encode()
	if err != nil || string(got) != text {
		t.Fatalf("Encode = %v\n%s\nwant\n%s", err, got, text)
	}
}

func TestParseReadsWhatEncodeWrote(t *testing.T) {
	got, err := Parse([]byte(text))
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Fatalf("Parse = %+v, %v", got, err)
	}
}

func TestBrokenFilesAreErrors(t *testing.T) {
	for _, broken := range []string{
		"", "null x", "[]", text[:len(text)/2], text + "}",
		"<<<<<<< HEAD\n" + text + "=======\n" + text + ">>>>>>> other\n",
	} {
		if f, err := Parse([]byte(broken)); err == nil {
			t.Errorf("Parse(%.20q) = %+v, want an error", broken, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte(`{"steps":{"a":{"schema":{"$defs":{"x":true},"type":7}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		if _, err := file.Encode(); err != nil {
			t.Fatalf("a file that was read cannot be written: %v", err)
		}
	})
}
