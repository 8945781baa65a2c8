"""What the server and its controllers write into objects by themselves: never drift.

Only for fields that are not declared. A name proves nothing: any client chooses its field manager.
So each rule names the place and the value that its writer would write there. Where a value alone
proves nothing, the writer counts, too: by the user in the audit log, else by its name, and for a
controller that Kubernetes does not bring only where the stack's settings list it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.drift.compare.difference import Difference
from holdfast.drift.exemption.server_owned_rules import RULES, ServerOwned
from holdfast.drift.exemption.writers import (
    IDENTITY,
    OF_INJECTOR,
    OF_KUBERNETES,
    FieldWriter,
    WriterProof,
)
from holdfast.kube.objects import ObjectRef, canonical_json, mapping_at
from holdfast.kube.paths import format_path

_CA_BUNDLE: Final = re.compile(r"\.caBundle$")
_CERTIFICATE: Final = re.compile(r"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS[A-Za-z0-9+/=]+")
"""The beginning of a PEM certificate, in base64."""
_CA_ANNOTATION: Final = re.compile(
    r"^cert-manager\.io/inject-(ca-from|ca-from-secret|apiserver-ca)$"
    r"|^service\.beta\.openshift\.io/inject-cabundle$"
)
_TOKEN_TYPE: Final = "kubernetes.io/service-account-token"  # noqa: S105  (a type, not a token)
_TOKEN_KEYS: Final = re.compile(r'data(\.(token|namespace)|\["ca\.crt"\])?')
_BOUND: Final = "Bound"


@dataclass(frozen=True)
class ExemptionContext:
    """What decides about an exemption beside the difference.

    Attributes:
        desired: The declaration, for what it says about its own controllers.
        live: The object, with its metadata and, of claims and volumes, its status.
        controllers: Controllers that the stack's settings name.
        believes_names: Whether a manager's name counts where no user is known. Not while objects
            are only sorted out: then the audit log was not asked.
        recent_users: Users who wrote to the object since its deployment; none where not known.
    """

    desired: Mapping[str, Any]
    live: Mapping[str, Any]
    controllers: Collection[str] = field(default=frozenset())
    believes_names: bool = True
    recent_users: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False)

    def proves(self, proof: WriterProof, writers: Sequence[FieldWriter]) -> bool:
        """Whether a controller wrote a field: all of its owners are that controller."""
        return bool(writers) and all(
            (self.believes_names or bool(writer.user)) and proof.holds_for(writer)
            for writer in writers
        )


def is_server_owned(
    ref: ObjectRef,
    difference: Difference,
    writers: Sequence[FieldWriter],
    context: ExemptionContext,
) -> bool:
    """Whether an undeclared difference is the doing of the server or of a known controller.

    Args:
        ref: The object.
        difference: What differs.
        writers: Who owns the path; empty when nobody does.
        context: The object, and which controllers are believed.
    """
    path = format_path(difference.path)
    is_token = ref.kind == "Secret" and context.desired.get("type") == _TOKEN_TYPE
    if is_token and _TOKEN_KEYS.fullmatch(path):
        return True
    if _is_binding(ref, path, difference.live, writers, context):
        return True
    if is_injected_bundle(difference, writers, context):
        return True
    return any(_is_expected(rule, ref, path, difference.live, writers, context) for rule in RULES)


def _is_expected(
    rule: ServerOwned,
    ref: ObjectRef,
    path: str,
    live: object,
    writers: Sequence[FieldWriter],
    context: ExemptionContext,
) -> bool:
    if rule.kind not in {"", ref.kind} or rule.path.fullmatch(path) is None:
        return False
    is_listed = not rule.controller or rule.controller in context.controllers
    users = [writer.user for writer in writers]
    if not is_listed and not (users and all(map(IDENTITY.fullmatch, users))):
        return False
    if writers and (
        rule.is_unowned or (rule.writer is not None and not context.proves(rule.writer, writers))
    ):
        return False
    if not writers and rule.is_credential and not _is_by_users(rule.writer, context):
        return False
    if not writers and rule.controller and rule.writer is not None:
        # What such a controller writes has an owner: a field without one was wiped.
        return False
    uid = str(mapping_at(context.live, "metadata").get("uid") or "")
    wanted = rule.value.format(
        name=re.escape(ref.name),
        namespace=re.escape(ref.namespace),
        kind=re.escape(ref.kind),
        uid=re.escape(uid) if uid else "[0-9a-f-]+",
    )
    return all(re.fullmatch(wanted, text) for text in _texts(live))


def _is_by_users(writer: WriterProof | None, context: ExemptionContext) -> bool:
    """Whether nobody but a controller wrote to the object, as far as that is known."""
    users = context.recent_users()
    if not users:
        return context.believes_names
    return writer is not None and all(writer.users.fullmatch(user) for user in users)


def _texts(live: object) -> Iterable[str]:
    """A value as rules see it; each item of a list."""
    if isinstance(live, list):
        return [text for item in live for text in _texts(item)]
    return [live if isinstance(live, str) else canonical_json(live).decode()]


def _is_binding(
    ref: ObjectRef,
    path: str,
    live: object,
    writers: Sequence[FieldWriter],
    context: ExemptionContext,
) -> bool:
    """Whether a claim and a volume were bound to each other.

    A dynamic volume is named by the uid of its claim. Of another one the binder's status says that
    it exists and is bound to the claim; a name that a client wrote in advance leads to no status.
    """
    metadata = mapping_at(context.live, "metadata")
    is_bound = mapping_at(context.live, "status").get("phase") == _BOUND
    if ref.kind == "PersistentVolumeClaim" and path == "spec.volumeName":
        return is_bound or (bool(metadata.get("uid")) and live == f"pvc-{metadata['uid']}")
    if ref.kind == "PersistentVolume" and re.fullmatch(r"spec\.claimRef(\..*)?", path):
        return is_bound and (not writers or context.proves(OF_KUBERNETES, writers))
    return False


def is_injected_bundle(
    difference: Difference, writers: Sequence[FieldWriter], context: ExemptionContext
) -> bool:
    """Whether a `caBundle` was filled in by the injector that the declaration asks for."""
    if not _CA_BUNDLE.search(format_path(difference.path)):
        return False
    annotations = mapping_at(context.desired, "metadata", "annotations")
    asked = any(_CA_ANNOTATION.search(key) for key in annotations)
    is_certificate = _CERTIFICATE.fullmatch(str(difference.live)) is not None
    return asked and is_certificate and context.proves(OF_INJECTOR, writers)
