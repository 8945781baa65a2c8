"""What is done about findings: revert, adopt, ignore."""
