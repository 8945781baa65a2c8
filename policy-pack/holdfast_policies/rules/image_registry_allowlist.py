"""Images come from registries that someone has chosen."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    breaches,
    containers,
    either,
    field_path,
    listed,
    shown,
    text,
)
from holdfast_policies.facts.images import parse_image

REGISTRIES = Parameter(
    name="registries",
    description=(
        "Registries that images may come from, with port and leading path where wanted: "
        "registry.example, ghcr.io/acme. An empty list allows none."
    ),
    schema={
        "type": "array",
        "items": {
            "type": "string",
            "pattern": r"[a-z0-9][a-z0-9.-]*(:\d+)?(/[a-z0-9][a-z0-9._-]*)*",
            "examples": ["registry.example"],
        },
        "minItems": 1,
    },
    default=["registry.example"],
)


def check(container: Container, settings: Settings) -> Iterator[Breach]:
    """An image from elsewhere; Docker Hub is `docker.io`, also where the image does not say so."""
    image = container.value.get("image")
    reference = parse_image(text(image))
    place = f"{reference.registry}/{reference.repository}/"
    if not any(place.startswith(f"{allowed}/") for allowed in settings["registries"]):
        yield Breach(
            field_path(container.path, "image"),
            got=shown(image),
            required=f"an image from {either(settings['registries']) or 'an allowed registry'}",
            remedy="copy the image there, or add its registry to the parameter registries",
        )


_NAME = 'c.value.?image.orValue("").trim().split("@")[0]'
_NAMES = (
    f'variables.containers.map(c, {{"path": c.path, "name": dyn({_NAME}),'
    f' "first": dyn({_NAME}.split("/")[0])}})'
)
_IS_HOST = (
    'n.name.contains("/")'
    ' && (n.first.contains(".") || n.first.contains(":") || n.first == "localhost")'
)
_HUB = listed(["docker.io", "index.docker.io", "registry-1.docker.io"])


def _of_hub(repository: str) -> str:
    return f'"docker.io/" + ({repository}.contains("/") ? "" : "library/") + {repository}'


_REPOSITORY = 'n.name.split(":")[0]'
_REST = 'n.name.substring(n.first.size() + 1).split(":")[0]'
_PLACES = (
    f'variables.names.map(n, {{"path": n.path, "place": dyn(({_IS_HOST}'
    f" ? (n.first.lowerAscii() in {_HUB} ? {_of_hub(_REST)}"
    f' : n.first.lowerAscii() + "/" + {_REST})'
    f' : {_of_hub(_REPOSITORY)}) + "/")}})'
)
"""CEL: registry and repository of every image, with what Docker Hub implies, and a slash."""


RULE = Rule(
    id="image-registry-allowlist",
    title="Images from known registries",
    description="An image comes from a registry that is not on the list",
    rationale="Whoever can publish the image decides what the agent does.",
    remedy="use an image from a registry on the list",
    source="https://kubernetes.io/docs/concepts/containers/images/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("C5.5.1", "SR-3", "LLM03", "ASI04"),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(REGISTRIES,),
    admission=Admission(
        (
            breaches(
                "variables.places",
                "p",
                '!variables.settings.registries.exists(r, p.place.startsWith(r + "/"))',
                'p.path + ".image"',
                "an image from an allowed registry",
                "p.place",
            ),
        ),
        variables=(("names", _NAMES), ("places", _PLACES)),
    ),
)
