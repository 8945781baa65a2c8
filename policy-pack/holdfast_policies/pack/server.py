"""Starts the service and tells the engine its port."""

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import grpc

from holdfast_policies.pack.sdk import CHANNEL_OPTIONS, analyzer_pb2_grpc
from holdfast_policies.pack.servicer import Servicer
from holdfast_policies.waivers import FILE, WaiverFileError, Waivers, read_waivers

_THREADS = 4


def serve() -> None:
    """Serve until the engine ends the process.

    The port must be the first line on standard output. It is flushed here: the engine waits for it
    for ever where output is buffered.
    """
    # The day is read here, once: rules know no clock.
    try:
        waivers = Waivers(read_waivers(FILE), datetime.now(UTC).date())
    except WaiverFileError as error:
        sys.exit(f"policy pack: {error}")
    servicer = Servicer(waivers)
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=CHANNEL_OPTIONS)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()
