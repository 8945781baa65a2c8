"""Plans with real values to rendered objects, or errors that end a program in plain words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pulumi

from holdfast.errors import RenderError

P = TypeVar("P")
Q = TypeVar("Q")


class UnrenderableError(RenderError, pulumi.RunError):
    """Valid arguments that cannot be rendered; ends a program in its text and no traceback."""


def objects_of(render: Callable[[P], Q], plan: P) -> Q:
    """What a plan renders to.

    Raises:
        UnrenderableError: it needs what is not declared or what the stack does not offer.
    """
    try:
        return render(plan)
    except RenderError as error:
        raise UnrenderableError(error.message, remedy=error.remedy) from error


@dataclass(frozen=True)
class Resolved(Generic[P]):
    """A plan with the values that the outputs have.

    Attributes:
        values: The value of each output.
        secret: Whether each is a secret.
    """

    plan: P
    values: Sequence[Any]
    secret: Sequence[bool]

    def map(self, part: Callable[[P], Q]) -> "Resolved[Q]":
        """The same of a part of the plan."""
        return Resolved(part(self.plan), self.values, self.secret)

    def rendered(self, render: Callable[[P], Q]) -> Q:
        """What it renders to.

        Raises:
            UnrenderableError: the values need what is not declared; no secret is shown.
        """
        try:
            return render(self.plan)
        except RenderError as error:
            texts = [error.message, error.remedy or ""]
            for value, is_secret in zip(self.values, self.secret, strict=True):
                if is_secret and value:
                    texts = [text.replace(str(value), "[secret]") for text in texts]
            raise UnrenderableError(texts[0], remedy=texts[1]) from None
