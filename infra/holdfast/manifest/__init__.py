"""YAML in, validated frozen models with file and line out; the JSON Schema of the manifests.

The only room that reads YAML. Knows nothing of rendering, Pulumi or the network.
"""
