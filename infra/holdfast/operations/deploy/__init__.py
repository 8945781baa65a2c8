"""Updates, promotions, rollbacks and recovery of a stack."""
