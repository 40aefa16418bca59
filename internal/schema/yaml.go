package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxAliased bounds what the aliases of a YAML file may grow to, in values beyond
// those that the file has room for.
const maxAliased = 300_000

// ParseYAML reads one YAML document as the JSON value that it stands for. Numbers
// keep their digits, dates are strings, aliases and merge keys are written out.
func ParseYAML(file string, data []byte) (*Node, *Problem) {
	p := &yamlParser{file: file, left: maxAliased + len(data)}
	docs, err := yamlDocuments(data)
	switch start := (Position{File: file, Line: 1, Col: 1}); {
	case err != nil:
		return nil, &Problem{Position: yamlErrorAt(start, err), Message: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	case len(docs) == 0:
		return nil, &Problem{Position: start, Message: "the file is empty"}
	case len(docs) > 1:
		return nil, &Problem{Position: p.at(docs[1], ""), Message: "a schema file holds one YAML document, and here begins a second"}
	}
	n := p.value(docs[0], "", 0)
	if p.problem != nil {
		return nil, p.problem
	}
	return n, nil
}

func yamlDocuments(data []byte) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		switch err := dec.Decode(&n); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, &n)
	}
}

// lineOf finds the line in an error of the YAML library, which has it as text
// alone.
var lineOf = regexp.MustCompile(`\bline (\d+)`)

func yamlErrorAt(at Position, err error) Position {
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
	}
	return at
}

type yamlParser struct {
	file    string
	left    int      // values that may still come
	problem *Problem // the first
}

func (p *yamlParser) at(n *yaml.Node, pointer string) Position {
	return Position{File: p.file, Pointer: pointer, Line: n.Line, Col: n.Column}
}

// fail notes a problem and returns a node to go on with.
func (p *yamlParser) fail(n *yaml.Node, pointer, message string) *Node {
	if p.problem == nil {
		p.problem = &Problem{Position: p.at(n, pointer), Message: "not YAML that is JSON too: " + message}
	}
	return &Node{Position: p.at(n, pointer), Kind: Null, Text: "null"}
}

func (p *yamlParser) value(n *yaml.Node, pointer string, depth int) *Node {
	p.left--
	if depth > maxDepth || p.left < 0 || p.problem != nil {
		return p.fail(n, pointer, "nested too deep, or grown too large by aliases")
	}
	out := &Node{Position: p.at(n, pointer)}
	switch n.Kind {
	case yaml.DocumentNode:
		return p.value(n.Content[0], pointer, depth)
	case yaml.AliasNode:
		return p.value(n.Alias, pointer, depth+1)
	case yaml.SequenceNode:
		out.Kind = Array
		for i, v := range n.Content {
			out.Items = append(out.Items, p.value(v, pointer+"/"+strconv.Itoa(i), depth+1))
		}
	case yaml.MappingNode:
		out.Kind = Object
		p.members(out, n, pointer, depth)
	default:
		return p.scalar(out, n)
	}
	return out
}

// members reads a mapping. What << merges stands behind the mapping's own
// members, which win.
func (p *yamlParser) members(out *Node, n *yaml.Node, pointer string, depth int) {
	var seen names
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			p.fail(key, pointer, "the name of a member is not a plain value")
			return
		case key.ShortTag() == "!!merge":
			merged = append(merged, v)
			continue
		case !seen.add(out.Members, key.Value):
			p.fail(key, pointer, "member "+strconv.Quote(key.Value)+" stands twice in one mapping")
			return
		}
		out.Members = append(out.Members, Member{key.Value, p.value(v, pointer+"/"+escapePointer(key.Value), depth+1)})
	}
	for _, v := range merged {
		p.merge(out, p.value(v, pointer, depth+1), v)
	}
}

// merge adds the members of from, a mapping or a list of them, that out lacks.
func (p *yamlParser) merge(out, from *Node, at *yaml.Node) {
	switch from.Kind {
	case Array:
		for _, item := range from.Items {
			p.merge(out, item, at)
		}
	case Object:
		for _, m := range from.Members {
			if out.Member(m.Name) == nil {
				out.Members = append(out.Members, m)
			}
		}
	default:
		p.fail(at, out.Pointer, "<< merges something else than a mapping")
	}
}

func (p *yamlParser) scalar(out *Node, n *yaml.Node) *Node {
	out.Text = n.Value
	switch n.ShortTag() {
	case "!!null":
		out.Kind, out.Text = Null, "null"
	case "!!bool":
		out.Kind, out.Text = Bool, strings.ToLower(n.Value)
		if out.Text != "true" && out.Text != "false" { // yes and no of YAML 1.1, by tag
			return p.fail(n, out.Pointer, strconv.Quote(n.Value)+" is neither true nor false")
		}
	case "!!int", "!!float":
		out.Kind = Number
		text, err := jsonNumber(n.Value)
		if err != nil {
			return p.fail(n, out.Pointer, strconv.Quote(n.Value)+" is no number of JSON")
		}
		out.Text = text
	default: // strings, timestamps, whatever has a tag of its own
		out.Kind = String
		if n.Style == 0 && json.Valid([]byte(n.Value)) { // a number too large for the library
			out.Kind = Number
		}
	}
	return out
}

// jsonNumber returns a YAML number as JSON writes it, digit for digit where it
// can be.
func jsonNumber(text string) (string, error) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	if json.Valid([]byte(text)) {
		return text, nil
	}
	if i, ok := new(big.Int).SetString(text, 0); ok {
		return i.String(), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", err
	}
	if out := strconv.FormatFloat(f, 'g', -1, 64); json.Valid([]byte(out)) {
		return out, nil
	}
	return "", errors.New("infinite, or not a number")
}
