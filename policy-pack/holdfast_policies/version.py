"""The version of the pack, as the engine, the cluster and the reports tell it."""

PACK_NAME = "holdfast"
PACK_VERSION = "0.1.0"
