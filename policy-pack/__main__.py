"""The policy pack, as `pulumi preview --policy-pack policy-pack` starts it."""

from holdfast_policies.pack.server import serve

if __name__ == "__main__":
    serve()
