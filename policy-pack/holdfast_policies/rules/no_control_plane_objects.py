"""Nothing of a stack changes what the API server asks, serves or believes."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    DEFINITION,
    NAMESPACE,
    Breach,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    items,
    key_path,
    mapping,
    shown,
    text,
)

_ADMISSION = "admissionregistration.k8s.io"
MUTATING_WEBHOOK = Kind(_ADMISSION, "MutatingWebhookConfiguration")
VALIDATING_WEBHOOK = Kind(_ADMISSION, "ValidatingWebhookConfiguration")
API_SERVICE = Kind("apiregistration.k8s.io", "APIService")
CSI_DRIVER = Kind("storage.k8s.io", "CSIDriver")
_REFUSED = {
    Kind(_ADMISSION, "MutatingAdmissionPolicy"): "a policy that changes what others declare",
    Kind(_ADMISSION, "MutatingAdmissionPolicyBinding"): "a policy that changes what others declare",
    Kind("kyverno.io", "PolicyException"): "an exception from another engine's rules",
    Kind("kyverno.io", "CleanupPolicy"): "a policy that deletes objects",
    Kind("kyverno.io", "ClusterCleanupPolicy"): "a policy that deletes objects",
    Kind("policies.kyverno.io", "PolicyException"): "an exception from another engine's rules",
    Kind("policies.kyverno.io", "MutatingPolicy"): "a policy that changes what others declare",
    Kind("policies.kyverno.io", "GeneratingPolicy"): "a policy that makes objects",
    Kind("policies.kyverno.io", "DeletingPolicy"): "a policy that deletes objects",
    Kind("config.gatekeeper.sh", "Config"): "what another engine leaves out",
    Kind("mutations.gatekeeper.sh", "Assign"): "a policy that changes what others declare",
    Kind("mutations.gatekeeper.sh", "AssignMetadata"): "a policy that changes what others declare",
    Kind("mutations.gatekeeper.sh", "AssignImage"): "a policy that changes what others declare",
    Kind("mutations.gatekeeper.sh", "ModifySet"): "a policy that changes what others declare",
    Kind("certificates.k8s.io", "CertificateSigningRequest"): "a certificate for who asks",
    Kind("certificates.k8s.io", "ClusterTrustBundle"): "whom others trust",
    Kind("flowcontrol.apiserver.k8s.io", "FlowSchema"): "who is served first",
    Kind("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): "who is served first",
    Kind("node.k8s.io", "RuntimeClass"): "what a sandbox is made of",
    Kind("security.openshift.io", "SecurityContextConstraints"): "what pods may do",
    Kind("crd.projectcalico.org", "FelixConfiguration"): "how network policies are enforced",
    Kind("projectcalico.org", "FelixConfiguration"): "how network policies are enforced",
    Kind("networking.istio.io", "EnvoyFilter"): "a change of every proxy",
    Kind("extensions.istio.io", "WasmPlugin"): "code in every proxy",
    Kind("", "Node"): "a node of its own making",
    Kind("policy.holdfast.dev", "PolicyParameters"): "the parameters of our own policies",
}
NAMES = Parameter(
    name="allowed",
    description="Objects that are known to the platform's team, as Kind/name; * for any part.",
    schema={"type": "array", "items": {"type": "string"}},
    default=["PolicyParameters/holdfast-*"],
)
_OWN_GROUPS = ("metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io")
_BUILT_IN_GROUP = re.compile(r"(?:|.*\.k8s\.io|apps|batch|autoscaling|policy|.*\.kubernetes\.io)")
_SENSITIVE = frozenset(
    {"secrets", "*", "*/*", "tokenreviews", "serviceaccounts", "serviceaccounts/token"}
)
_EXEMPTING = (
    "admission.gatekeeper.sh/ignore",
    "policies.kyverno.io/ignore",
    "kyverno.io/ignore",
    "control-plane",
    "openpolicyagent.org/webhook",
    "policy.sigstore.dev/exclude",
    "config.linkerd.io/admission-webhooks",
)
_LEVEL = "pod-security.kubernetes.io/"
_OLDEST_MINOR = 25


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """Objects by which the API server judges, serves or trusts."""
    name = f"{subject.kind.name}/{subject.name}"
    if any(re.fullmatch(one.replace("*", ".*"), name) for one in settings["allowed"]):
        return
    if refused := _REFUSED.get(subject.kind):
        yield Breach("kind", got=refused, required="no such object in a stack of agents")
    elif subject.kind in (MUTATING_WEBHOOK, VALIDATING_WEBHOOK):
        yield from _check_webhooks(subject)
    elif subject.kind == API_SERVICE:
        yield from _check_service(subject)
    elif subject.kind == DEFINITION:
        webhook = mapping(mapping(subject.spec.get("conversion")).get("webhook"))
        if mapping(webhook.get("clientConfig")).get("url"):
            yield Breach(
                "spec.conversion.webhook.clientConfig.url", "an address outside", "a service"
            )
    elif subject.kind == CSI_DRIVER:
        for index, request in enumerate(items(subject.spec.get("tokenRequests"))):
            if not mapping(request).get("audience"):
                path = f"spec.tokenRequests[{index}].audience"
                yield Breach(path, "tokens for the API server", "another audience")
    elif subject.kind == NAMESPACE:
        yield from _check_namespace(subject)


def _check_webhooks(subject: Subject) -> Iterator[Breach]:
    for index, webhook in enumerate(items(subject.object.get("webhooks"))):
        declared, path = mapping(webhook), f"webhooks[{index}]"
        if mapping(declared.get("clientConfig")).get("url"):
            yield Breach(
                f"{path}.clientConfig.url", "an address outside", "a service of the cluster"
            )
        resources = {
            text(resource)
            for rule in items(declared.get("rules"))
            for resource in items(mapping(rule).get("resources"))
        }
        if seen := sorted(_SENSITIVE & resources):
            yield Breach(f"{path}.rules", f"it is sent {', '.join(seen)}", "resources by name")
        if subject.kind == VALIDATING_WEBHOOK and declared.get("failurePolicy") == "Ignore":
            yield Breach(f"{path}.failurePolicy", '"Ignore"', '"Fail"')


def _check_service(subject: Subject) -> Iterator[Breach]:
    if subject.spec.get("insecureSkipTLSVerify") is True:
        yield Breach("spec.insecureSkipTLSVerify", "true", "a caBundle")
    group = text(subject.spec.get("group"))
    if (
        subject.spec.get("service")
        and group not in _OWN_GROUPS
        and _BUILT_IN_GROUP.fullmatch(group)
    ):
        yield Breach("spec.group", shown(group), "a group of its own")


def _check_namespace(subject: Subject) -> Iterator[Breach]:
    labels = mapping(subject.metadata.get("labels"))
    for key, value in labels.items():
        path = key_path("metadata.labels", key)
        if key in _EXEMPTING and text(value).lower() not in ("false", ""):
            yield Breach(path, "a label by which rules leave it out", "no such label")
        elif key == f"{_LEVEL}enforce" and value == "privileged":
            yield Breach(path, '"privileged"', '"baseline" or "restricted"')
        elif key == f"{_LEVEL}enforce-version" and not _is_current(text(value)):
            yield Breach(path, shown(value), f'"latest", or v1.{_OLDEST_MINOR} and later')


def _is_current(version: str) -> bool:
    found = re.fullmatch(r"v1\.(\d{1,3})", version)
    return version == "latest" or (found is not None and int(found.group(1)) >= _OLDEST_MINOR)


RULE = Rule(
    id="no-control-plane-objects",
    title="Hands off the control plane",
    description="An object changes what the API server asks, serves, trusts or lets through",
    rationale="Who is asked about every object can change it, read it, or let it pass.",
    remedy="leave it to the platform's team, who list it in parameter allowed",
    source="https://kubernetes.io/docs/concepts/security/security-checklist/",
    severity=Severity.CRITICAL,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("CM-5", "AC-6", "ASI10"),
    fix=Fix.NO,
    kinds=frozenset(
        {
            *_REFUSED,
            MUTATING_WEBHOOK,
            VALIDATING_WEBHOOK,
            API_SERVICE,
            DEFINITION,
            CSI_DRIVER,
            NAMESPACE,
        }
    ),
    check=check,
    parameters=(NAMES,),
    not_in_cluster="admission policies are not asked about webhooks and policies",
)
