"""Desired, baseline and live objects in, findings out. Pure: no network, no printing."""
