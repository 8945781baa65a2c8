"""What editors and clusters need to check manifests: JSON Schema, reference, CRDs."""
