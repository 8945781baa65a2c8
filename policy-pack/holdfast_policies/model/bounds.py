"""What bounds a judgement: how much of an object is read, and how long one rule may take.

An object in a cluster may hold 1.5 MB, and who writes it chooses what stands there. What is beyond
a bound is never judged in part and passed: it is a violation, "too long to be judged".
"""

import threading
import time
from collections.abc import Iterable
from typing import Any, Final

from holdfast_policies.decode.unknown import PartlyKnownDict, PartlyKnownList

MOST_VALUES: Final = 20_000
"""Values of one object, its mappings and lists among them."""
MOST_VALUES_OF_SCHEMAS: Final = 1_000_000
"""The same for a CustomResourceDefinition: schemas are long, and hardly a rule reads them."""
MOST_CONTAINERS: Final = 250
"""Containers of one pod: every rule about containers judges each."""
DEEPEST: Final = 200
"""Nesting of one object; Kubernetes' own kinds stay below 30."""
LONGEST_COMMAND: Final = 16_384
"""Characters of a command with its arguments."""
LONGEST_VALUE: Final = 32_768
"""Characters of one variable, argument, label or annotation."""
RULE_SECONDS: Final = 2.0
"""Time of one rule over one object."""
STACK_RULE_SECONDS: Final = 60.0
"""Time of one rule over all objects of a stack."""
MOST_FINDINGS: Final = 1_000
"""Findings of one rule in one object; more of them say nothing new."""

_MAPPINGS = (dict, PartlyKnownDict)
_LISTS = (list, PartlyKnownList)
_LEAVES = frozenset({str, int, float, bool, type(None)})
_BETWEEN = 64
_running = threading.local()


class TooLongError(Exception):
    """Something cannot be judged within its bound; the text says what, and shows no value."""

    description = "An object is too long to be judged"
    remedy = "make it smaller, or split it"


class UnreadableError(TooLongError):
    """What rules read of an object is not what it has to be, such as JSON."""

    description = "An object cannot be judged: what stands in it cannot be read"
    remedy = "write it so that it can be read"


def size_fault(value: object, most_values: int = MOST_VALUES) -> str:
    """Why an object is too large to be judged; empty when it is not.

    Args:
        value: The object, decoded; unknown values are left alone.
        most_values: How many values it may hold.
    """
    count = depth = 0
    level: list[Any] = [value]
    while level:
        depth += 1
        if depth > DEEPEST:
            return f"nested more than {DEEPEST} levels deep"
        below: list[Any] = []
        for one in level:
            kind = type(one)
            if kind in _MAPPINGS:
                values: Iterable[Any] = dict.values(one)
            elif kind in _LISTS:
                values = list.__iter__(one)
            else:
                continue
            count += len(one)
            if count > most_values:
                return f"more than {most_values:,} values"
            below += [value for value in values if type(value) not in _LEAVES]
        level = below
    return ""


class time_limit:  # noqa: N801  # a context manager, named as a function
    """Give what runs inside, in this thread, a limit of time; `in_bounds` ends it.

    A class and no generator: it is entered for every rule, and costs a quarter so.
    """

    __slots__ = ("_before", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._before: float | None = getattr(_running, "until", None)
        _running.until = time.perf_counter() + self._seconds

    def __exit__(self, *_: object) -> None:
        _running.until = self._before


def in_bounds(done: int) -> None:
    """Called between the parts of an object that a rule goes over.

    Args:
        done: How many parts have been judged; the clock is read at some of them.

    Raises:
        TooLongError: the time of the rule is over.
    """
    if done % _BETWEEN or done == 0:
        return
    until = getattr(_running, "until", None)
    if until is not None and time.perf_counter() > until:
        raise TooLongError("more time than a rule may take")
