"""All manifests of a project together: loaded, merged, resolved, and checked as a graph."""
