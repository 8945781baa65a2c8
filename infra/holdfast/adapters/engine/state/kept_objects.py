"""Objects that leave a stack and stay in the cluster: claims with data, and namespaces.

The engine strikes them out of its state and deletes nothing (`retainOnDelete`). It refuses to do so
while they are protected; an update lifts that for what it keeps, and for nothing else. What an
update has kept stands in its record, by uid, which no client of the cluster can choose.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.adapters.engine.state.checkpoint import Deployment
from holdfast.errors import InputError
from holdfast.kube.objects import Identity, ObjectRef

if TYPE_CHECKING:
    from holdfast.adapters.engine.stack import Stack

_WORDS_OF_AN_OBJECT = 4


@dataclass(frozen=True)
class KeptObject:
    """One object that leaves the stack and stays in the cluster.

    Attributes:
        urn: Its resource; empty of one that a record names.
        uid: Of the live object, as the state records it.
        is_protected: The engine refuses to strike it out.
    """

    reference: ObjectRef
    uid: str
    urn: str = ""
    is_protected: bool = False

    def __str__(self) -> str:
        return f"{self.reference} {self.reference.api_version} {self.uid}"


def current_state(stack: "Stack") -> Deployment | None:
    """The state of a stack: from the files of a folder, else by asking the engine; None without.

    Raises:
        EngineError: it cannot be read.
    """
    files = stack.files
    if files is None:
        return stack.export_if_there()
    return None if files.current_path() is None else files.current()


def kept_by_update(
    state: Deployment | None, declared: Collection[Identity], resources: Collection[tuple[str, str]]
) -> tuple[KeptObject, ...]:
    """The retained objects of a state that the files no longer declare.

    Args:
        state: What the last update left; None for a stack that has never been updated.
        declared: Objects that the files declare.
        resources: Kind and resource name of each of these.

    Raises:
        InputError: an object with data is declared in another place: the engine would leave the
            data where they are, and the agent would begin without them.
    """
    kept: list[KeptObject] = []
    for resource in state.resources if state else ():
        found = resource.kubernetes_object() if resource.retain_on_delete else None
        if found is None or found.reference.identity in declared:
            continue
        name = resource.urn.rpartition("::")[2]
        if (found.reference.kind, name) in resources:
            raise _moved(found.reference)
        kept.append(KeptObject(found.reference, found.uid, resource.urn, resource.protect))
    return tuple(kept)


def named_in(words: Iterable[str]) -> Iterator[KeptObject]:
    """The objects that a record names; what is no such text is left out."""
    for each in words:
        parts = each.split()
        if len(parts) == _WORDS_OF_AN_OBJECT:
            kind, name, api_version, uid = parts
            namespace, _, last = name.rpartition("/")
            yield KeptObject(ObjectRef(namespace, kind, last, api_version), uid)


def _moved(ref: ObjectRef) -> InputError:
    return InputError(
        f"{ref} cannot move to another namespace: a claim and its data stay where they are",
        remedy="remove the agent in one update, which keeps the claim, declare it in the other "
        "namespace in the next one, and restore a backup there; or leave the agent where it is",
    )
