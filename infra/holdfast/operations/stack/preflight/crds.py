"""Whether a stack's cluster knows every kind that its agents need, asked before anything is sent.

An object of an unknown kind fails in the middle of an update, in words that name neither the agent
nor what to install.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import KindKey, api_group
from holdfast.kube.structure import builtin_kind
from holdfast.manifest.stack.controllers import CONTROLLERS, ControllerName
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.render.plan.metadata import RenderedObject
from holdfast.sandbox.paths import CONTEXT_PREFIX, DEFAULT_NAME

CrdOwner = ControllerName | Literal["holdfast"]
"""Whose definitions are missing: a controller's, or Holdfast's own."""


@dataclass(frozen=True)
class MissingCrd:
    """A kind that agents need and the cluster does not serve.

    Attributes:
        agents: Names of the agents, sorted.
        controller: Whose kind it is, where Holdfast knows it.
    """

    api_version: str
    kind: str
    agents: tuple[str, ...]
    controller: CrdOwner | None

    @property
    def what(self) -> str:
        """The kind, and whose it is."""
        whose = f" of {_title_of(self.controller)}" if self.controller else ""
        return f"{self.api_version} {self.kind}{whose}"

    def __str__(self) -> str:
        agents = [name for name in self.agents if name]
        who = f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"
        return f"{self.what}, needed by {who if agents else 'the stack'}"


def missing_crds(
    rendered: Sequence[RenderedObject], kubeconfig: Path | None, context: str | None
) -> tuple[MissingCrd, ...]:
    """Kinds that are rendered but not served; nothing is asked when all are Kubernetes' own.

    Args:
        rendered: Every object of a stack.
        kubeconfig: Default: as kubectl finds it.
        context: Default: the current one.

    Raises:
        UnreachableError: the cluster does not answer.
        ClusterError: it does not say what it serves.
        InputError: there is no such context.
    """
    needed: dict[KindKey, set[str]] = {}
    brought = {key for item in rendered for key in _defined_by(item)}
    for item in rendered:
        key = item.manifest["apiVersion"], item.manifest["kind"]
        if builtin_kind(*key) is None and key not in brought:
            needed.setdefault(key, set()).add(item.agent)
    if not needed:
        return ()
    served = served_kinds(ApiClient(connection_of(kubeconfig, context)), sorted(needed))
    return tuple(
        MissingCrd(*key, tuple(sorted(agents)), _controller_of(key[0]))
        for key, agents in sorted(needed.items())
        if key not in served
    )


def _defined_by(item: RenderedObject) -> Iterator[KindKey]:
    """Kinds that a stack brings by itself."""
    if item.manifest["kind"] == "CustomResourceDefinition":
        spec = item.manifest["spec"]
        for version in spec["versions"]:
            yield f"{spec['group']}/{version['name']}", spec["names"]["kind"]


def require_crds(
    rendered: Sequence[RenderedObject], kubeconfig: Path | None, context: str | None
) -> str:
    """Refuse to go on with a cluster that lacks kinds which agents need.

    Returns:
        Why it could not be found out; empty when every kind is known.

    Raises:
        ClusterError: names every kind, the agents that need it, and what to install.
    """
    try:
        missing = missing_crds(rendered, kubeconfig, context)
    except (ClusterError, InputError) as error:
        return f"not checked whether the cluster knows every kind: {error}"
    if missing:
        where = f"cluster {context!r}" if context else "the current cluster"
        lines = "".join(f"\n  {each}" for each in missing)
        raise ClusterError(
            f"{where} does not know {len(missing)} of the kinds that are declared:{lines}\n",
            remedy=remedy_for([each.controller for each in missing], context),
        )
    return ""


def remedy_for(controllers: Sequence[CrdOwner | None], context: str | None) -> str:
    """What to run or install, so that the cluster knows what these controllers define."""
    names = sorted({name for name in controllers if name is not None})
    if not names:
        return "install what defines them"
    if context and context.startswith(CONTEXT_PREFIX):
        name = context.removeprefix(CONTEXT_PREFIX)
        option = "" if name == DEFAULT_NAME else f" --name {name}"
        return f"run 'holdfast sandbox up{option} --with {','.join(names)}'"
    others = [CONTROLLERS[name] for name in names if name != "holdfast"]
    remedies = [f"install {', '.join(f'{each.title} ({each.home})' for each in others)}"]
    remedies = remedies if others else []
    if "holdfast" in names:
        option = f" --context {context}" if context else ""
        remedies.append(f"run 'holdfast operator install{option}'")
    return ", and ".join(remedies)


def _title_of(definer: CrdOwner) -> str:
    return "Holdfast" if definer == "holdfast" else CONTROLLERS[definer].title


def _controller_of(api_version: str) -> CrdOwner | None:
    group = api_group(api_version)
    if group == api_group(API_VERSION):
        return "holdfast"
    return next((name for name, each in CONTROLLERS.items() if group in each.groups), None)
