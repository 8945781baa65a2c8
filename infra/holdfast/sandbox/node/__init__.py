"""One real node beside a sandbox's control plane, in namespaces of its own.

supervise    outside: starts the node, joins it to the API server, removes what it leaves
first        inside: the node's first process; makes mounts and network, starts its programs
agent        inside: enforces network policies, makes and removes the folders of volumes
"""
