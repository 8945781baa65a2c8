"""Which kinds a watch follows: what is declared, what may stand beside it, and autoscalers."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from holdfast.adapters.cluster.changes import WatchedKind
from holdfast.adapters.cluster.kind_reader import METADATA_ONLY, ListOptions
from holdfast.adapters.cluster.listing import WATCHED_KINDS
from holdfast.kube.objects import KindKey, ObjectRef
from holdfast.kube.structure import KindEntry, builtin_kind

AUTOSCALERS: Final = ("autoscaling/v2", "HorizontalPodAutoscaler")


def declared_kinds(
    refs: Iterable[ObjectRef], kinds: Mapping[KindKey, KindEntry]
) -> tuple[WatchedKind, ...]:
    """The kinds of what is declared.

    Args:
        refs: Everything declared, with namespaces filled in.
        kinds: What is served.
    """
    by_kind: dict[KindKey, list[ObjectRef]] = {}
    for ref in refs:
        by_kind.setdefault((ref.api_version, ref.kind), []).append(ref)
    return tuple(
        WatchedKind(kinds.get(key), tuple(sorted(wanted)), _question(kinds.get(key), wanted))
        for key, wanted in by_kind.items()
    )


def _question(entry: KindEntry | None, refs: list[ObjectRef]) -> ListOptions:
    is_one_in_cluster = entry is not None and not entry.is_namespaced and len(refs) == 1
    return ListOptions(name=refs[0].name if is_one_in_cluster else "")


def kinds_beside(
    declared: Collection[KindKey], namespaces: Collection[str], selector: str
) -> tuple[WatchedKind, ...]:
    """Kinds of which nothing is declared, and which run, are reachable or grant rights.

    Args:
        declared: apiVersion and kind of what is watched anyway.
        namespaces: Where to look.
        selector: Label selector; empty for all objects.
    """
    question = ListOptions(METADATA_ONLY, selector)
    return tuple(
        WatchedKind(builtin_kind(*key), _anything(key, namespaces), question, is_declared=False)
        for key in WATCHED_KINDS
        if key not in declared and namespaces
    )


def autoscalers_beside(refs: Collection[ObjectRef]) -> tuple[WatchedKind, ...]:
    """Autoscalers, wherever something is declared but no autoscaler: somebody may have made one."""
    watched = {ref.namespace for ref in refs if (ref.api_version, ref.kind) == AUTOSCALERS}
    namespaces = {ref.namespace for ref in refs} - {""} - watched
    if not namespaces:
        return ()
    entry = builtin_kind(*AUTOSCALERS)
    return (WatchedKind(entry, _anything(AUTOSCALERS, namespaces), is_declared=False),)


def _anything(key: KindKey, namespaces: Collection[str]) -> tuple[ObjectRef, ...]:
    one = ObjectRef("", key[1], "", key[0])
    return tuple(replace(one, namespace=namespace) for namespace in sorted(namespaces))
