"""Workloads as agents: Deployments, StatefulSets, CronJobs, Sandboxes of agent-sandbox."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from holdfast.errors import InputError
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.manifest.agent import API_VERSION, OWN_PREFIXES
from holdfast.manifest.text_checks import fault_in_agent_name, fault_in_semver
from holdfast.migration.belongings import Belongings
from holdfast.migration.containers import Fields, tag_of
from holdfast.migration.outcome import Findings, ImportedAgent, Remark
from holdfast.migration.pods import Pod, claim_fields, escaped_paths
from holdfast.migration.remainder import Remainder

UNKNOWN_VERSION: Final = "0.0.0"
_TEMPLATES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("agents.x-k8s.io", "Sandbox"): ("spec", "podTemplate"),
    ("extensions.agents.x-k8s.io", "SandboxTemplate"): ("spec", "podTemplate"),
}
"""Kind of a workload to where its pods are described."""


def is_workload(kube_object: Mapping[str, Any]) -> bool:
    """Whether an object can become an agent."""
    ref = reference_of(kube_object)
    return (ref.group, ref.kind) in _TEMPLATES


def import_workloads(
    objects: Sequence[KubeObject], digests: Mapping[str, str]
) -> list[ImportedAgent]:
    """Every workload as an agent, with the objects beside it that belong to it.

    Args:
        objects: Whatever stands together in files or a namespace.
        digests: Image as it is written to its digest, `sha256:` and 64 hexadecimal digits.

    Raises:
        InputError: a workload has a name that no agent can have, or no container.
    """
    normal = [normalise_object(each) for each in objects]
    return [_Import(each, normal, digests).agent() for each in normal if is_workload(each)]


class _Import:
    """One workload on its way."""

    def __init__(
        self, workload: KubeObject, objects: Iterable[KubeObject], digests: Mapping[str, str]
    ) -> None:
        self._ref = reference_of(workload)
        self._workload = workload
        self._others = [each for each in objects if each is not workload and not is_workload(each)]
        self._digests = digests
        self._findings = Findings()
        self._left = Remainder(workload)
        self._taken: list[ObjectRef] = [self._ref]

    def agent(self) -> ImportedAgent:
        if found := fault_in_agent_name(self._ref.name):
            raise InputError(f"{self._ref}: name {found}", remedy="import it under another name")
        template = _TEMPLATES[self._ref.group, self._ref.kind]
        if not (mapping_at(self._workload, *template, "spec").get("containers")):
            raise InputError(f"{self._ref}: no container in {'.'.join(template)}")
        metadata = self._metadata(template)
        pod = Pod(
            Remainder.of(self._part(*template, "spec")),
            workload=self._ref.name,
            agent=self._ref.name,
            digests=self._digests,
            objects={(each["kind"], each["metadata"]["name"]): each for each in self._others},
            findings=self._findings,
        )
        convert: Callable[[Fields], None] = {
            "Deployment": self._deployment,
            "StatefulSet": self._stateful_set,
            "CronJob": self._cron_job,
            "Sandbox": self._sandbox,
            "SandboxTemplate": self._sandbox_template,
        }[self._ref.kind]
        account = mapping_at(self._workload, *template, "spec").get("serviceAccountName", "")
        spec = pod.fields(is_called=self._ref.kind != "CronJob")
        convert(spec)
        self._taken += [
            reference_of(each)
            for each in self._others
            if (each["kind"], each["metadata"]["name"]) in pod.used
        ]
        labels = mapping_at(self._workload, *template, "metadata", "labels")
        belongings = Belongings(self._workload, labels, self._others)
        belongings.carry(spec, account, pod.container.ports, self._findings)
        self._taken += belongings.taken
        if self._ref.kind != "CronJob":
            self._ports(spec, pod)
        self._rest(template)
        return ImportedAgent(
            {
                "apiVersion": API_VERSION,
                "kind": "Agent",
                "metadata": metadata,
                "spec": {"version": self._version(pod.image)} | spec,
            },
            tuple(self._taken),
            self._findings,
        )

    def _part(self, *path: str) -> dict[str, Any]:
        """A part of the workload, which shrinks with what is taken from it."""
        node: Any = self._left.left
        for part in path:
            node = node.setdefault(part, {})
        found: dict[str, Any] = node
        return found

    def _metadata(self, template: Sequence[str]) -> Fields:
        """Name, namespace, and the labels and annotations of the object and of its pods."""
        metadata: Fields = {"name": self._left.take("metadata", "name")}
        if namespace := self._left.take("metadata", "namespace"):
            metadata["namespace"] = namespace
        for field in ("labels", "annotations"):
            own = self._left.take("metadata", field) or {}
            of_pods = self._left.take(*template, "metadata", field) or {}
            merged = {k: v for k, v in (own | of_pods).items() if not k.startswith(OWN_PREFIXES)}
            if merged:
                metadata[field] = merged
            for key in own:
                if key in of_pods and own[key] != of_pods[key]:
                    self._lose(f"metadata.{field}.{key}", own[key], "its pods have another value")
        self._left.take(*template, "metadata", "creationTimestamp")
        return metadata

    def _version(self, image: str) -> str:
        labels = mapping_at(self._workload, "metadata", "labels")
        for text in (labels.get("app.kubernetes.io/version"), tag_of(image)):
            plain = str(text or "").removeprefix("v")
            if plain and not fault_in_semver(plain):
                return plain
        reason = "neither the label app.kubernetes.io/version nor the image's tag is a version"
        self._change("", UNKNOWN_VERSION, f"{reason}: set spec.version")
        return UNKNOWN_VERSION

    def _deployment(self, spec: Fields) -> None:
        left = self._left
        left.take("spec", "selector")
        spec["scaling"] = {"replicas": left.take("spec", "replicas", default=1)}
        rollout: Fields = {}
        if left.take("spec", "strategy", "type") == "Recreate":
            rollout["strategy"] = "Recreate"
        for field in ("maxSurge", "maxUnavailable"):
            if (value := left.take("spec", "strategy", "rollingUpdate", field)) is not None:
                rollout[field] = value
        if seconds := left.take("spec", "progressDeadlineSeconds"):
            rollout["progressDeadlineSeconds"] = seconds
        if rollout:
            spec["rollout"] = rollout
        left.drop_equal({"spec": {"revisionHistoryLimit": 10}})

    def _stateful_set(self, spec: Fields) -> None:
        left = self._left
        left.take("spec", "selector")
        spec["scaling"] = {"replicas": left.take("spec", "replicas", default=1)}
        spec["rollout"] = {"strategy": "Recreate"}
        claims = left.take("spec", "volumeClaimTemplates") or []
        self._own_claims(spec, claims, "a claim of the agent's own: copy the data, or name the old")
        left.drop_equal(
            {
                "spec": {
                    "revisionHistoryLimit": 10,
                    "podManagementPolicy": "OrderedReady",
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                    "persistentVolumeClaimRetentionPolicy": {
                        "whenDeleted": "Retain",
                        "whenScaled": "Retain",
                    },
                }
            }
        )

    def _own_claims(self, spec: Fields, claims: Iterable[KubeObject], reason: str) -> None:
        """Claims that the workload's controller makes, mounted as storage of the agent."""
        overrides = spec.get("podOverrides", {})
        mounts = (overrides.get("containers") or [{}])[0].get("volumeMounts", [])
        for claim in claims:
            name = claim["metadata"]["name"]
            own = [mount for mount in mounts if mount["name"] == name]
            if len(own) != 1:
                self._lose(f"spec.volumeClaimTemplates[name={name}]", claim["spec"], "not mounted")
                continue
            mounts.remove(own[0])
            entry = {"name": name, "mountPath": own[0]["mountPath"]} | claim_fields(claim["spec"])
            spec.setdefault("storage", []).append(entry)
            if reason:
                self._change(f"spec.volumeClaimTemplates[name={name}]", name, reason)
        self._tidy(spec)

    def _from_overrides(self, spec: Fields, field: str) -> Any:  # noqa: ANN401 - any JSON value
        """A field of the pod that this kind of workload has a field of its own for."""
        value = spec.get("podOverrides", {}).pop(field, None)
        self._tidy(spec)
        return value

    def _tidy(self, spec: Fields) -> None:
        """Drop what of the escape hatch says nothing any more, and note what is left of it."""
        overrides = spec.get("podOverrides", {})
        for container in list(overrides.get("containers", [])):
            if not container.get("volumeMounts", True):
                del container["volumeMounts"]
            if set(container) == {"name"}:
                overrides["containers"].remove(container)
        if not overrides.get("containers", True):
            del overrides["containers"]
        if not overrides:
            spec.pop("podOverrides", None)
        self._findings.escaped[:] = escaped_paths(overrides)

    def _cron_job(self, spec: Fields) -> None:
        left = self._left
        job = ("spec", "jobTemplate", "spec")
        schedule: Fields = {"cron": left.take("spec", "schedule")}
        for field, written in (
            ("timeZone", "timezone"),
            ("concurrencyPolicy", "concurrencyPolicy"),
            ("suspend", "suspend"),
        ):
            if (value := left.take("spec", field)) is not None:
                schedule[written] = value
        schedule.setdefault("concurrencyPolicy", "Allow")
        kept = left.take("spec", "successfulJobsHistoryLimit", default=3)
        schedule["historyLimit"] = kept
        if (failed := left.take("spec", "failedJobsHistoryLimit", default=1)) != kept:
            self._change("spec.failedJobsHistoryLimit", failed, f"{kept}, as of runs that succeed")
        schedule["retries"] = left.take(*job, "backoffLimit", default=6)
        if (seconds := left.take(*job, "ttlSecondsAfterFinished")) is not None:
            schedule["ttlSecondsAfterFinished"] = seconds
        if (deadline := left.take(*job, "activeDeadlineSeconds")) is not None:
            spec["budget"] = {"timeout": f"{deadline}s"}
        policy = self._from_overrides(spec, "restartPolicy")
        if policy not in {None, "Never"}:
            self._change(f"{'.'.join(job)}.template.spec.restartPolicy", policy, "Never")
        spec |= {"type": "Job", "schedules": [schedule]}

    def _sandbox(self, spec: Fields) -> None:
        spec["type"] = "Sandbox"
        settings: Fields = {}
        if self._left.take("spec", "operatingMode") == "Suspended":
            settings["operatingMode"] = "Suspended"
        if (seconds := self._from_overrides(spec, "activeDeadlineSeconds")) is not None:
            settings["shutdownAfter"] = f"{seconds}s"
        if settings:
            spec["sandbox"] = settings
        self._left.take("spec", "service")
        if self._left.take("spec", "replicas") == 0:
            spec.setdefault("sandbox", {})["operatingMode"] = "Suspended"
        claims = self._left.take("spec", "volumeClaimTemplates") or []
        self._own_claims(spec, claims, "a claim of the agent's own, which outlives the sandbox")
        self._left.drop_equal({"spec": {"shutdownPolicy": "Retain"}})

    def _sandbox_template(self, spec: Fields) -> None:
        left = self._left
        spec["type"] = "Sandbox"
        pool = next(
            (
                each
                for each in self._others
                if each["kind"] == "SandboxWarmPool"
                and mapping_at(each, "spec", "sandboxTemplateRef").get("name") == self._ref.name
            ),
            None,
        )
        if pool is not None:
            self._taken.append(reference_of(pool))
            if pool["metadata"]["name"] != self._ref.name:
                self._change("", pool["metadata"]["name"], f"the pool is called {self._ref.name}")
        settings: Fields = {
            "warmPool": {"replicas": (pool or {"spec": {}})["spec"].get("replicas", 0)}
        }
        if mode := left.take("spec", "envVarsInjectionPolicy"):
            settings["envInjection"] = mode
        if (seconds := self._from_overrides(spec, "activeDeadlineSeconds")) is not None:
            settings["shutdownAfter"] = f"{seconds}s"
        spec["sandbox"] = settings
        self._own_claims(spec, left.take("spec", "volumeClaimTemplates") or [], "")
        left.drop_equal({"spec": {"volumeClaimTemplatesPolicy": "Disallowed"}})
        if (policy := left.take("spec", "networkPolicy")) is not None:
            self._lose("spec.networkPolicy", policy, "say it in network.ingressFrom and .egress")
        if (management := left.take("spec", "networkPolicyManagement")) is not None:
            self._change(
                "spec.networkPolicyManagement", management, "the agent's own NetworkPolicy"
            )

    def _ports(self, spec: Fields, pod: Pod) -> None:
        served = spec.pop("ports_served", [])
        declared = dict(pod.container.ports)
        expose = served[0] if served else pod.container.expose_port()
        if expose is not None:
            spec["network"] = {"expose": {"port": expose}}
        others = {name: number for name, number in declared.items() if number != expose}
        metrics = others.pop("metrics", None)
        spec["telemetry"] = {"metrics": {"port": metrics} if metrics else {"enabled": False}}
        ports = [{"name": name, "port": number} for name, number in others.items()]
        if ports := ports + pod.container.other_ports:
            spec["ports"] = ports

    def _rest(self, template: Sequence[str]) -> None:
        """Everything that nobody has taken."""
        left = self._left
        for known in ("apiVersion", "kind"):
            left.take(known)
        left.drop_equal({"metadata": {}})
        self._change(
            ".".join((*template, "spec", "containers")),
            self._ref.name,
            "the container is called agent",
        )
        for path, value in left.leaves():
            if value != {}:
                self._lose(path, value, "no field says it")

    def _lose(self, path: str, value: Any, reason: str) -> None:  # noqa: ANN401 - any JSON value
        self._findings.lost.append(Remark(self._ref, path, value, reason))

    def _change(self, path: str, value: Any, reason: str) -> None:  # noqa: ANN401 - any JSON value
        self._findings.changed.append(Remark(self._ref, path, value, reason))
