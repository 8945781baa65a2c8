"""Stack files: `stacks/Pulumi.<stack>.yaml`, of which Holdfast reads the keys under `holdfast:`."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.errors import ExitCode, InputError, InvalidFilesError, ManifestError
from holdfast.kube.paths import Path as FieldPath
from holdfast.kube.paths import format_path
from holdfast.manifest.fleet.credential_scan import faults_of_credentials
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.names import stack_names
from holdfast.manifest.text.documents import Document, read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import described
from holdfast.manifest.text.source_text import read_text
from holdfast.manifest.types.validation import suggestion, validate

NAMESPACE = "holdfast:"
PULUMI_KEYS = frozenset(
    {"config", "encryptionsalt", "encryptedkey", "environment", "secretsprovider"}
)
_STACK_NAME = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class StackSettings:
    """What one stack file says to Holdfast.

    Attributes:
        environment: The settings; None when they are not valid.
        overrides: Agent to its partial spec, as raw data.
        origin: Where the values under `holdfast:` were written, by their names without prefix.
        default_namespace: Namespace of agents that name none, even where other settings are faulty.
        errors: What is wrong with the file.
    """

    environment: Environment | None
    overrides: dict[str, Any] = field(default_factory=dict)
    origin: Origin = field(default_factory=lambda: Origin("", 0, 0))
    default_namespace: str = Environment().namespace
    errors: tuple[ManifestError, ...] = ()


def path_in_file(path: FieldPath) -> FieldPath:
    """Path of a setting in the stack file: `cluster` is written `config["holdfast:cluster"]`."""
    return ("config", f"{NAMESPACE}{path[0]}", *path[1:]) if path else ("config",)


def read_stack_file(project_root: Path, stack: str) -> StackSettings:
    """Read the file of one stack; what is wrong with it is returned.

    Args:
        project_root: Folder of Pulumi.yaml.
        stack: Name of the stack, `organization/project/` before it or not.

    Raises:
        InputError: there is no such stack; exit code 6.
    """
    name = stack.rpartition("/")[2]
    file = f"{STACKS_FOLDER}/Pulumi.{name}.yaml"
    path = project_root / file
    if not _STACK_NAME.fullmatch(name) or not path.exists():
        names = stack_names(project_root)
        raise InputError(
            f"no stack {stack!r}: there is no {file}",
            remedy=suggestion(name, names) if names else f"create it in {project_root}",
            exit_code=ExitCode.NO_STACK,
        )
    try:
        content = read_documents(read_text(path, file, inside=project_root), file)
    except ManifestError as error:
        return StackSettings(None, errors=(error,))
    errors = list(content.errors)
    if len(content.documents) > 1:
        extra = content.documents[1].origin.value_location
        found = f"{len(content.documents)} documents"
        remedy = "remove the line of ---; a file of its own for each stack"
        errors.append(
            ManifestError(extra, "", expected="expected one document", found=found, remedy=remedy)
        )
    if not content.documents:
        settings = StackSettings(Environment())
    else:
        settings = _settings(content.documents[0])
    return StackSettings(
        None if errors else settings.environment,
        settings.overrides,
        settings.origin,
        settings.default_namespace,
        (*errors, *settings.errors),
    )


def read_environment(project_root: Path, stack: str) -> Environment:
    """Settings of one stack.

    Raises:
        InputError: there is no such stack; exit code 6.
        InvalidFilesError: they are not valid.
    """
    settings = read_stack_file(project_root, stack)
    if settings.environment is None:
        raise InvalidFilesError(settings.errors)
    return settings.environment


def _settings(document: Document) -> StackSettings:
    data, origin = document.data, document.origin
    if data is None:
        return StackSettings(Environment(), origin=origin)
    if not isinstance(data, dict):
        return StackSettings(None, errors=(_not_a_mapping(data, origin, ""),))
    errors = [
        _unknown_key(
            origin,
            (key,),
            "indent it under config:" if ":" in key else suggestion(key, PULUMI_KEYS),
        )
        for key in data
        if key not in PULUMI_KEYS
    ]
    config = data.get("config") or {}
    place = origin.nearest(("config",))
    if not isinstance(config, dict):
        return StackSettings(None, errors=(*errors, _not_a_mapping(config, place, "config")))
    return _config_settings(config, document, errors)


def _config_settings(
    config: dict[str, Any], document: Document, errors: list[ManifestError]
) -> StackSettings:
    origin = document.origin
    place = origin.nearest(("config",))
    errors += [
        _unknown_key(origin, ("config", key), f'write "{NAMESPACE}{key}"')
        for key in config
        if ":" not in key
    ]
    ours = {
        key.removeprefix(NAMESPACE): value
        for key, value in config.items()
        if key.startswith(NAMESPACE)
    }
    places = place.children if isinstance(place.children, dict) else {}
    children = {name: places[NAMESPACE + name] for name in ours}
    here = place.with_children(children)
    secrets = _encrypted_values(ours, here)
    # Overrides are judged where they take effect: as parts of their agents.
    plain = {key: value for key, value in config.items() if key != f"{NAMESPACE}agents"}
    secrets += faults_of_credentials({"config": plain}, origin)
    errors += secrets
    faulty = document.faulty_paths | {error.path for error in secrets}
    result = validate(Environment, ours, here, faulty_paths=faulty, written=path_in_file)
    overrides = ours.get("agents")
    overrides = overrides if isinstance(overrides, dict) else {}
    named = ours.get("namespace")
    namespace = named if isinstance(named, str) else Environment().namespace
    if isinstance(result, Environment):
        # With errors, what the stack offers is not known.
        return StackSettings(None if errors else result, overrides, here, namespace, tuple(errors))
    return StackSettings(None, overrides, here, namespace, (*errors, *result))


def _encrypted_values(value: object, origin: Origin, path: FieldPath = ()) -> list[ManifestError]:
    if isinstance(value, dict):
        if value.keys() == {"secure"}:
            return [
                ManifestError(
                    origin.value_location,
                    format_path(path_in_file(path)),
                    expected="expected a plain setting",
                    found="an encrypted value",
                    remedy="keep secrets in a Secret, and refer to it by name",
                )
            ]
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value))
    else:
        return []
    return [
        error
        for part, item in entries
        for error in _encrypted_values(item, origin.nearest((part,)), (*path, part))
    ]


def _not_a_mapping(data: object, origin: Origin, path: str) -> ManifestError:
    return ManifestError(
        origin.value_location,
        path,
        expected="expected a mapping with config",
        found=described(data, origin),
        remedy="begin with config:, and keys such as holdfast:cluster under it",
    )


def _unknown_key(origin: Origin, path: FieldPath, remedy: str) -> ManifestError:
    return ManifestError(
        origin.nearest(path).key_location,
        format_path(path),
        expected="expected a known key" if len(path) == 1 else "expected a key with a namespace",
        found=repr(str(path[-1])[:60]),
        remedy=remedy,
    )
