"""The sandbox's own image: built from programs of this machine, without registry or engine."""
