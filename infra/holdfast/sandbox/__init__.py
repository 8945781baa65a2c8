"""A real local control plane, started in seconds.

etcd, API server, controllers, scheduler and kwok, on the loopback address only.
"""
