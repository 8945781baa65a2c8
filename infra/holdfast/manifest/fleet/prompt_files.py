"""System messages that stand in text files beside the manifests."""

from pathlib import Path, PurePosixPath
from typing import Any

from holdfast.errors import ManifestError
from holdfast.manifest.fleet.project_files import note_link
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.source_text import read_text

MAX_PROMPT_BYTES = 256 * 1024
SOURCE_PATH = ("prompt", "systemMessageFrom", "file")
_SUFFIXES = (".md", ".txt")
_FIELD = "spec.prompt.systemMessageFrom.file"


def with_prompt_text(
    spec: Any,  # noqa: ANN401 - raw data of any shape
    origin: Origin,
    project_root: Path,
) -> tuple[Any, Origin, list[ManifestError]]:
    """Replace `prompt.systemMessageFrom.file` in a raw spec by the text of the file.

    The file must be a regular UTF-8 file inside the project after resolving links; the text is
    taken literally. The spec itself is not changed; anything else than a text at this path is left
    for validation to complain about.

    Args:
        spec: Raw spec of an agent, of any shape.
        origin: Where its values were written.
        project_root: Resolved folder of the project.

    Returns:
        The spec, its origin, and what is wrong with the file.
    """
    prompt = _entry(spec, "prompt")
    source = _entry(prompt, "systemMessageFrom")
    name = _entry(source, "file")
    if not isinstance(name, str) or not name or len(source) > 1 or "systemMessage" in prompt:
        return spec, origin, []
    place = origin.nearest(SOURCE_PATH)
    folder = (project_root / place.file).parent
    try:
        path = _inside_project(name, folder, project_root, place)
        file = path.relative_to(project_root).as_posix()
        text = read_text(path, file, max_bytes=MAX_PROMPT_BYTES)
    except ManifestError as error:
        return spec, origin, [_at(place, error)]
    remaining = {key: value for key, value in prompt.items() if key != "systemMessageFrom"}
    message = Origin(file, 1, 1, place.key_line, place.key_column)
    prompt_origin = origin.nearest(("prompt",))
    return (
        {**spec, "prompt": {**remaining, "systemMessage": text}},
        origin.with_child("prompt", prompt_origin.with_child("systemMessage", message)),
        [],
    )


def _entry(mapping: Any, key: str) -> Any:  # noqa: ANN401 - raw data of any shape
    return mapping.get(key) if isinstance(mapping, dict) else None


def _inside_project(name: str, folder: Path, project_root: Path, place: Origin) -> Path:
    expected = "expected a file inside the project"
    if PurePosixPath(name).is_absolute() or "\0" in name:
        raise ManifestError(
            place.value_location,
            _FIELD,
            expected=expected,
            found=repr(name[:80]),
            remedy="give a path relative to this manifest",
        )
    try:
        path = (folder / name).resolve()
    except (OSError, RuntimeError) as error:
        raise ManifestError(
            place.value_location,
            _FIELD,
            expected="expected a readable file",
            found=f"{name[:80]!r}, a loop of links",
            remedy="give a path relative to this manifest",
        ) from error
    note_link(folder / name, str(path))
    if not path.is_relative_to(project_root):
        raise ManifestError(
            place.value_location,
            _FIELD,
            expected=expected,
            found=f"{name[:80]!r}, which is outside the project",
            remedy="copy the text into the project",
        )
    inner = path.relative_to(project_root)
    is_text = inner.suffix in _SUFFIXES or path.is_dir()
    if not is_text or any(part.startswith(".") for part in inner.parts):
        # Files such as .git/config hold credentials, and a prompt is readable in the cluster.
        raise ManifestError(
            place.value_location,
            _FIELD,
            expected=f"expected a file of text ({', '.join(_SUFFIXES)}) that is not hidden",
            found=repr(name[:80]),
            remedy="name a file of that kind, in no folder that begins with a dot",
        )
    return path


def _at(place: Origin, error: ManifestError) -> ManifestError:
    if error.path:
        return error
    return ManifestError(
        place.value_location,
        _FIELD,
        expected=f"{error.location.file}: {error.expected}",
        found=error.found,
        remedy=error.remedy,
    )
