"""The policy pack, as `pulumi preview --policy-pack policy-pack` starts it."""

from pathlib import Path

from holdfast_policies.pack.server import serve

if __name__ == "__main__":
    serve(Path(__file__).resolve().parent)
