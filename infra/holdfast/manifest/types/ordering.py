"""What comes before what: cycles, and waves of what may start together."""

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def cycles(needs: Mapping[N, Collection[N]]) -> list[list[N]]:
    """Cycles: at least one of each knot of nodes that need one another, none without one.

    Each is given in the order of need, without its first node again at its end.

    Args:
        needs: Node to what it needs; what is no key itself needs nothing.
    """
    found: list[list[N]] = []
    is_done: set[N] = set()
    for start in needs:
        if start not in is_done:
            _walk(start, needs, is_done, found)
    return found


def _walk(
    start: N, needs: Mapping[N, Collection[N]], is_done: set[N], found: list[list[N]]
) -> None:
    """Depth first from a node, without recursion: chains may be longer than Python's stack."""
    path = [start]
    on_path = {start}
    waiting = [iter(needs[start])]
    while waiting:
        following = next(waiting[-1], None)
        if following is None:
            waiting.pop()
            on_path.discard(path[-1])
            is_done.add(path.pop())
        elif following in on_path:
            found.append(path[path.index(following) :])
        elif following in needs and following not in is_done:
            path.append(following)
            on_path.add(following)
            waiting.append(iter(needs[following]))


def waves(needs: Mapping[N, Collection[N]]) -> list[list[N]]:
    """Nodes in waves: each needs only nodes of earlier waves, and comes as early as it can.

    Law: nodes of one wave keep the order of the mapping; every key comes exactly once.

    Args:
        needs: Node to what it needs, without cycle; what is no key itself is taken to be there.

    Raises:
        ValueError: there is a cycle.
    """
    wave_of: dict[N, int] = {}
    remaining = list(needs)
    while remaining:
        ready = [
            node
            for node in remaining
            if all(each in wave_of or each not in needs for each in needs[node])
        ]
        if not ready:
            message = "there is a cycle"
            raise ValueError(message)
        number = max(wave_of.values(), default=-1) + 1
        wave_of |= dict.fromkeys(ready, number)
        remaining = [node for node in remaining if node not in wave_of]
    found: list[list[N]] = [[] for _ in range(max(wave_of.values(), default=-1) + 1)]
    for node in needs:
        found[wave_of[node]].append(node)
    return found
