"""What rules know: of Kubernetes, of credentials, commands, destinations and rights."""
