"""What the pack uses of pulumi-policy beyond its public interface, all in one place.

A test pins the range of versions that this was read in: 1.21.x.
"""

from pulumi_policy.policy import _GRPC_CHANNEL_OPTIONS as CHANNEL_OPTIONS
from pulumi_policy.policy import _PolicyAnalyzerServicer as AnalyzerServicer
from pulumi_policy.policy import (  # type: ignore[attr-defined]  # it exports no imports of its own
    analyzer_pb2_grpc,
    empty_pb2,
    proto,
)

__all__ = ["CHANNEL_OPTIONS", "AnalyzerServicer", "analyzer_pb2_grpc", "empty_pb2", "proto"]
