"""How an agent presents itself to others: the A2A agent card."""

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import KEY, fault
from holdfast.manifest.types.values import (
    Items,
    JsonObject,
    ManifestModel,
    MediaType,
    Text,
    Url,
)

SECURITY_SCHEMES: Final = (
    "apiKeySecurityScheme",
    "httpAuthSecurityScheme",
    "mtlsSecurityScheme",
    "oauth2SecurityScheme",
    "openIdConnectSecurityScheme",
)
"""Forms of a security scheme in a card of version 1.0, each under a key of its own."""


class Provider(ManifestModel):
    """Who offers the agent."""

    organization: Text
    """Name of the organization."""
    url: Url
    """Its website."""


class CardSkill(ManifestModel):
    """One thing that the agent can do for others."""

    id: Text
    """Identifier, unique in the card."""
    name: Text
    """Name for people."""
    description: Text
    """What it does, for people and models that choose."""
    tags: Annotated[Items[Text], Field(min_length=1)]
    """Words by which it is found."""
    examples: Items[Text] = ()
    """Requests that it answers."""


class CardCapabilities(ManifestModel):
    """Optional parts of the protocol that the agent speaks."""

    streaming: bool = False
    """Answers come in parts; default false."""
    push_notifications: bool = False
    """It calls back when a task is done; default false."""


class AgentCardSpec(ManifestModel):
    """The A2A agent card: made from the manifest, and served by the agent."""

    enabled: bool = True
    """Whether there is a card; default true."""
    skills: Items[CardSkill] = ()
    """What the agent can do for others."""
    capabilities: CardCapabilities = CardCapabilities.model_construct()
    """Optional parts of the protocol."""
    input_modes: Items[MediaType] = ("text/plain",)
    """Media types it takes; default text/plain."""
    output_modes: Items[MediaType] = ("text/plain",)
    """Media types it gives; default text/plain."""
    security_schemes: dict[Text, JsonObject] = Field(default_factory=dict)
    """Ways to authenticate, by name, in the card's own words; a caller needs one of them."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        presented = self.model_copy(update={"enabled": True})
        if not self.enabled and presented != AgentCardSpec():
            expected = "enabled: false excludes all that a card would tell"
            raise fault(expected, remedy="remove the rest of a2a", at=("enabled",))
        for field, modes in (("inputModes", self.input_modes), ("outputModes", self.output_modes)):
            if not modes:
                raise fault("expected at least one media type", at=(field,))
        ids: set[str] = set()
        for index, skill in enumerate(self.skills):
            if skill.id in ids:
                raise fault("ids of skills must be unique", at=("skills", index, "id"))
            ids.add(skill.id)
        for name, scheme in self.security_schemes.items():
            if len(scheme) != 1 or next(iter(scheme)) not in SECURITY_SCHEMES:
                raise fault(
                    f"expected exactly one of {', '.join(SECURITY_SCHEMES)}",
                    found=", ".join(map(repr, scheme)) or "none",
                    at=("securitySchemes", name, KEY),
                )
        return self
