"""Pages that need no network and no script, made from templates.

Everything foreign is escaped by the template engine; each page's own policy forbids scripts and
anything from elsewhere, should that ever fail.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from holdfast import __version__

HEAT_MARKS: Final = {
    "refused": "✕",
    "drifted": "▲",
    "warned": "!",
    "undetermined": "?",
    "waived": "~",
    "passed": "✓",
}
"""What a cell of a heat map shows beside its colour, which not everybody sees."""


@cache
def _environment() -> Environment:
    """Templates, each compiled once."""
    return Environment(
        loader=PackageLoader("holdfast.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def page(
    template: str,
    parts: Mapping[str, Any],
    filters: Mapping[str, Callable[..., Any]] | None = None,
) -> str:
    """A whole page, ending in a line end.

    Args:
        template: Its file among the templates.
        parts: What the template names.
        filters: Words for values, by the name that the template uses.
    """
    environment = _environment()
    environment.filters.update(filters or {})
    found = environment.get_template(template)
    return found.render(**parts, marks=HEAT_MARKS, version=__version__)
