"""`holdfast sandbox`: a local control plane."""
