"""Which stacks a project has, by their files alone; loads no models: a shell completes by it."""

from pathlib import Path

from holdfast.manifest.fleet.project_files import STACKS_FOLDER


def stack_names(project_root: Path) -> list[str]:
    """Names of the stacks that have a file, sorted."""
    files = (project_root / STACKS_FOLDER).glob("Pulumi.*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)
