"""Other HTTP services: Prometheus, webhooks, JSON documents."""
