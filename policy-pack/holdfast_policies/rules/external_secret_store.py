"""Secrets live in a store, not in the program that deploys."""

from collections.abc import Iterator

from holdfast_policies.api import (
    SECRET,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    in_object,
    items,
    listed,
    mapping,
    shown,
    text,
)

TYPES = Parameter(
    name="types",
    description="Types of Secrets that must come from a store; others, as of TLS, may be declared.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["Opaque"],
)
_WRITERS = ("ExternalSecret", "SecretProviderClass", "VaultStaticSecret", "SealedSecret")


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A Secret with content of its own that no store's controller keeps."""
    if (text(subject.object.get("type")) or "Opaque") not in settings["types"]:
        return
    owners = [
        mapping(owner).get("kind") for owner in items(subject.metadata.get("ownerReferences"))
    ]
    if any(owner in _WRITERS for owner in owners):
        return
    keys = [key for name in ("data", "stringData") for key in mapping(subject.object.get(name))]
    if keys:
        yield Breach("data", got=f"keys {shown(sorted(keys))}", required="a secret from a store")


RULE = Rule(
    id="external-secret-store",
    title="Secrets from a store",
    description="A secret is declared by the program instead of coming from a store",
    rationale="What a program declares passes through its state and the hands of all who run it.",
    remedy="keep it in a store and refer to it by secrets[] with that store",
    source="https://external-secrets.io/latest/introduction/overview/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "C5.4.2",
        "IA-5",
        "SC-12",
    ),
    fix=Fix.NO,
    kinds=frozenset({SECRET}),
    check=check,
    parameters=(TYPES,),
    admission=Admission(
        (
            in_object(
                '(variables.subject.?type.orValue("") == "" ? "Opaque" : variables.subject.type)'
                " in variables.settings.types"
                " && !variables.subject.metadata.?ownerReferences.orValue([])"
                f".exists(o, o.kind in {listed(_WRITERS)})"
                " && (variables.subject.?data.orValue({}).size() > 0"
                " || variables.subject.?stringData.orValue({}).size() > 0)",
                "data",
                "a secret from a store",
            ),
        )
    ),
)
