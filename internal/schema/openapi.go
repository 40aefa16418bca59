package schema

import (
	"slices"
	"strings"
)

// Webhook is an operation that an OpenAPI file has under webhooks, or under
// x-webhooks as files of version 3.0 do.
type Webhook struct {
	Key       string
	Schema    *Schema // of the request's body
	Operation *Node
}

// methods are the members of a path item that are operations.
var methods = []string{"post", "put", "patch", "get", "delete", "options", "head", "trace", "query"}

// openAPI reads an OpenAPI file: components.schemas as definitions, and the
// bodies of webhooks. The API's own paths are passed over.
func (r *reader) openAPI(n *Node) {
	version := n.Member("openapi")
	switch {
	case strings.HasPrefix(version.Text, "3.0"):
		r.doc.Draft = OpenAPI30
	case strings.HasPrefix(version.Text, "3."):
		r.doc.Draft = OpenAPI31
	default:
		r.problems.Errorf(version.Position, "OpenAPI %s is not read: 3.0 and 3.1 are", version.Text)
	}
	r.doc.said = true
	r.doc.Root = &Schema{Position: n.Position}
	r.resource = r.doc.Root
	if components := n.Member("components"); components != nil {
		if schemas := components.Member("schemas"); schemas != nil {
			for _, m := range r.members("components.schemas", schemas) {
				r.doc.Root.Defs = append(r.doc.Root.Defs, Def{m.Name, r.schema(m.Value)})
			}
		}
	}
	for _, name := range []string{"webhooks", "x-webhooks"} {
		if hooks := n.Member(name); hooks != nil {
			for _, m := range r.members(name, hooks) {
				r.webhook(m.Name, r.follow(m.Value))
			}
		}
	}
}

// webhook reads the operations of a path item.
func (r *reader) webhook(key string, item *Node) {
	for _, method := range methods {
		op := item.Member(method)
		if op == nil {
			continue
		}
		body := r.jsonBody(op)
		if body == nil {
			r.problems.Warnf(op.Position, "webhook %q is left out: its request has no JSON body", key)
			continue
		}
		s := r.doc.byPointer[body.Pointer]
		if s == nil {
			s = r.schema(body)
		}
		r.doc.Webhooks = append(r.doc.Webhooks, Webhook{key, s, op})
	}
}

// jsonBody returns the schema of an operation's JSON body, or nil.
func (r *reader) jsonBody(op *Node) *Node {
	body := op.Member("requestBody")
	if body == nil {
		return nil
	}
	content := r.follow(body).Member("content")
	if content == nil {
		return nil
	}
	i := slices.IndexFunc(content.Members, func(m Member) bool { return mediaType(m.Name) == "application/json" })
	if i < 0 {
		i = slices.IndexFunc(content.Members, func(m Member) bool { return strings.HasSuffix(mediaType(m.Name), "json") || m.Name == "*/*" })
	}
	if i < 0 {
		return nil
	}
	return r.follow(content.Members[i].Value).Member("schema")
}

func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.TrimSpace(strings.ToLower(s))
}

// follow returns what a $ref to a component of this file leads to, or n itself.
// Components that are not schemas are nodes, and refer to their own file alone.
func (r *reader) follow(n *Node) *Node {
	for range maxDepth {
		ref := n.Member("$ref")
		if !isString(ref) {
			return n
		}
		pointer, ok := strings.CutPrefix(ref.Text, "#")
		to := r.doc.node.at(pointer)
		if !ok || to == nil {
			r.problems.Errorf(ref.Position, "$ref %q leads nowhere in this file", ref.Text)
			return &Node{Position: n.Position, Kind: Object}
		}
		n = to
	}
	r.problems.Errorf(n.Position, "$ref leads back to itself")
	return &Node{Position: n.Position, Kind: Object}
}
