"""Objects that others wrote, as manifests. Pure: no I/O, no clock.

What a manifest says is taken out of the object; what is left in the end is what could not be
carried, and is reported by path. Nothing can be lost in silence that way.
"""
