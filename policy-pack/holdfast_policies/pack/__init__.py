"""The pack as the engine sees it; the only room that knows pulumi-policy and gRPC."""
