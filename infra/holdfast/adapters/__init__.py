"""Outside systems, one room each: cluster, engine, Git, code hosts, tool servers, files."""
