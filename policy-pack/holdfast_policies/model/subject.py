"""The object a rule judges, with its pod and containers found once for all rules."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from holdfast_policies.decode.unknown import (
    PartlyKnownDict,
    UndeterminedError,
    is_unknown,
    raw_items,
    unknown_path,
)
from holdfast_policies.model.bounds import (
    MOST_CONTAINERS,
    MOST_VALUES,
    MOST_VALUES_OF_SCHEMAS,
    size_fault,
)
from holdfast_policies.model.finding import Undecided
from holdfast_policies.model.kinds import DEFINITION, POD_TEMPLATE_PATHS, Kind, kind_of

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NO_ITEMS: list[Any] = []
_CONTAINER_FIELDS = ("initContainers", "containers", "ephemeralContainers")


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping; else an empty one, since what is malformed says nothing."""
    return value if isinstance(value, dict) else _NOTHING


def items(value: object) -> list[Any]:
    """The value if it is a list; else an empty one."""
    return value if isinstance(value, list) else _NO_ITEMS


def text(value: object) -> str:
    """The value if it is text; else an empty text."""
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """The value if it is a number; else None."""
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def field_path(path: str, *names: str) -> str:
    """Path of a field below a path, which may be empty."""
    return ".".join([path, *names] if path else names)


def key_path(path: str, key: str) -> str:
    """Path of a key of a map; keys with other than letters, digits, - and _ stand in brackets."""
    if key.replace("-", "").replace("_", "").isalnum():
        return field_path(path, key)
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def item_path(path: str, index: int, item: object, key: str = "name") -> str:
    """Path of a list item: by its key where it has one, else by its index."""
    try:
        value = item.get(key) if isinstance(item, dict) else None
    except UndeterminedError:
        value = None
    return f"{path}[{key}={value}]" if type(value) is str and value else f"{path}[{index}]"


@dataclass(frozen=True)
class Container:
    """One container of a pod.

    Attributes:
        value: The container as declared.
        path: Field path of it from the object's root.
        pod: The pod it belongs to.
        is_init: Whether it runs before the pod's main containers.
        is_ephemeral: Whether it was attached to a running pod for debugging.
    """

    value: Mapping[str, Any]
    path: str
    pod: "Pod"
    is_init: bool = False
    is_ephemeral: bool = False

    @property
    def security_context(self) -> Mapping[str, Any]:
        """The container's own security context, empty when it has none."""
        return mapping(self.value.get("securityContext"))

    @cached_property
    def variables(self) -> list[Mapping[str, Any]] | None:
        """Environment variables; None where one, or a part of one, is not known yet.

        What a rule finds in none of these need not be looked for part by part.
        """
        declared = dict.get(self.value, "env") if isinstance(self.value, dict) else None
        if type(declared) is not list:
            return [] if not is_unknown(declared) and not isinstance(declared, list) else None
        entries = [mapping(entry) for entry in declared]
        return None if any(type(entry) is PartlyKnownDict for entry in entries) else entries

    @cached_property
    def variable_names(self) -> frozenset[str] | None:
        """Names of the environment variables; None as for `variables`."""
        if self.variables is None:
            return None
        return frozenset(text(entry.get("name")) for entry in self.variables)

    def may_have_variable(self, names: Iterable[str]) -> bool:
        """Whether one of some variables is set, or may be: not all of them are known."""
        return self.variable_names is None or not self.variable_names.isdisjoint(names)


@dataclass(frozen=True)
class Pod:
    """The pod that an object is or makes.

    Attributes:
        metadata: Metadata of the pod.
        spec: Pod specification.
        path: Field path to what holds both; empty for a Pod itself.
        place: Field path of the specification, where it is not called `spec`.
    """

    metadata: Mapping[str, Any]
    spec: Mapping[str, Any]
    path: str
    place: str = ""

    @property
    def spec_path(self) -> str:
        """Field path of the pod specification."""
        return self.place.removeprefix(".") if self.place else field_path(self.path, "spec")

    @property
    def security_context(self) -> Mapping[str, Any]:
        """The pod's security context, empty when it has none."""
        return mapping(self.spec.get("securityContext"))

    @property
    def service_account(self) -> str:
        """ServiceAccount the pod runs as; the old field counts where the new one is unset."""
        named = self.spec.get("serviceAccountName") or self.spec.get("serviceAccount")
        return text(named) or "default"

    @property
    def is_windows(self) -> bool:
        """Whether the pod says that it runs on Windows."""
        return mapping(self.spec.get("os")).get("name") == "windows"

    @cached_property
    def containers(self) -> tuple[Container | Undecided, ...]:
        """All containers: init, main, ephemeral; what is not known yet stands as undecided."""
        return tuple(self._found_containers())

    def _found_containers(self) -> Iterator[Container | Undecided]:
        for name in _CONTAINER_FIELDS:
            path = field_path(self.spec_path, name)
            try:
                declared = items(self.spec.get(name))
            except UndeterminedError:
                yield Undecided(path)
                continue
            for index, value in enumerate(raw_items(declared)):
                if is_unknown(value):
                    yield Undecided(unknown_path(value) or f"{path}[{index}]")
                else:
                    yield Container(
                        value=mapping(value),
                        path=item_path(path, index, value),
                        pod=self,
                        is_init=name == "initContainers",
                        is_ephemeral=name == "ephemeralContainers",
                    )


@dataclass(frozen=True, slots=True)
class Options:
    """How a program treats an object, beyond what the object says.

    Attributes:
        is_protected: Whether deleting it is refused.
        ignored_changes: Field paths whose changes an update ignores.
    """

    is_protected: bool = False
    ignored_changes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Subject:
    """One object under judgement.

    Attributes:
        object: The object, decoded; may hold unknown values.
        kind: API group and kind.
        urn: Name of the resource in the engine; empty for a live object.
        options: How the program treats it; None for an object that is in no program.
        found_pod: One of the pods that were found in it, where its kind does not tell of any.
    """

    object: Mapping[str, Any]
    kind: Kind
    urn: str = field(default="")
    options: Options | None = None
    found_pod: Pod | None = None

    @classmethod
    def of(
        cls, kube_object: Mapping[str, Any], urn: str = "", options: Options | None = None
    ) -> "Subject":
        """Subject for a plain object that carries its apiVersion and kind."""
        return cls(kube_object, kind_of(kube_object), urn, options)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata, empty when the object has none."""
        return mapping(self.object.get("metadata"))

    @property
    def spec(self) -> Mapping[str, Any]:
        """Specification, empty when the object has none."""
        return mapping(self.object.get("spec"))

    @property
    def namespace(self) -> str:
        """Namespace, `default` when the object names none."""
        return text(self.metadata.get("namespace")) or "default"

    @property
    def name(self) -> str:
        """Name, empty when the object has none."""
        return text(self.metadata.get("name"))

    @property
    def label(self) -> str:
        """How people call the object: kind, namespace and name, as far as they are known."""
        try:
            namespace = text(self.metadata.get("namespace"))
            name = f"{namespace}/{self.name}" if namespace else self.name
        except UndeterminedError:
            name = ""
        return f"{self.kind.name or 'object'} {name}".rstrip()

    @cached_property
    def size_fault(self) -> str:
        """Why the object is too large to be judged; empty when it is not."""
        most = MOST_VALUES_OF_SCHEMAS if self.kind == DEFINITION else MOST_VALUES
        if found := size_fault(self.object, most):
            return found
        try:
            many = self.pod is not None and len(self.pod.containers) > MOST_CONTAINERS
        except UndeterminedError:
            many = False  # each rule says so itself
        return f"more than {MOST_CONTAINERS} containers" if many else ""

    @cached_property
    def pod(self) -> Pod | None:
        """The pod that the object is or makes; None when it makes none."""
        if self.found_pod is not None:
            return self.found_pod
        steps = POD_TEMPLATE_PATHS.get(self.kind)
        if steps is None:
            return None
        template = self.object
        for step in steps:
            template = mapping(template.get(step))
        return Pod(
            mapping(template.get("metadata")), mapping(template.get("spec")), ".".join(steps)
        )
