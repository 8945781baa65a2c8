"""click's parameter type with the type of its values.

Only newer versions of click take that type at run time; in older ones it is for type checkers.
"""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click import ParamType as TypedParameter
else:

    class TypedParameter(click.ParamType):
        """`TypedParameter[str]` converts to text, whatever the version of click."""

        def __class_getitem__(cls, value_type: object) -> type["TypedParameter"]:
            """The class itself: values are not checked at run time."""
            return cls


__all__ = ["TypedParameter"]
