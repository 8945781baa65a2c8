"""Starts the service and tells the engine its port."""

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import grpc

from holdfast_policies.evaluation.waivers import FILE_NAME, WaiverFileError, Waivers, read_waivers
from holdfast_policies.own.loading import rules_with
from holdfast_policies.own.source import OwnRuleError, read_rule_files
from holdfast_policies.pack.refusal import RefusingServicer
from holdfast_policies.pack.sdk import CHANNEL_OPTIONS, AnalyzerServicer, analyzer_pb2_grpc
from holdfast_policies.pack.servicer import Servicer

_THREADS = 4


def serve(folder: Path) -> None:
    """Serve the rules of the pack, and own ones, until the engine ends the process.

    Args:
        folder: The pack's own, with the compiled waivers and own rules of a repository.

    The port must be the first line on standard output. It is flushed here: the engine waits for it
    for ever where output is buffered.
    """
    # The day is read here, once: rules know no clock.
    servicer: AnalyzerServicer
    try:
        waivers = Waivers(read_waivers(folder / FILE_NAME), datetime.now(UTC).date())
        rules = rules_with(read_rule_files(folder))
    except (WaiverFileError, OwnRuleError) as error:
        # A rule or waiver that is left out would be a pass: nothing is evaluated at all.
        servicer = RefusingServicer(str(error))
    else:
        servicer = Servicer(waivers, rules)
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=CHANNEL_OPTIONS)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()
