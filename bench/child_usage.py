"""What one child process takes, whatever the measuring process has taken before.

Linux counts the memory of the process that starts a child as the child's own until the child has
loaded its program, and `ru_maxrss` keeps that peak: a benchmark of half a GiB that starts a command
of 65 MiB reads half a GiB. So a process of a few MiB starts the command and measures it.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LAUNCHER = """
import json, os, sys, time
started = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(json.dumps({
    "exit_code": os.waitstatus_to_exitcode(status),
    "seconds": time.monotonic() - started,
    "cpu_seconds": usage.ru_utime + usage.ru_stime,
    "peak_mib": usage.ru_maxrss / 1024,
}), file=sys.stderr)
"""


@dataclass(frozen=True)
class ChildUsage:
    """What one run of a command has taken.

    Attributes:
        exit_code: Its own; negative for the signal that ended it.
        seconds: From its start to its end.
        cpu_seconds: Of its processor time, in user and kernel mode.
        peak_mib: Most memory that was resident at once, its children not included.
    """

    exit_code: int
    seconds: float
    cpu_seconds: float
    peak_mib: float


def usage_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> ChildUsage:
    """Run a command to its end, its output thrown away, and measure it alone.

    Args:
        command: Program and arguments.
        environment: All of its variables; without, those of this process.
    """
    # Isolated and without packages: the launcher has to stay small.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return ChildUsage(**json.loads(done.stderr.splitlines()[-1]))
