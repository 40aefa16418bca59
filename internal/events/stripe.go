package events

import (
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/schema"
)

// stripe finds the events of Stripe's specification. It has, for each event type,
// a definition marked x-stripeEvent of what stands in the event's data, and a
// definition of the event, with any data. The two are put together here: a
// payload for each object and first word of the event types, the event with
// data.object of that type. It reports whether the file is such a one.
func (v *surveyor) stripe(doc *schema.Document) bool {
	var envelope *schema.Schema
	var marked []schema.Def
	for _, d := range doc.Root.Defs {
		if d.Name == "event" {
			envelope = d.Schema
		}
		if stripeType(d.Schema) != "" {
			v.payloads[d.Schema] = true
			marked = append(marked, d)
		}
	}
	if envelope == nil || envelope.Property("data") == nil || len(marked) == 0 {
		return false
	}
	data := envelope.Property("data")
	data.Schema = &schema.Schema{Position: data.Schema.Position, Types: []schema.Kind{schema.Object}}

	var order []string
	groups := map[string][]string{}
	objects := map[string]*schema.Schema{}
	names := map[*schema.Schema]string{}
	for _, d := range doc.Root.Defs {
		names[d.Schema] = d.Name
	}
	joinDeleted(doc, names)
	for _, d := range marked {
		object := d.Schema.Property("object")
		if object == nil {
			v.problems.Warnf(d.Schema.Position, "event %s is left out: it has no object", d.Name)
			continue
		}
		eventType := stripeType(d.Schema)
		name := payloadName(eventType, names[object.Schema.Target])
		if groups[name] == nil {
			order = append(order, name)
			objects[name] = object.Schema
		}
		groups[name] = append(groups[name], eventType)
	}
	for _, name := range order {
		v.add(stripePayload(envelope, objects[name], groups[name]), name, groups[name])
	}
	return true
}

// joinDeleted takes deleted_customer, which has an id and deleted, for a customer
// where a reference leads to either. Customers have a member deleted then.
func joinDeleted(doc *schema.Document, names map[*schema.Schema]string) {
	joined := map[*schema.Schema]bool{}
	for s := range doc.Schemas() {
		var whole []string
		for _, alt := range s.AnyOf {
			whole = append(whole, names[alt.Target])
		}
		s.AnyOf = slices.DeleteFunc(s.AnyOf, func(alt *schema.Schema) bool {
			of, deleted := strings.CutPrefix(names[alt.Target], "deleted_")
			return deleted && slices.Contains(whole, of)
		})
		if len(s.AnyOf) == len(whole) {
			continue
		}
		for _, alt := range s.AnyOf {
			if slices.Contains(whole, "deleted_"+names[alt.Target]) {
				joined[alt.Target] = true
			}
		}
	}
	for s := range joined {
		if s.Property("deleted") == nil {
			s.Properties = append(s.Properties, schema.Property{Name: "deleted", Schema: &schema.Schema{Position: s.Position, Types: []schema.Kind{schema.Bool}}})
		}
	}
}

// payloadName names the payload of an event type by its first word and its
// object: charge_refund_event, charge_event, checkout_session_event.
func payloadName(eventType, object string) string {
	object = strings.ReplaceAll(object, ".", "_")
	family, _, _ := strings.Cut(eventType, ".")
	switch {
	case object == "": // one of several objects
		object = strings.ReplaceAll(eventType, ".", "_")
	case object != family && !strings.HasPrefix(object, family+"_"):
		object = family + "_" + object
	}
	return object + "_event"
}

// stripePayload is an event whose data holds an object.
func stripePayload(envelope, object *schema.Schema, types []string) *schema.Schema {
	at := object.Position
	data := &schema.Schema{Position: at, Types: []schema.Kind{schema.Object}, Properties: []schema.Property{
		{Name: "object", Schema: object, Required: true},
		{Name: "previous_attributes", Schema: &schema.Schema{Position: at, Types: []schema.Kind{schema.Object}}},
	}}
	return &schema.Schema{
		Position: at, Types: []schema.Kind{schema.Object}, IsEvent: true, Events: types,
		AllOf:      []*schema.Schema{{Position: at, Ref: "#/components/schemas/event", Target: envelope}},
		Properties: []schema.Property{{Name: "data", Schema: data, Required: true}},
	}
}

// stripeType returns the event type that a definition is marked with, or nothing.
func stripeType(s *schema.Schema) string {
	for _, k := range s.Extensions {
		if k.Name == "x-stripeEvent" {
			if t := k.Value.Member("type"); t != nil {
				return t.Text
			}
		}
	}
	return ""
}
