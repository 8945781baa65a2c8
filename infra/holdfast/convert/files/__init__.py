"""Rendered stacks as files for Kustomize, Helm, Argo CD, Flux and the Pulumi Kubernetes Operator.

Pure: objects in, files out; the caller writes them. What the tools make of these files are the
rendered objects again, field by field, but for marks that keep a tool from deleting data.
"""
