"""Skills: folders with instructions and scripts that an agent reads, pinned to their content."""

from typing import Annotated

from holdfast.manifest.types.manifest_model import ManifestModel
from holdfast.manifest.types.names import PartName
from holdfast.manifest.types.references import Reaches
from holdfast.manifest.types.rules import OneOf, Ruled
from holdfast.manifest.types.values import Commit, DigestReference, InnerPath, Sha256, Text, Url


class GitSource(ManifestModel):
    """A commit of a repository, cloned over HTTPS before the agent starts."""

    url: Annotated[Url, Reaches()]
    """Address of the repository; its host joins the agent's egress."""
    commit: Commit
    """Commit: 40 hexadecimal digits, its own checksum."""


class BucketSource(ManifestModel):
    """An archive (.tar.gz) in a bucket, fetched before the agent starts."""

    url: Annotated[Url, Reaches()]
    """HTTPS address of the object; its host joins the agent's egress."""
    version_id: Text
    """Version of the object, so that a later upload changes nothing."""
    sha256: Sha256
    """Digest of the archive."""


class AgentSkill(Ruled):
    """One skill, mounted read-only at /etc/holdfast/skills/<name>; exactly one source."""

    RULES = (OneOf(("oci", "git", "bucket")),)

    name: PartName
    """Name of the skill and of its folder."""
    oci: DigestReference | None = None
    """Image that holds it, with its digest; mounted as an image volume."""
    git: GitSource | None = None
    """Commit of a repository that holds it."""
    bucket: BucketSource | None = None
    """Archive that holds it."""
    path: InnerPath | None = None
    """Folder inside the source; default its root."""
