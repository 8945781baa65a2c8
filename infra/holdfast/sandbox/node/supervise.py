"""The outer process of a real node: starts it, serves its bridge, removes what it leaves.

    python -m holdfast.sandbox.node.supervise SETTINGS

The node's first process reads a pipe that this one holds: however this process ends, the node ends
itself and removes its control groups. When the node ends first, this process removes them.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from holdfast.sandbox.node.bridge import Bridge, Networks
from holdfast.sandbox.node.cgroups import remove_cgroups
from holdfast.sandbox.node.requirements import system_program
from holdfast.sandbox.node.settings import (
    FIRST_MARK,
    NODE_ADDRESS,
    NodeSettings,
    read_settings,
)
from holdfast.sandbox.paths import LOOPBACK
from holdfast.sandbox.record import TOKEN_VARIABLE

END_SECONDS = 10.0
NAMESPACES = (
    "--mount",
    "--propagation=private",
    "--net",
    "--pid",
    "--uts",
    "--ipc",
    "--fork",
    "--kill-child",
    "--mount-proc",
)


async def supervise(file: Path) -> int:
    """Run the node until it ends or this process is asked to; its exit code."""
    settings = read_settings(file)
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    node = await asyncio.create_subprocess_exec(
        str(system_program("unshare")),
        *NAMESPACES,
        sys.executable,
        "-m",
        "holdfast.sandbox.node.first",
        str(file),
        stdin=PIPE,
        stdout=PIPE,
        # Found under this mark by `down`, should it outlive this process.
        env=os.environ | {TOKEN_VARIABLE: f"{os.environ.get(TOKEN_VARIABLE, '')}{FIRST_MARK}"},
    )
    try:
        await _run(node, settings, asked)
    finally:
        await _end(node)
        remove_cgroups(settings.cgroup)
        settings.place.node_socket.unlink(missing_ok=True)
    return 0 if asked.is_set() else node.returncode or 1


async def _run(node: Process, settings: NodeSettings, asked: asyncio.Event) -> None:
    ended = asyncio.create_task(node.wait())
    asked_to_end = asyncio.create_task(asked.wait())
    made = asyncio.create_task(_network_of(node))
    await asyncio.wait({ended, asked_to_end, made}, return_when=asyncio.FIRST_COMPLETED)
    if made.done() and (pid := made.result()):
        bridge = Bridge(Networks(pid), LOOPBACK, settings.api_port)
        # Relative, as the API server names it: the path of a socket has 107 bytes.
        os.chdir(settings.directory)
        await bridge.serve((LOOPBACK, NODE_ADDRESS), Path(settings.place.node_socket.name))
    await asyncio.wait({ended, asked_to_end}, return_when=asyncio.FIRST_COMPLETED)
    for task in (made, asked_to_end):
        task.cancel()


async def _network_of(node: Process) -> int:
    """A process of the node, once the node says that its network is there; 0 when it has ended."""
    if node.stdout is None or not await node.stdout.readline():
        return 0
    return first_process(node.pid)


def first_process(unshare: int) -> int:
    """The node's first process as the host numbers it: the only child of `unshare`.

    Raises:
        OSError: `unshare` has ended.
    """
    children = Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()
    return int(children[0]) if children else 0


async def _end(node: Process) -> None:
    if node.stdin is not None:
        node.stdin.close()
    try:
        async with asyncio.timeout(END_SECONDS):
            await node.wait()
    except TimeoutError:
        # Its first process goes with it, and with that everything in the node.
        os.kill(node.pid, signal.SIGKILL)
        await node.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(supervise(Path(sys.argv[1]))))
