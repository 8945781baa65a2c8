"""Starts the service and tells the engine its port."""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

from holdfast_policies.pack.sdk import CHANNEL_OPTIONS, analyzer_pb2_grpc
from holdfast_policies.pack.servicer import Servicer

_THREADS = 4


def serve() -> None:
    """Serve until the engine ends the process.

    The port must be the first line on standard output. It is flushed here: the engine waits for it
    for ever where output is buffered.
    """
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=CHANNEL_OPTIONS)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()
