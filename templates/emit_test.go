package templates

import (
	"fmt"
	"go/types"
	"testing"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

func emptyFile() *file {
	return newFile(Input{Package: &model.Package{Path: "example.com/p", Name: "p", Types: types.NewPackage("example.com/p", "p")}})
}

func text(t *testing.T, code jen.Code) string {
	t.Helper()
	return fmt.Sprintf("%#v", jen.Add(code))
}

func TestDurationsAreInTheirLargestWholeUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "time.Hour", 90 * time.Minute: "90 * time.Minute", 48 * time.Hour: "48 * time.Hour",
		90 * time.Second: "90 * time.Second", time.Minute: "time.Minute", 1500 * time.Millisecond: "1500 * time.Millisecond",
		3 * time.Microsecond: "3 * time.Microsecond", 7: "7 * time.Nanosecond",
	} {
		if got := text(t, emptyFile().duration(d)); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestExpressionsBecomeStrings(t *testing.T) {
	in := func(text string) model.Part { return model.Part{Text: text} }
	param := model.Part{Param: "x"}
	for _, tt := range []struct {
		parts  []model.Part
		result model.Result
		want   string
	}{
		{[]model.Part{param}, model.StringResult, "in.x"},
		{[]model.Part{param, in(" + "), in(`"/"`)}, model.StringResult, `in.x + "/"`},
		{[]model.Part{param}, model.StringKind, "string(in.x)"},
		{[]model.Part{param, in("+1")}, model.SignedResult, "strconv.FormatInt(int64(in.x+1), 10)"},
		{[]model.Part{param}, model.UnsignedResult, "strconv.FormatUint(uint64(in.x), 10)"},
		{[]model.Part{param}, model.StringerResult, "in.x.String()"},
		{[]model.Part{param, in("[0]")}, model.StringerResult, "in.x[0].String()"},
		{[]model.Part{in("*"), param}, model.StringerResult, "(*in.x).String()"},
		{[]model.Part{{Package: "strings", Name: "ToLower"}, in("("), param, in(".Name"), in(")")}, model.StringResult, "strings.ToLower(in.x.Name)"},
	} {
		got := text(t, emptyFile().text(&model.Expr{Parts: tt.parts, Result: tt.result}, func(name string) *jen.Statement {
			return jen.Id("in").Dot(name)
		}))
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.parts, got, tt.want)
		}
	}
}

func TestFreeNamesAreNumbered(t *testing.T) {
	if got := free("in", "ctx"); got != "in" {
		t.Errorf("free = %q", got)
	}
	if got := free("in", "in", "in2"); got != "in3" {
		t.Errorf("free = %q", got)
	}
}

func TestImportsAreGrouped(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"package p\n\nimport (\n\tx \"a.b/c\"\n\t\"context\"\n\t\"z.org/y\"\n)\n\nvar _ int\n", "package p\n\nimport (\n\t\"context\"\n\n\tx \"a.b/c\"\n\t\"z.org/y\"\n)\n\nvar _ int\n"},
		{"package p\n\nimport (\n\t\"context\"\n\t\"fmt\"\n)\n", "package p\n\nimport (\n\t\"context\"\n\t\"fmt\"\n)\n"},
		{"package p\n\nimport \"a.b/c\"\n", "package p\n\nimport \"a.b/c\"\n"},
		{"package p\n", "package p\n"},
	} {
		if got := string(groupImports([]byte(tt.src))); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}

func TestTagsAreQuotedByWhatTheyHold(t *testing.T) {
	for tag, want := range map[string]string{
		`json:"a"`: "`json:\"a\"`", "a`b": `"a` + "`" + `b"`, "a\nb": `"a\nb"`,
	} {
		if got := quoteTag(tag); got != want {
			t.Errorf("%q: %s, want %s", tag, got, want)
		}
	}
}
