"""When what the resources declare is rendered again: once they have been quiet for a moment."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from holdfast.adapters.cluster.api_error import fault_text
from holdfast.controllers.operator.agent_store import OWN_GROUP, AgentStore
from holdfast.controllers.operator.believed import (
    UPDATE_SECONDS,
    Believed,
    ResourceFilter,
    TrustedDeclaration,
    declaration_refs,
    read_stack_declaration,
)
from holdfast.controllers.operator.declaration import (
    Renderer,
    ResourceDeclaration,
    Settings,
    VerdictsFor,
    fingerprint_of,
    read_settings,
)
from holdfast.controllers.operator.informers import ALWAYS, InformerSet
from holdfast.controllers.runtime.log import Log
from holdfast.errors import ClusterError
from holdfast.kube.objects import Identity, KindKey, KubeObject, NamespacedName
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.render.objects.agent_resources import settings_name

SETTLING_SECONDS: Final = 0.3
"""Resources come in bursts: they are rendered when they have been quiet for so long."""

LONGEST_SETTLING_SECONDS: Final = 2.0
SETTLING_SHARE: Final = 4.0
"""A burst without an end is rendered every so often, and a large fleet not all the time."""

ASKED_AGAIN_SECONDS: Final = 2.0
"""After a failed discovery of a kind."""


@dataclass(frozen=True)
class _Burst:
    """Resources that changed: when the first of them did, and when the last."""

    began: float
    last: float

    def is_over(self, now: float, longest_seconds: float) -> bool:
        return now >= min(self.last + SETTLING_SECONDS, self.began + longest_seconds)


class DesiredStateCache:
    """Keeps what is declared up to date.

    Attributes:
        current: What is declared; None until everything was read.
        problem: Why it could not be read the last time; empty when it could.
    """

    def __init__(
        self,
        stack: str,
        store: AgentStore,
        following: InformerSet,
        verdicts_for: VerdictsFor,
        log: Log,
    ) -> None:
        self.current: ResourceDeclaration | None = None
        self.problem = ""
        self._settings_name = settings_name(stack)
        self._declaration_refs = declaration_refs(stack)
        self._filter = ResourceFilter()
        self._declared_digest, self._declared_until = "", float("inf")
        self._store, self._informers, self._log = store, following, log
        self._prints: dict[Identity, object] = {}
        self._burst: _Burst | None = None
        self._seconds = 0.0
        self._renderer = Renderer(
            stack,
            verdicts_for,
            lambda: following.types,
        )

    def is_source(self, identity: Identity) -> bool:
        """Whether an object declares something: a resource of ours, or the stack's settings.

        Whether it counts is another question: anybody may give an object these names.
        """
        group, kind, _, name = identity
        return group == OWN_GROUP or (kind == "ConfigMap" and name == self._settings_name)

    def has_changed(self, identity: Identity, live: Mapping[str, Any] | None) -> bool:
        """Whether a source declares something else than when it was last heard of.

        Args:
            identity: The source's.
            live: As it is now; None when it is gone.
        """
        fingerprint = None if live is None else fingerprint_of(live)
        if fingerprint == self._prints.get(identity):
            return False
        if fingerprint is None:
            del self._prints[identity]
        else:
            self._prints[identity] = fingerprint
        now = time.monotonic()
        self._burst = _Burst(now if self._burst is None else self._burst.began, now)
        return True

    def expire(self) -> None:
        """Render again although no source changed: the cluster serves other kinds now."""
        now = time.monotonic()
        self._burst = _Burst(now, now)

    def renew(self) -> list[NamespacedName]:
        """Render what the resources declare, when they have changed and stopped changing.

        Returns:
            Agents about which something else is declared than before.
        """
        if not self._is_due():
            return []
        started = time.monotonic()
        self._burst = None
        try:
            believed = self._filter.believed(self._stack_declaration(), self._resources())
            settings = read_settings(_settings_of(believed))
            until = self._update_until(believed.declaration)
            manifests = [each for each in believed.resources if each["kind"] in KINDS]
            declaration = self._renderer.declaration(settings, manifests, believed, until)
            self._informers.follow(_kinds_of(declaration))
        except Exception as error:
            # Whatever one resource does to the renderer, what was declared before goes on.
            self._stop_at(error)
            return []
        self.problem = ""
        before, self.current = self.current, declaration
        self._seconds = time.monotonic() - started
        self._report_altered(before, declaration)
        changed = _changed(before, declaration, self._store.agents())
        return list(dict.fromkeys([*changed, *declaration.altered]))

    def _report_altered(
        self, before: ResourceDeclaration | None, after: ResourceDeclaration
    ) -> None:
        known = before.believed if before is not None else None
        altered = sorted(after.believed.altered)
        if altered and (known is None or sorted(known.altered) != altered):
            self._log("declare", level="warning", altered=altered)
        strangers = sorted("/".join(place) for place in after.believed.strangers)
        if strangers and (known is None or known.strangers != after.believed.strangers):
            self._log("declare", level="warning", ignored=strangers)

    def _update_until(self, declaration: TrustedDeclaration) -> float:
        """When an update to this declaration counts as given up; monotonic."""
        if declaration.digest != self._declared_digest:
            self._declared_digest = declaration.digest
            self._declared_until = time.monotonic() + UPDATE_SECONDS
        return self._declared_until

    def _stop_at(self, error: Exception) -> None:
        if fault_text(error) != self.problem:
            self.problem = fault_text(error)
            self._log("declare", level="error", problem=self.problem)
        if isinstance(error, ClusterError):
            # Nothing that is declared is wrong: the cluster is asked again.
            later = time.monotonic() + ASKED_AGAIN_SECONDS
            self._burst = _Burst(later, later)

    def _is_due(self) -> bool:
        longest = max(LONGEST_SETTLING_SECONDS, SETTLING_SHARE * self._seconds)
        if self._burst is None or not self._burst.is_over(time.monotonic(), longest):
            return False
        return {kind for _, kind in ALWAYS} <= self._store.listed

    def _stack_declaration(self) -> TrustedDeclaration:
        known = self._store.objects
        return read_stack_declaration(self._declaration_refs, lambda ref: known.get(ref.identity))

    def _resources(self) -> list[KubeObject]:
        """Everything that may declare something, in any namespace."""
        config_maps = self._store.of_kind("", "ConfigMap")
        named = (one for one in config_maps if one["metadata"]["name"] == self._settings_name)
        own = (one for one in self._store.resources() if one["kind"] in KINDS)
        return [*own, *named]


def _settings_of(believed: Believed) -> KubeObject | None:
    return next((one for one in believed.resources if one["kind"] == "ConfigMap"), None)


def _kinds_of(declaration: ResourceDeclaration) -> set[KindKey]:
    return {
        (str(item.manifest["apiVersion"]), str(item.manifest["kind"]))
        for items in declaration.rendered.values()
        for item in items
    }


def _changed(
    before: ResourceDeclaration | None, after: ResourceDeclaration, places: list[NamespacedName]
) -> list[NamespacedName]:
    """The agents about which something else is declared than before."""
    if before is None or _but_commit(before.settings) != _but_commit(after.settings):
        return places
    return [
        place
        for place in places
        if before.rendered.get(place) != after.rendered.get(place)
        or before.unresolved.get(place) != after.unresolved.get(place)
        or before.resources.invalid.get(place) != after.resources.invalid.get(place)
    ]


def _but_commit(settings: Settings) -> Settings:
    """Settings as far as they change agents: a commit alone is no reason to reconcile."""
    return replace(settings, commit=str(bool(settings.commit)))
