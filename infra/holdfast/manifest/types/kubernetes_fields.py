"""Fragments in the words of the Kubernetes API: every field of theirs must exist there.

Source: the types of Kubernetes' own OpenAPI documents, as `holdfast.kube.structure` has them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from holdfast.kube.merging import REMOVAL
from holdfast.kube.scalars import parse_quantity
from holdfast.kube.semantics import builtin_types
from holdfast.kube.structure import Shape, Structure
from holdfast.kube.syntax import fault_in_label_name
from holdfast.manifest.text.faults import FAULT, KEY, fault
from holdfast.manifest.types.validation import suggestion
from holdfast.manifest.types.values import IMAGE_NAME


def fault_in_fragment(
    value: object,
    structure: Structure,
    path: tuple[str | int, ...] = (),
    *,
    may_remove: bool = False,
) -> PydanticCustomError | None:
    """The first thing in a fragment that the API does not know, with its path; None if it is fine.

    Args:
        value: Plain data.
        structure: What the API has in its place.
        path: Where the value stands in the fragment.
        may_remove: Whether {$patch: delete} may stand in place of a value.
    """
    if may_remove and path and value == REMOVAL:
        return None
    if value is None:
        remedy = "write {$patch: delete} to remove what is rendered" if may_remove else "remove it"
        return fault("expected a value", found="null", remedy=remedy, at=path)
    return _fault_by_shape(value, structure, path, may_remove=may_remove)


def _fault_by_shape(
    value: object, structure: Structure, path: tuple[str | int, ...], *, may_remove: bool
) -> PydanticCustomError | None:
    if structure.shape is Shape.UNKNOWN:
        return None
    if structure.shape is Shape.SCALAR:
        return _fault_in_scalar(value, structure.notation, path)
    if structure.shape is Shape.LIST:
        return _fault_in_list(value, structure, path, may_remove=may_remove)
    if not isinstance(value, Mapping):
        return fault("expected a mapping", found=repr(value), at=path)
    return _fault_in_mapping(value, structure, path, may_remove=may_remove)


def _fault_in_list(
    value: object, structure: Structure, path: tuple[str | int, ...], *, may_remove: bool
) -> PydanticCustomError | None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return fault("expected a list", found=repr(value), at=path)
    found = (
        fault_in_fragment(item, structure.item, (*path, index), may_remove=may_remove)
        for index, item in enumerate(value)
    )
    return next(filter(None, found), None)


def _fault_in_mapping(
    value: Mapping[str, Any], structure: Structure, path: tuple[str | int, ...], *, may_remove: bool
) -> PydanticCustomError | None:
    for name, inner in value.items():
        if may_remove and (name, inner) in REMOVAL.items():
            continue
        if not structure.knows(name):
            return fault(
                "expected a field of the Kubernetes API",
                found=repr(name),
                remedy=suggestion(name, structure.names),
                at=(*path, name, KEY),
            )
        found = fault_in_fragment(
            inner, structure.field(name), (*path, name), may_remove=may_remove
        )
        if found is not None:
            return found
    return None


def _fault_in_scalar(
    value: object, notation: str, path: tuple[str | int, ...]
) -> PydanticCustomError | None:
    expected = {
        "string": "text",
        "boolean": "true or false",
        "integer": "an integer",
        "number": "a number",
        "quantity": 'a quantity such as "512Mi"',
        "int-or-string": "an integer or text",
    }.get(notation)
    if expected is None or _FITS[notation](value):
        return None
    return fault(f"expected {expected}", found=repr(value), at=path)


def _is_quantity(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        parse_quantity(value)
    except ValueError:
        return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_FITS: Final[dict[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    # Callers in other languages send whole numbers as floats.
    "integer": lambda value: _is_number(value) and value == int(value),  # type: ignore[call-overload]  # a number, by then
    "number": _is_number,
    "quantity": _is_quantity,
    "int-or-string": lambda value: isinstance(value, str) or _is_number(value),
}


def structure_named(type_name: str) -> Structure:
    """Structure of a built-in type, such as `core.v1.Container`."""
    return Structure(type_name, builtin_types())


def fragment_of(type_name: str, *, may_remove: bool = False) -> AfterValidator:
    """Check of a field that holds a fragment of an API type, such as `core.v1.Affinity`."""

    def checked(value: dict[str, Any]) -> dict[str, Any]:
        structure = structure_named(type_name)
        if found := fault_in_fragment(value, structure, may_remove=may_remove):
            raise found
        return value

    return AfterValidator(checked)


Affinity = Annotated[dict[str, Any], fragment_of("core.v1.Affinity")]
Toleration = Annotated[dict[str, Any], fragment_of("core.v1.Toleration")]
TopologySpreadConstraint = Annotated[
    dict[str, Any], fragment_of("core.v1.TopologySpreadConstraint")
]
PodSecurityContext = Annotated[dict[str, Any], fragment_of("core.v1.PodSecurityContext")]
SecurityContext = Annotated[dict[str, Any], fragment_of("core.v1.SecurityContext")]
PodSpecChange = Annotated[dict[str, Any], fragment_of("core.v1.PodSpec", may_remove=True)]
"""Laid over the rendered PodSpec: {$patch: delete} in place of a value removes it."""


def _with_name_and_image(value: dict[str, Any]) -> dict[str, Any]:
    for field in ("name", "image"):
        if not isinstance(value.get(field), str):
            raise fault("this field is required", remedy=f"add {field}", at=(field,))
    if found := fault_in_label_name(value["name"]):
        raise fault(f"name {found}", found=repr(value["name"]), at=("name",))
    if error := IMAGE_NAME.fault(value["image"]):
        raise PydanticCustomError(FAULT, "{expected}", {**(error.context or {}), "at": ("image",)})
    return value


ExtraContainer = Annotated[
    dict[str, Any], fragment_of("core.v1.Container"), AfterValidator(_with_name_and_image)
]
"""A container beside the agent's, in the words of the Kubernetes API."""
