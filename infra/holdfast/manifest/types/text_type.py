"""A type of text, said once: its pattern, its words in the reference, and its errors."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from holdfast.manifest.text.faults import MORE_THAN_NOTHING, fault
from holdfast.manifest.types.text_repairs import nearest_text


@dataclass(frozen=True, slots=True)
class TextType:
    """What a text may be; stands in the annotation of a field, as `Annotated[str, TextType(...)]`.

    Laws: what validation accepts, the published pattern accepts. Without `fault_in`, or where
    `is_exact` says so, the reverse holds, too.

    Attributes:
        pattern: The whole text, `^...$`, in the syntax that Python, JavaScript and RE2 share.
        words: What may stand there, as the reference says it.
        examples: Texts for editors.
        max_characters: Longest text; None without a limit.
        expected: Error for a text that does not fit; default made of the words.
        remedy: What to do about it.
        rule: The policy rule that it would break, where there is one.
        is_hidden: Whether the error keeps the text to itself, since it may be a secret.
        fault_in: Why a text does not fit, in closer words than `expected`; what the pattern cannot
            say is said here alone.
        is_exact: Whether `fault_in` only explains, and refuses nothing that the pattern accepts.
    """

    pattern: str
    words: str
    examples: tuple[str, ...] = ()
    max_characters: int | None = None
    expected: str = ""
    remedy: str = ""
    rule: str = ""
    is_hidden: bool = False
    fault_in: Callable[[str], PydanticCustomError | None] | None = None
    is_exact: bool = False

    def matches(self, value: str) -> bool:
        """Whether a text is what editors accept."""
        is_short = self.max_characters is None or len(value) <= self.max_characters
        return is_short and _compiled(self.pattern).fullmatch(value) is not None

    def fault(self, value: str) -> PydanticCustomError | None:
        """What is wrong with a text; None when nothing is."""
        found = self._own_fault(value)
        if found is None:
            return None
        context = dict(found.context or {})
        if context.get("rule") or context.get("expected") == MORE_THAN_NOTHING:
            return found
        # Only now: most texts fit, and the search for a nearest one is slow.
        context["remedy"] = self._remedy(value, context.get("remedy", ""))
        return fault(**context)

    def _own_fault(self, value: str) -> PydanticCustomError | None:
        if self.fault_in is not None and (found := self.fault_in(value)) is not None:
            return found
        if self.matches(value):
            return None
        return fault(
            self.expected or f"expected {self.words}",
            found="other characters, or too many" if self.is_hidden else repr(value),
            remedy=self.remedy,
            rule=self.rule,
        )

    def _remedy(self, value: str, general: str) -> str:
        """What to write instead: the nearest text that fits, else what helps in general."""
        if self.is_hidden:
            return general
        if near := nearest_text(value, lambda each: self._own_fault(each) is None):
            return f'write "{near}"'
        return general or (f'write it like "{self.examples[0]}"' if self.examples else "")

    def checked(self, value: str) -> str:
        """The text, if it fits.

        Raises:
            PydanticCustomError: it does not.
        """
        is_said_by_pattern = self.is_exact or self.fault_in is None
        if is_said_by_pattern and self.matches(value):
            return value
        if (found := self.fault(value)) is not None:
            raise found
        return value

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ANN401 - pydantic's protocol
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        """Validation as pydantic runs it."""
        return core_schema.no_info_after_validator_function(self.checked, handler(source))

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, __: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """What editors and the API server check."""
        schema: dict[str, Any] = {"type": "string", "pattern": self.pattern}
        if self.max_characters is not None:
            schema["maxLength"] = self.max_characters
        return schema | ({"examples": list(self.examples)} if self.examples else {})


def named(noun: str, why: Callable[[str], str]) -> Callable[[str], PydanticCustomError | None]:
    """Errors such as `name must not be empty`, of a function that says why a text does not fit."""

    def fault_in(value: str) -> PydanticCustomError | None:
        found = why(value)
        return fault(f"{noun} {found}", found=repr(value)) if found else None

    return fault_in


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re.Pattern[str]":
    return re.compile(pattern)
