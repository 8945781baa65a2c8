"""`holdfast drift`: detection and remediation."""
