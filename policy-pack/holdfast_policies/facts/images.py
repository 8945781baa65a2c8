"""Image references taken apart: registry, repository, tag and digest.

Source: github.com/distribution/reference, "Grammar", and the defaults of container runtimes.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ImageReference:
    """One image reference.

    Attributes:
        registry: Host and port, lower case; `docker.io` where the reference names none.
        repository: Path in the registry, with `library/` where Docker Hub implies it.
        tag: Empty where there is none.
        digest: As written behind the @; empty where there is none.
    """

    registry: str
    repository: str
    tag: str
    digest: str

    @property
    def is_pinned(self) -> bool:
        """Whether the reference can only ever mean one image."""
        return _DIGEST.fullmatch(self.digest) is not None

    @property
    def names_version(self) -> bool:
        """Whether the tag names a version, and so is not meant to move: it holds a digit."""
        return any(char.isdigit() for char in self.tag)


@lru_cache(maxsize=1024)
def parse_image(reference: str) -> ImageReference:
    """Parts of a reference; of one that is malformed, what can be told."""
    name, _, digest = reference.strip().partition("@")
    first, slash, rest = name.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    registry, path = (first.lower(), rest) if is_host else ("docker.io", name)
    repository, _, tag = path.partition(":")
    if registry in {"docker.io", "index.docker.io", "registry-1.docker.io"}:
        registry = "docker.io"
        repository = repository if "/" in repository else f"library/{repository}"
    return ImageReference(registry, repository, tag, digest)
