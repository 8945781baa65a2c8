"""What would undo a finding, planned before anything is written."""
