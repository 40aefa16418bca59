// Package schemas has the JSON Schemas from which the event packages in its
// folders are generated: a folder for each provider, a file for each family of
// event types. The generator reads them for "restaqgen events -provider stripe"
// without -in; programs import the event packages instead.
package schemas

import "embed"

// Files are the schemas, as PROVIDER/FAMILY.json.
//
//go:embed */*.json
var Files embed.FS
