"""The loop inside a cluster: agents as resources are watched, judged, put back and applied."""
