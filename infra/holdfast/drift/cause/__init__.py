"""Who changed what: owners, users, and one cause of many findings."""
