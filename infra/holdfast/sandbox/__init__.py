"""A real local control plane, started in seconds: etcd, API server, controllers, scheduler, kwok.

Everything listens on the loopback address and trusts a certificate authority of its own. No process
is ever signalled that this room did not start, and nothing is left running by an interrupted start.
Never here: the Kubernetes client, YAML, Pulumi. `place` is light enough for every command's start.
"""
