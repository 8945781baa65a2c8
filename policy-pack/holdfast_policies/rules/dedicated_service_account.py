"""Each agent has an identity of its own."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_ACCOUNT,
    POD_KINDS,
    Admission,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Pod,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    Undecided,
    UndeterminedError,
    field_path,
    in_pod,
    mapping,
    pods,
    shown,
    text,
)

SHARED_ACCOUNTS = Parameter(
    name="shared_accounts",
    description="Names of ServiceAccounts that several workloads use; no agent may run as one.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["default"],
)
_AGENT_LABELS = ("holdfast.dev/agent", "holdfast.dev/backup-of", "app.kubernetes.io/name")


def check(pod: Pod, settings: Settings) -> Iterator[Breach]:
    """A pod that runs as `default` or another shared account."""
    if pod.service_account in settings["shared_accounts"]:
        path = field_path(pod.spec_path, "serviceAccountName")
        declared = pod.spec.get("serviceAccountName") or pod.spec.get("serviceAccount")
        yield Breach(path, got=shown(declared), required="a ServiceAccount of its own")


def check_stack(stack: Stack, settings: Settings) -> Iterator[Finding]:
    """Agents of one stack that run as the same account."""
    users: dict[tuple[str, str], dict[str, Subject]] = {}
    for workload in stack.workloads:
        pod = workload.pod
        assert pod is not None  # noqa: S101  # that is what a workload is
        try:
            place = (workload.namespace, pod.service_account)
            agent = _agent_of(workload, pod)
        except UndeterminedError as signal:
            yield Undecided(signal.path, workload)
            continue
        if place[1] not in settings["shared_accounts"]:
            users.setdefault(place, {}).setdefault(agent, workload)
    for (_, account), agents in users.items():
        for agent, workload in agents.items() if len(agents) > 1 else ():
            others = ", ".join(sorted(set(agents) - {agent}))
            assert workload.pod is not None  # noqa: S101  # as above
            path = field_path(workload.pod.spec_path, "serviceAccountName")
            got = f"{shown(account)}, which {others} uses as well"
            yield Breach(path, got, "a ServiceAccount of its own", subject=workload)


def _agent_of(workload: Subject, pod: Pod) -> str:
    """Whose pod it is: by label, so that an agent's CronJob may share its account; else by name."""
    labels = mapping(pod.metadata.get("labels"))
    for label in _AGENT_LABELS:
        if text(labels.get(label)):
            return text(labels[label])
    return workload.name


RULE = Rule(
    id="dedicated-service-account",
    title="A ServiceAccount an agent",
    description="An agent runs as an account that is not its own",
    rationale="Rights given to one then hold for all, and the audit log cannot tell who acted.",
    remedy="create a ServiceAccount for it and name it in serviceAccountName",
    source="https://kubernetes.io/docs/concepts/security/service-accounts/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("C5.1.5", "IA-9", "AC-6", "ASI03"),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=pods(check),
    check_stack=check_stack,
    parameters=(SHARED_ACCOUNTS,),
    admission=Admission(
        (
            in_pod(
                f"{POD_ACCOUNT} in variables.settings.shared_accounts",
                "serviceAccountName",
                "a ServiceAccount of its own",
                POD_ACCOUNT,
            ),
        ),
        differs="that two agents of a stack share an account is seen at preview only",
    ),
)
