"""Fields of a part of which one is given: declared on the class, checked and published from there.

Validation, the JSON Schema of editors and the schema of the API server all follow from the
declaration, so that none of them accepts what another refuses.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import ManifestModel


@dataclass(frozen=True, slots=True)
class OneOf:
    """Fields of which exactly one is given.

    Attributes:
        fields: Their names in Python; a list counts as given when it is not empty.
        may_be_none: Whether none may be given, too.
        remedy: What to do when it is otherwise.
    """

    fields: tuple[str, ...]
    may_be_none: bool = False
    remedy: str = ""


class Choosing(ManifestModel):
    """A part with fields that exclude each other."""

    CHOICES: ClassVar[tuple[OneOf, ...]] = ()

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for choice in self.CHOICES:
            given = [name for name in choice.fields if getattr(self, name) not in (None, ())]
            if len(given) == 1 or (choice.may_be_none and not given):
                continue
            raise fault(
                _expected(type(self), choice),
                found=_found(type(self), choice, given),
                remedy=choice.remedy,
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The part's schema with its choices; nulls and empty lists count as not given."""
        result = handler(schema)
        if cls.CHOICES:
            place = handler.resolve_ref_schema(result)
            place["allOf"] = [_schema(cls, each, place["properties"]) for each in cls.CHOICES]
        return result


def _schema(
    model: type[Choosing], choice: OneOf, properties: dict[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    alternatives: list[dict[str, Any]] = []
    for name in _written(model, choice.fields):
        field = properties[name]
        is_list = field.get("type") == "array"
        given = {"minItems": 1} if is_list else {"not": {"type": "null"}}
        alternatives.append({"required": [name], "properties": {name: given}})
    if choice.may_be_none:
        alternatives.append({"not": {"anyOf": list(alternatives)}})
    return {"oneOf": alternatives}


def _written(model: type[Choosing], names: tuple[str, ...] | list[str]) -> list[str]:
    """Names of fields as files have them."""
    return [model.model_fields[name].alias or name for name in names]


def _expected(model: type[Choosing], choice: OneOf) -> str:
    names = _written(model, choice.fields)
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    if choice.may_be_none:
        return f"expected at most one of {listed}"
    if len(names) == 2:  # noqa: PLR2004 - either this or that
        return f"expected either {names[0]} or {names[1]}"
    return f"expected exactly one of {listed}"


def _found(model: type[Choosing], choice: OneOf, given: list[str]) -> str:
    is_pair = len(choice.fields) == 2  # noqa: PLR2004 - neither this nor that
    if not given:
        return "neither" if is_pair else "none"
    return "both" if is_pair else " and ".join(_written(model, given))
