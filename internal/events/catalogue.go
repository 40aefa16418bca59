package events

import (
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/schema"
)

// This file finds event types in files that do not know of x-restaq-events:
// OpenAPI's webhooks, Stripe's and GitHub's specifications.

// webhooks finds the events of an OpenAPI file's webhooks. A payload that no one
// else refers to is named for its event type. It reports whether there are any.
func (v *surveyor) webhooks(doc *schema.Document) bool {
	var order []*schema.Schema
	groups := map[*schema.Schema][]string{}
	for _, w := range doc.Webhooks {
		payload := w.Schema
		if payload.Target != nil && isDef(doc, payload.Target) {
			payload = payload.Target
		}
		if groups[payload] == nil {
			order = append(order, payload)
		}
		for _, t := range webhookTypes(w) {
			if !slices.Contains(groups[payload], t) {
				groups[payload] = append(groups[payload], t)
			}
		}
	}
	for _, payload := range order {
		types := groups[payload]
		name := types[0]
		if i := slices.IndexFunc(doc.Root.Defs, func(d schema.Def) bool { return d.Schema == payload }); i >= 0 {
			v.payloads[payload] = v.set.References(payload) <= countTargets(doc, payload)
			if len(types) > 1 || !v.payloads[payload] {
				name = doc.Root.Defs[i].Name
			}
		}
		v.add(payload, name, types)
	}
	return len(doc.Webhooks) > 0
}

func isDef(doc *schema.Document, s *schema.Schema) bool {
	return slices.ContainsFunc(doc.Root.Defs, func(d schema.Def) bool { return d.Schema == s })
}

// countTargets returns how many webhooks have a payload by reference.
func countTargets(doc *schema.Document, payload *schema.Schema) int {
	n := 0
	for _, w := range doc.Webhooks {
		if w.Schema.Target == payload {
			n++
		}
	}
	return n
}

// webhookTypes returns the event types of a webhook: what x-restaq-events says,
// the name and the action where GitHub has them, the one value that the payload
// admits in the member that usually has the type, or else the webhook's key.
func webhookTypes(w schema.Webhook) []string {
	if said := w.Operation.Member("x-restaq-events"); said != nil && len(said.Items) > 0 {
		var types []string
		for _, t := range said.Items {
			types = append(types, t.Text)
		}
		return types
	}
	if github := w.Operation.Member("x-github"); github != nil {
		if name := github.Member("subcategory"); name != nil {
			event := strings.ReplaceAll(name.Text, "-", "_")
			if actions := texts(w.Schema, "action"); len(actions) > 0 {
				for i, a := range actions {
					actions[i] = event + "." + a
				}
				return actions
			}
			return []string{event}
		}
	}
	for _, member := range []string{"type", "event", "event_type", "eventType"} {
		if values := texts(w.Schema, member); len(values) == 1 && eventTypeLegal(values[0]) {
			return values
		}
	}
	return []string{strings.Trim(w.Key, "/")} // some write keys as paths
}

// texts returns the strings that an object admits as the member name, or none if
// it admits others or any.
func texts(s *schema.Schema, name string) []string {
	for range maxFollow {
		if p := s.Property(name); p != nil {
			return values(p.Schema)
		}
		for _, part := range s.AllOf {
			if found := texts(part, name); len(found) > 0 {
				return found
			}
		}
		if alternatives := slices.Concat(s.OneOf, s.AnyOf); len(alternatives) > 0 {
			var all []string
			for _, alt := range alternatives {
				found := texts(alt, name)
				if len(found) == 0 {
					return nil
				}
				for _, f := range found {
					if !slices.Contains(all, f) {
						all = append(all, f)
					}
				}
			}
			return all
		}
		if s.Target == nil {
			return nil
		}
		s = s.Target
	}
	return nil
}

// maxFollow bounds how many references are followed in search of a member.
const maxFollow = 16

// values returns the strings of a const or an enum of strings alone.
func values(s *schema.Schema) []string {
	for n := 0; s.Target != nil && n < maxFollow; n++ {
		s = s.Target
	}
	enum := s.Enum
	if s.Const != nil {
		enum = []*schema.Node{s.Const}
	}
	var texts []string
	for _, v := range enum {
		if v.Kind != schema.String {
			return nil
		}
		texts = append(texts, v.Text)
	}
	return texts
}

// catalogue finds the events of a file whose root is one of its own definitions
// that are named for events, as in GitHub's schema: push$event is the payload of
// push, issues$opened that of issues.opened, and issues_event is one of the
// latter kind. It reports whether the file is such a one.
func (v *surveyor) catalogue(doc *schema.Document) bool {
	root := doc.Root
	if root.IsEvent || len(root.Properties) > 0 || len(root.OneOf) == 0 {
		return false
	}
	names := map[*schema.Schema]string{}
	for _, d := range root.Defs {
		names[d.Schema] = d.Name
	}
	var leaves []*schema.Schema
	for _, alt := range root.OneOf {
		name := names[alt.Target]
		switch {
		case strings.Contains(name, "$"):
			leaves = append(leaves, alt.Target)
		case strings.HasSuffix(name, "_event"):
			for _, leaf := range alt.Target.OneOf {
				if !strings.Contains(names[leaf.Target], "$") {
					return false
				}
				leaves = append(leaves, leaf.Target)
			}
			v.payloads[alt.Target] = true
		default:
			return false
		}
	}
	for _, leaf := range leaves {
		event, action, _ := strings.Cut(names[leaf], "$")
		if action != "event" {
			event += "." + action
		}
		v.payloads[leaf] = true
		v.add(leaf, event, []string{event})
	}
	return true
}
