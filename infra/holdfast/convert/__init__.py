"""Objects to and from files of other tools: Helm, Kustomize, Argo CD, Flux, workloads."""
