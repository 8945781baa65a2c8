"""The cases of the taxonomy on a real API server: deployed, disturbed, and scanned at once."""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.kube.objects import KubeObject

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.e2e.taxonomy.case import ADMIN, Case, Write
from tests.e2e.taxonomy.cluster_parts import ADMISSION, DEFINED, DEFINITION, definition
from tests.e2e.taxonomy.hands import Hands, path_of_object, path_to

LONGEST_WAIT_SECONDS = 120.0
QUIET_SECONDS = 3.0
IGNORED = {
    "ignore": [
        {
            "target": {"kind": kind, "name": f"{row}-*", "namespace": "*"},
            "managers": [manager],
            "reason": "it is meant to do that",
            "owner": "platform",
            "expires": "2999-12-31",
        }
        for kind, row, manager in (
            ("Deployment", "r14", "mesh-injector"),
            ("Secret", "r46", "external-secrets"),
        )
    ]
}
_STUCK_ROW = 33
_ADMISSION_ROW = 76
_REFUSED = {"r58-claim-enlarged", "r62-budget-swapped"}
"""A claim cannot shrink; a budget cannot have both bounds."""


def wait_until(is_done: Callable[[], bool], what: str) -> None:
    """Wait as long as a busy machine may need."""
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while not is_done():
        assert time.monotonic() < deadline, f"never came to pass: {what}"
        time.sleep(0.2)


@dataclass(frozen=True)
class Replay:
    """All cases in one namespace.

    Attributes:
        folder: Where the declaration, the baseline and the rules are written.
    """

    sandbox: LiveSandbox
    namespace: str
    cases: tuple[Case, ...]
    folder: Path

    def run(self) -> None:
        """Deploy everything, keep the baseline, let everybody do what they do."""
        self._prepare_cluster()
        objects = list(self._declared())
        for one in objects:
            self._apply(one)
        self._settle(objects)
        self._keep("desired/all.json", objects)
        self._keep("baseline.json", [self._hands.read(path_of_object(one)) for one in objects])
        (self.folder / "ignore.yaml").write_text(json.dumps(IGNORED))
        for case in self.cases:
            for write in case.writes:
                self._do(case, write)
        for case in self.cases:
            self._prove(case)
        self._settle(objects)

    def scan(self, user: str = ADMIN) -> tuple[int, dict[str, Any]]:
        """Exit code and report of one scan of the namespace."""
        done = run_holdfast(
            *("drift", "--desired", str(self.folder / "desired"), "-o", "json"),
            *("--kubeconfig", str(self.sandbox.kubeconfig(user))),
            *("--baseline", str(self.folder / "baseline.json")),
            *("--audit-log", str(self.sandbox.audit_log)),
            *("--ignore-file", str(self.folder / "ignore.yaml")),
        )
        assert done.stdout, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, report

    def owners(self) -> dict[str, set[str]]:
        """Name of each declared object to the managers that `holdfast drift owners` names."""
        done = run_holdfast(
            *("drift", "owners", "--desired", str(self.folder / "desired"), "-o", "json"),
            *("--kubeconfig", str(self.sandbox.kubeconfig())),
        )
        assert done.stdout, done.stderr
        return {
            each["name"]: {owner["manager"] for owner in each["owners"]}
            for each in json.loads(done.stdout)["objects"]
            if each["kind"] == "Deployment"
        }

    def diffed_by_kubectl(self, kubectl: Kubectl) -> set[str]:
        """Cases in which `kubectl diff --server-side` finds a difference.

        One object whose declaration the server refuses by now, and it says nothing of any.
        """
        kept = {
            case.name
            for case in self.cases
            if case.name not in _REFUSED
            and not {write.verb for write in case.writes} & {"delete", "create"}
        }
        listed = json.loads((self.folder / "desired" / "all.json").read_text())
        listed["items"] = [
            _without_nulls(one)
            for one in listed["items"]
            if one["metadata"]["name"].removeprefix(f"{self.namespace}-") in kept
        ]
        file = self.folder / "tried.json"
        file.write_text(json.dumps(listed))
        options = ("--server-side", "--force-conflicts", "--field-manager=holdfast")
        done = kubectl.run("diff", *options, "-f", str(file))
        assert done.returncode == 1, done.stderr  # there are differences; more is an error
        compared = re.findall(r"^diff -u -N \S+ (\S+)$", done.stdout, re.MULTILINE)
        return {name for name in kept for each in compared if each.endswith(name)}

    @cached_property
    def _hands(self) -> Hands:
        return Hands(self.sandbox)

    def _declared(self) -> Iterator[KubeObject]:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        for case in self.cases:
            for one in case.filled(case.objects, self.namespace):
                one["metadata"] = _without_nulls(one["metadata"])
                yield one

    def _keep(self, name: str, objects: Sequence[KubeObject]) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def _apply(self, one: KubeObject, *, manager: str = "holdfast", dry_run: str = "") -> Any:
        query: dict[str, str | int] = {"fieldManager": manager}
        if dry_run:
            query["dryRun"] = dry_run
        return self._hands.write("apply", path_of_object(one), _without_nulls(one), query=query)

    def _prepare_cluster(self) -> None:
        """Definition and admission of the cases, shared by all namespaces, in force."""
        if self._hands.read(path_of_object(definition(with_default=False))) is None:
            for one in (definition(with_default=False), *ADMISSION):
                self._apply(one, manager="installer")
        case = next(case for case in self.cases if case.row == _ADMISSION_ROW)
        (probe,) = case.filled(case.objects, "default")

        def is_in_force() -> bool:
            answer = self._apply(probe, dry_run="All")
            return bool(answer["spec"].get("minReadySeconds"))

        wait_until(is_in_force, "admission")
        everywhere = f"/apis/{DEFINED}/moods"
        wait_until(lambda: self._hands.read(everywhere) is not None, "the definition")

    def _do(self, case: Case, write: Write) -> None:
        api_version = write.api_version or _version_of(case, write.kind)
        name = case.filled(write.name, self.namespace)
        path = path_to(api_version, write.kind, self.namespace, name)
        body = case.filled(write.body, self.namespace, self._hands.bundle)
        if write.verb in {"create", "apply"}:
            body = _without_nulls(body)
        query = {"fieldManager": write.manager} if write.verb != "delete" else None
        whole = f"{path}/{write.subresource}" if write.subresource else path
        self._hands.write(write.verb, whole, body, user=write.user, query=query)
        if write.verb == "delete" and case.row != _STUCK_ROW:
            wait_until(lambda: self._hands.read(path) is None, f"{path} is gone")

    def _prove(self, case: Case) -> None:
        if case.proof is None:
            return
        kind, steps, expected = case.proof
        version = _version_of(case, kind)
        names = [case.name, f"{self.namespace}-{case.name}"]
        paths = [path_to(version, kind, self.namespace, name) for name in names]

        def holds() -> bool:
            value: Any = next((one for one in map(self._hands.read, paths) if one), None)
            try:
                for step in steps:
                    value = value[step]
            except (KeyError, IndexError, TypeError):
                return False
            return value is not None and expected in (None, value)

        wait_until(holds, f"{case.name}: {kind} {steps} is {expected}")

    def _settle(self, objects: Sequence[KubeObject]) -> None:
        """Wait until claims are bound and no object is written any more."""
        seen: dict[str, str] = {}
        since = time.monotonic()

        def is_quiet() -> bool:
            nonlocal since
            for path in map(path_of_object, objects):
                live = self._hands.read(path) or {}
                phase = live.get("status", {}).get("phase")
                version = str(live.get("metadata", {}).get("resourceVersion"))
                if seen.get(path) != version or phase == "Pending":
                    seen[path], since = version, time.monotonic()
            return time.monotonic() - since > QUIET_SECONDS

        wait_until(is_quiet, "quiet")


def _version_of(case: Case, kind: str) -> str:
    if kind == DEFINITION:
        return "apiextensions.k8s.io/v1"
    return next((str(one["apiVersion"]) for one in case.objects if one["kind"] == kind), "v1")


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return value
