"""How an agent presents itself to others: the A2A agent card."""

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field

from holdfast.manifest.text.faults import KEY
from holdfast.manifest.types.conditions import Given, Some, Written, is_
from holdfast.manifest.types.manifest_model import Items, JsonObject, ManifestModel
from holdfast.manifest.types.rules import Computed, Found, Rule, Ruled, Unique, finds
from holdfast.manifest.types.values import MediaType, Text, Url

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


_TOLD_BY_A_CARD: Final = (
    "provider",
    "icon_url",
    "documentation_url",
    "skills",
    "capabilities",
    "input_modes",
    "output_modes",
    "security_schemes",
)


class AgentCardSpec(Ruled):
    """The A2A agent card: made from the manifest, and served by the agent."""

    RULES = (
        Rule(
            "no-card-tells-nothing",
            is_("enabled", True) | ~Some(tuple(Written(each) for each in _TOLD_BY_A_CARD)),
            "enabled: false excludes the other fields of card",
            remedy="remove the rest of card",
            at="enabled",
        ),
        Rule(
            "card-input-modes",
            Given("input_modes"),
            "expected at least one media type",
            at="input_modes",
            remedy="add one, such as text/plain, or remove the field",
        ),
        Rule(
            "card-output-modes",
            Given("output_modes"),
            "expected at least one media type",
            at="output_modes",
            remedy="add one, such as text/plain, or remove the field",
        ),
        Rule(
            "card-security-scheme",
            Computed(
                why_not="schemes are in the card's own words, open to the API server",
                fields=("security_schemes",),
            ),
            f"expected exactly one of {', '.join(SECURITY_SCHEMES)}",
            remedy="keep one of them",
        ),
    )

    enabled: bool = True
    """Whether there is a card; default true."""
    provider: Provider | None = None
    """Who offers the agent."""
    icon_url: Url | None = None
    """Picture of the agent."""
    documentation_url: Url | None = None
    """Page about the agent."""
    skills: Annotated[Items[CardSkill], Unique("id")] = ()
    """What the agent can do for others."""
    capabilities: CardCapabilities = CardCapabilities.model_construct()
    """Optional parts of the protocol."""
    input_modes: Items[MediaType] = ("text/plain",)
    """Media types it takes; default text/plain."""
    output_modes: Items[MediaType] = ("text/plain",)
    """Media types it gives; default text/plain."""
    security_schemes: dict[Text, JsonObject] = Field(default_factory=dict)
    """Ways to authenticate, by name, in the card's own words; a caller needs one of them."""


@finds("card-security-scheme")
def _unknown_schemes(card: AgentCardSpec) -> Iterator[Found]:
    for name, scheme in card.security_schemes.items():
        if len(scheme) != 1 or next(iter(scheme)) not in SECURITY_SCHEMES:
            yield Found(("securitySchemes", name, KEY), ", ".join(map(repr, scheme)) or "none")
