// The Kubernetes resource provider, as released, with its schema embedded at build time.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// schema.json is taken from the provider's own module by toolchain/build.py and is never committed.
//
//go:embed schema.json
var schema []byte

func main() {
	provider.Serve("kubernetes", "4.27.0", schema, []byte("{}"))
}
