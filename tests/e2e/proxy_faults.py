"""What a faulty proxy does to the requests that a test chooses: what networks and servers do."""

import gzip
import time
from collections.abc import Callable

from tests.e2e.faulty_proxy import Fault, Handler, Request, pass_on


def status(code: int, **headers: str) -> Fault:
    """The server refuses, in its own words."""
    body = b'{"kind":"Status","status":"Failure","message":"injected","code":%d}' % code
    return lambda handler, _: handler.answer(body, code, **headers)


def hang_up(handler: Handler, _: Request) -> None:
    """The connection is closed without an answer: the server is down."""
    handler.hang_up()


def reset_in_the_middle(handler: Handler, _: Request) -> None:
    """Half an answer, then a reset."""
    body = handler.upstream_body()
    handler.answer(body[: len(body) // 2], Content_Length=str(len(body)))
    handler.wfile.flush()
    time.sleep(0.05)
    handler.hang_up(is_reset=True)


def short_body(handler: Handler, _: Request) -> None:
    """Half an answer, then an orderly end."""
    body = handler.upstream_body()
    handler.answer(body[: len(body) // 2], Content_Length=str(len(body)))
    handler.hang_up()


def bad_gzip(handler: Handler, _: Request) -> None:
    """An answer that says it is compressed, and breaks off inside."""
    body = gzip.compress(handler.upstream_body())
    handler.answer(body[: len(body) // 2] + b"junk", Content_Encoding="gzip")


def bad_json(handler: Handler, _: Request) -> None:
    """An answer whose length is right and whose text is cut."""
    body = handler.upstream_body()
    handler.answer(body[: len(body) // 2])


def trickle(handler: Handler, _: Request) -> None:
    """A byte now and then: every single read is in time."""
    body = handler.upstream_body()
    handler.answer(b"", Content_Length=str(len(body)))
    for byte in body:
        time.sleep(0.2)
        handler.wfile.write(bytes([byte]))


def stall(handler: Handler, _: Request) -> None:
    """No answer at all, and the connection stays open."""
    handler.proxy.is_ending.wait()


def late(seconds: float) -> Fault:
    """An answer that comes after a while."""

    def run(handler: Handler, request: Request) -> None:
        handler.proxy.is_ending.wait(seconds)
        pass_on(handler, request)

    return run


def lost_answer(handler: Handler, _: Request) -> None:
    """The server does what it is asked, and nobody hears of it."""
    handler.upstream_body()
    handler.hang_up(is_reset=True)


def silence(handler: Handler, _: Request) -> None:
    """A watch whose connection stays open while nothing arrives: half-open."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.flush()
    handler.proxy.is_ending.wait()


def expired_event(handler: Handler, _: Request) -> None:
    """A watch whose first event says that its version has expired."""
    handler.answer(
        b'{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired",'
        b'"message":"too old resource version: 1 (2)","code":410}}\n'
    )


def after(work: Callable[[], object]) -> Fault:
    """Let something happen just before a request is passed on."""

    def run(handler: Handler, request: Request) -> None:
        work()
        pass_on(handler, request)

    return run
