"""Fleet to Kubernetes objects: pure, deterministic to the byte, one file a concern.

The waist of Holdfast: what deploys, checks, compares or exports uses these objects. No I/O,
no clock, no chance.
"""
