import socket
import subprocess
import sys

PROGRAM = """
import sys, time
from holdfast.components import package
package.POLL_SECONDS = 0.05
package.end_with_engine(sys.argv[1])
print("watching", flush=True)
time.sleep(60)
"""


def test_the_process_ends_when_the_engine_has_gone() -> None:
    engine = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{engine.getsockname()[1]}"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, address], stdout=subprocess.PIPE, text=True
    ) as watched:
        assert watched.stdout is not None
        assert watched.stdout.readline() == "watching\n"
        assert watched.poll() is None
        engine.close()
        assert watched.wait(timeout=30) < 0
