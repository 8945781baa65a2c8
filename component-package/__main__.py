"""The component package, as Pulumi starts it for programs in YAML and TypeScript."""

import sys

from holdfast.components.package import serve

if __name__ == "__main__":
    serve(sys.argv[1:])
