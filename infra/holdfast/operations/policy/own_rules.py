"""The rules of a project whose manifests nobody has read."""

from pathlib import Path

from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet

from holdfast.errors import InputError, InvalidFilesError, ManifestError
from holdfast.manifest.fleet.rule_files import read_own_rules
from holdfast.operations.stack.project import find_project_root
from holdfast.render.objects.rule_set import rules_of_files


def rules_of_project(root: Path | None) -> RuleSet:
    """The rules of the pack, and those of a project.

    Args:
        root: Folder of Pulumi.yaml; None outside of any project.

    Raises:
        InvalidFilesError: an own rule cannot be evaluated.
    """
    if root is None:
        return SHIPPED_RULES
    try:
        return rules_of_files(read_own_rules(root))
    except ManifestError as error:
        raise InvalidFilesError([error]) from error


def rules_here() -> RuleSet:
    """The rules of the project around the working directory; those of the pack outside of any.

    Raises:
        InvalidFilesError: an own rule cannot be evaluated.
    """
    try:
        root = find_project_root()
    except InputError:
        return SHIPPED_RULES
    return rules_of_project(root)
