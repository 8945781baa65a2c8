"""Pods get no token for the API server unless they need one."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    POD_ACCOUNT,
    POD_KINDS,
    SANDBOX_TEMPLATE,
    SECRET,
    SERVICE_ACCOUNT,
    Admission,
    Breach,
    Edit,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Pod,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    breaches,
    each,
    field_path,
    in_object,
    in_pod,
    mapping,
    patch_at,
    said,
    shown,
    spec_steps,
    text,
)

ACCOUNTS = Parameter(
    name="accounts",
    description="ServiceAccounts that need a token, as namespace/name: agents that use the API.",
    schema={
        "type": "array",
        "items": {
            "type": "string",
            "pattern": r"[a-z0-9-]+/[a-z0-9.-]+",
            "examples": ["ops/triage"],
        },
    },
    default=[],
)
_TOKENS = ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token")
_AUDIENCES = re.compile(
    r"kubernetes|^api$|^k3s$|^rke2$|openshift|\.eks\.|oidc\.eks|container\.googleapis|azmk8s|gke\b|apiserver"
    r"|kube-api|^https?://(?:\d{1,3}\.){3}\d{1,3}|\.default\.svc|^unknown$|^https?://localhost"
)
"""What API servers are called as an audience, by themselves and by the clouds."""
_FIELD = "automountServiceAccountToken"


def check_pod(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A pod that does not refuse a token, or mounts one by itself.

    The pod itself must refuse: what its ServiceAccount says may change without it. The pods of a
    SandboxTemplate refuse unless they say otherwise.
    """
    pod = subject.pod
    if pod is None:
        return
    mounted = pod.spec.get(_FIELD)
    if mounted is not False and not (mounted is None and subject.kind == SANDBOX_TEMPLATE):
        if not _needs_token(subject, pod.service_account, settings):
            yield Breach(field_path(pod.spec_path, _FIELD), got=shown(mounted), required="false")
    else:
        yield from _check_volumes(subject, pod, settings)


def _check_volumes(subject: Subject, pod: Pod, settings: Settings) -> Iterator[Finding]:
    def check_source(source: object, path: str) -> Iterator[Breach]:
        token = mapping(source).get("serviceAccountToken")
        is_for_api = token is not None and _is_of_api(text(mapping(token).get("audience")))
        if is_for_api and not _needs_token(subject, pod.service_account, settings):
            place = field_path(path, "serviceAccountToken")
            remedy = "name the audience the token is for, or remove it"
            yield Breach(
                place, "a token for the API server", "a token for another audience", remedy
            )

        signer = text(mapping(mapping(source).get("podCertificate")).get("signerName"))
        if signer.startswith("kubernetes.io/kube-apiserver-client"):
            place = field_path(path, "podCertificate", "signerName")
            yield Breach(
                place, "a certificate for the API server", "another signer", "name another signer"
            )

    def check_volume(volume: object, path: str) -> Iterator[Finding]:
        sources = mapping(mapping(volume).get("projected")).get("sources")
        yield from each(sources, field_path(path, "projected", "sources"), check_source)

    yield from each(pod.spec.get("volumes"), field_path(pod.spec_path, "volumes"), check_volume)


def check_account(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A ServiceAccount that asks for tokens in all of its pods."""
    asks = subject.kind == SERVICE_ACCOUNT and subject.object.get(_FIELD) is True
    if asks and not _needs_token(subject, subject.name, settings):
        yield Breach(_FIELD, got="true", required="false")


def check_secret(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A Secret that holds a token without an end."""
    if subject.kind == SECRET and subject.object.get("type") in _TOKENS:
        remedy = "remove it: pods get tokens that expire, and people use `kubectl create token`"
        yield Breach("type", "a token that never expires", "no such Secret", remedy)


def _is_of_api(audience: str) -> bool:
    """Whether a token for an audience is one that an API server takes."""
    return not audience or _AUDIENCES.search(audience.lower()) is not None


def _needs_token(subject: Subject, account: str, settings: Settings) -> bool:
    return f"{subject.namespace}/{text(account)}" in settings["accounts"]


_IS_POD = '!(object.kind in ["ServiceAccount", "Secret"])'
_MOUNTS = f'variables.podSpec.?{_FIELD}.orValue(object.kind != "SandboxTemplate") != false'


def remediate(subject: Subject, _: Settings) -> Iterator[Edit]:
    """The token refused, where it is the pod or the account that does not."""
    if subject.kind == SERVICE_ACCOUNT:
        yield Edit((_FIELD,), False)
    elif subject.pod is not None:
        yield Edit((*spec_steps(subject), _FIELD), False)


RULE = Rule(
    id="no-token-automount",
    title="No token without need",
    description="A pod gets a token for the API server that it does not need",
    rationale="Whoever makes the agent print a file then speaks to the API server in its name.",
    remedy="set automountServiceAccountToken to false, or list the account in parameter accounts",
    source="https://kubernetes.io/docs/concepts/security/service-accounts/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.MANDATORY),
    frameworks=("C5.1.6", "N", "AC-6", "ASI03"),
    fix=Fix.YES,
    remediate=remediate,
    kinds=POD_KINDS | {SERVICE_ACCOUNT, SECRET},
    check=all_of(check_pod, check_account, check_secret),
    parameters=(ACCOUNTS,),
    admission=Admission(
        (
            in_pod(
                f"{_IS_POD} && {_MOUNTS} && !variables.needsToken",
                _FIELD,
                "false",
                said(f"variables.podSpec.?{_FIELD}"),
            ),
            breaches(
                f"{_IS_POD} && !({_MOUNTS}) && !variables.needsToken ? variables.volumes : []",
                "v",
                "v.value.?projected.?sources.orValue([]).exists(s,"
                " s.?serviceAccountToken.orValue(null) != null"
                ' && s.serviceAccountToken.?audience.orValue("") == "")',
                'v.path + ".projected.sources"',
                "a token for another audience than the API server",
            ),
            in_object(
                f'object.kind == "ServiceAccount" && variables.subject.?{_FIELD}.orValue(false)'
                " == true && !variables.needsToken",
                _FIELD,
                "false",
                '"true"',
            ),
            in_object(
                'object.kind == "Secret" && variables.subject.?type.orValue("")'
                ' == "kubernetes.io/service-account-token"',
                "type",
                "no token that never expires",
            ),
        ),
        variables=(
            (
                "account",
                'object.kind == "ServiceAccount" ? variables.subject.metadata.?name.orValue("")'
                f" : {POD_ACCOUNT}",
            ),
            (
                "needsToken",
                'variables.subject.metadata.?namespace.orValue("default") + "/"'
                " + variables.account in variables.settings.accounts",
            ),
        ),
        patches=(
            patch_at(
                f'variables.podPointer + "/{_FIELD}"',
                # Into a pod of its own the API server has put the token before it asks policies.
                f'{_IS_POD} && object.kind != "Pod" && {_MOUNTS} && !variables.needsToken',
                "false",
            )
            + " + "
            + patch_at(
                f'"/{_FIELD}"',
                f'object.kind == "ServiceAccount" && variables.subject.?{_FIELD}.orValue(false)'
                " == true && !variables.needsToken",
                "false",
            ),
        ),
        differs="audiences by which API servers call themselves are known before that only",
    ),
)
