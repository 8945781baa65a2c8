"""Every verb of `holdfast` and every verb below one, in one table; each is loaded when called.

Start-up is the larger part of a short command's time: `--help` lists verbs from the table, and
loads none of them.
"""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import click


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        text: Its one-line help.
        place: Module below `holdfast.cli`, and after a colon the command in it; `command` without.
        below: Its own verbs.
    """

    text: str
    place: str
    below: Mapping[str, "Verb"] = field(default_factory=dict)

    def load(self) -> click.Command:
        """The command, which loads its module."""
        module, _, name = self.place.partition(":")
        found = getattr(importlib.import_module(f"holdfast.cli.{module}"), name or "command")
        assert isinstance(found, click.Command)  # noqa: S101  (the table says so)
        return found


_AGENT: Final = {
    "describe": Verb("how it runs, who may call it, what it may reach", "agent.describe"),
    "import": Verb("convert existing workloads to manifests", "agent.import_workloads"),
    "restart": Verb("replace the pods, as `kubectl rollout restart` does", "agent.restart"),
    "evacuate": Verb("move off nodes that are cordoned, not ready or gone", "agent.evacuate"),
    "recreate": Verb("delete its workload, and create it again as declared", "agent.recreate"),
    "backup": Verb("back up its volumes now", "agent.backup"),
    "restore": Verb("list its backups, or fill its volumes from one", "agent.restore"),
    "set": Verb("set fields in the stack's file, such as replicas", "agent.set_fields"),
}

_DRIFT: Final = {
    "plan": Verb("print what `revert` would do", "drift.revert:plan"),
    "revert": Verb("revert drift, after confirmation", "drift.revert:revert"),
    "adopt": Verb("print the change of the files that declares live state", "drift.adopt"),
    "ignore": Verb("write a rule that ignores a finding until a day", "drift.ignore"),
    "watch": Verb("report drift as it comes and goes", "drift.watch"),
    "owners": Verb("print which field manager owns which fields", "drift.owners"),
    "convert": Verb("convert a saved report to another format", "drift.convert"),
    "rbac": Verb("print the least rights that a scan needs", "drift.rbac"),
}

_GITOPS: Final = {
    "run": Verb("reconcile a stack with a Git branch until stopped", "gitops.run"),
    "suspend": Verb("suspend reconciliation of a stack", "gitops.suspend"),
    "resume": Verb("resume reconciliation, and reset conflicts", "gitops.resume"),
}

_OPERATOR: Final = {
    "run": Verb("reconcile the agents of a stack until stopped", "operator.run"),
    "install": Verb("apply the kinds and an operator, or print them", "operator.install"),
    "handover": Verb("move objects from Pulumi to the operator", "operator.handover"),
}

_MCP: Final = {
    "lock": Verb("write the servers' tools to agents/tools.lock", "mcp.verbs:lock"),
    "check": Verb("compare the servers' tools with agents/tools.lock", "mcp.verbs:check"),
}

_POLICY: Final = {
    "check": Verb("evaluate declared, written, recorded or live objects", "policy.check"),
    "list": Verb("print every rule with its level and severity", "policy.list"),
    "export": Verb("write the rules as admission policies", "policy.export"),
    "new": Verb("write the files of an own rule", "policy.new"),
}

_CI: Final = {
    "comment": Verb("keep one comment on a pull or merge request", "ci.texts:report_comment"),
    "issue": Verb("keep one issue open while a check fails", "ci.texts:report_issue"),
    "gate": Verb("check a stack's gates, then run a command", "ci.gate"),
}

_SANDBOX_IMAGES: Final = {
    "build": Verb("build a small agent from programs of this machine", "sandbox.images_build"),
}

_SANDBOX: Final = {
    "up": Verb("start a sandbox, or repair it", "sandbox.up"),
    "down": Verb("stop a sandbox and delete its cluster", "sandbox.down"),
    "status": Verb("show whether a sandbox is ready", "sandbox.status"),
    "list": Verb("list all sandboxes", "sandbox.list"),
    "logs": Verb("print the log of a program, or of all of them", "sandbox.logs"),
    "kubeconfig": Verb("print the path of a kubeconfig", "sandbox.kubeconfig"),
    "load": Verb("load an image into the real node", "sandbox.load"),
    "images": Verb("build an image for the real node", "groups:sandbox_images", _SANDBOX_IMAGES),
}

TASKS: Final[Mapping[str, Mapping[str, Verb]]] = {
    "Write and check": {
        "init": Verb("write a repository of your own", "init"),
        "validate": Verb("check manifests and settings; needs no cluster", "validate"),
        "explain": Verb("explain a field, a kind or a policy rule", "explain"),
        "render": Verb("print Kubernetes objects, or the dependency graph", "render"),
        "diff": Verb("compare two stacks", "diff"),
        "preview": Verb("show what an update would change, and the policy results", "preview"),
        "policy": Verb("evaluate, list, export and write policy rules", "groups:policy", _POLICY),
        "mcp": Verb("review the tools of MCP servers, and detect changes", "groups:mcp", _MCP),
    },
    "Deploy and operate": {
        "up": Verb("deploy the checked-out commit to a stack", "up"),
        "promote": Verb("deploy the commit of one stack to another, past its gates", "promote"),
        "rollback": Verb("deploy an earlier commit, and verify it", "rollback"),
        "recover": Verb("rebuild lost Pulumi state from manifests and cluster", "recover"),
        "status": Verb("print sync, health and drift of every agent", "status"),
        "history": Verb("print updates, scans and gates of a stack", "history"),
        "agent": Verb(
            "describe, restart, evacuate, set, restore one agent", "groups:agent", _AGENT
        ),
    },
    "Detect and remediate drift": {
        "drift": Verb("compare the cluster with the declared state", "drift.detect", _DRIFT),
        "gitops": Verb("reconcile a stack with a Git branch", "groups:gitops", _GITOPS),
        "operator": Verb("run agents as resources of a cluster", "groups:operator", _OPERATOR),
    },
    "Integrate": {
        "ci": Verb("keep comments, issues and gates of a pipeline", "groups:ci", _CI),
        "sandbox": Verb("run a local Kubernetes control plane", "groups:sandbox", _SANDBOX),
        "env": Verb("print the environment for a plain `pulumi`", "env"),
        "completion": Verb("print the completion script of a shell", "completion"),
    },
}
"""What a person wants to do, to the verbs for it."""

VERBS: Final[Mapping[str, Verb]] = {
    name: verb for verbs in TASKS.values() for name, verb in verbs.items()
}
"""Every verb by name."""

MOVED: Final[Mapping[str, str]] = {
    "agent fail-over": "agent set AGENT scaling.availability.active=primary|standby",
    "agent reconfigure": "agent set AGENT FIELD=VALUE",
    "agent reschedule": "agent evacuate",
    "agent scale": "agent set AGENT scaling.replicas=N",
    "agent describe --live": "agent describe --cluster",
    "ci gates": "history STACK --gates",
    "diff --live": "diff --source live",
    "drift history": "history STACK --scans",
    "drift --act": "drift revert --by-mode",
    "drift --adopt": "drift adopt",
    "drift --ignore": "drift ignore",
    "drift --plan": "drift plan",
    "drift --revert": "drift revert",
    "drift --watch": "drift watch",
    "explain --compare": "diff --source files",
    "graph": "render -o mermaid",
    "history --object": "history --commit-of",
    "import": "agent import",
    "operator manifests": "operator install --export",
    "operator migrate": "operator handover",
    "pause": "gitops suspend",
    "operator run --address": "operator run --listen",
    "policy check --live": "policy check --cluster",
    "policy lint": "validate",
    "policy report": "preview",
    "policy waivers": "validate --write-waivers",
    "rbac": "drift rbac",
    "reconcile": "gitops run",
    "report": "status -o html",
    "resume": "gitops resume",
    "schema": "explain -o schema",
    "tools": "mcp",
}
"""Earlier spellings of verbs, and of options that are verbs now; for the error that names those."""


def all_verbs() -> Iterator[tuple[tuple[str, ...], Verb]]:
    """Every verb with the words that call it, those below others included."""
    for name, verb in VERBS.items():
        yield (name,), verb
        for below, part in verb.below.items():
            yield (name, below), part
