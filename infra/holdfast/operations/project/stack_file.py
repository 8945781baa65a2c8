"""The file of a new stack, as people write one: what a cluster said, and what is left to say."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

import msgspec

from holdfast.manifest.stack.controllers import CONTROLLERS
from holdfast.operations.project.survey import WITHOUT_KINDS, ClusterSurvey
from holdfast.sandbox.paths import CONTEXT_PREFIX, DEFAULT_NAME

_WIDTH: Final = 110
SANDBOX_CONTEXT: Final = f"{CONTEXT_PREFIX}{DEFAULT_NAME}"
"""Context of the stack where no cluster is named."""
_OTHER_SCALARS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that are no text in YAML."""
_HEAD: Final = """\
# yaml-language-server: $schema=../docs/schema/stack.schema.json
# One file per environment holds everything that differs between them.
config:
"""
_NAMESPACES: Final = """\
  # The namespaces are there: the stack does not declare them.
  holdfast:namespaces: existing
"""
_POLICY: Final = """\
  # Levels of the rules: dev advises where prod refuses.
  holdfast:policy: {profile: dev}
"""


def stack_file_text(stack: str, survey: ClusterSurvey | None, *, is_existing: bool = False) -> str:
    """The text of `stacks/Pulumi.<stack>.yaml`.

    Args:
        stack: Its name.
        survey: What its cluster said; None for the sandbox of this machine.
        is_existing: Its agents run already, in namespaces that others made.
    """
    context = SANDBOX_CONTEXT if survey is None else survey.context
    named = f"context: {_quoted(context)}, " if context else ""
    cluster = f"  holdfast:cluster: {{{named}identifier: {_quoted(stack)}}}\n"
    namespaces = _NAMESPACES if is_existing else ""
    surveyed = "".join(_surveyed(survey)) if survey else ""
    return _HEAD + cluster + namespaces + surveyed + _POLICY


def _surveyed(survey: ClusterSurvey) -> Iterator[str]:
    unseen = " and ".join((", ".join(WITHOUT_KINDS[:-1]), WITHOUT_KINDS[-1]))
    if survey.controllers:
        titles = ", ".join(CONTROLLERS[name].title for name in survey.controllers)
        yield from _comment(
            f"The cluster serves the kinds of {titles}. It cannot be asked for {unseen}."
        )
        yield f"  holdfast:controllers: [{', '.join(survey.controllers)}]\n"
    else:
        yield from _comment(
            f"The cluster serves Kubernetes' own kinds only. It cannot be asked for {unseen}."
        )
    if survey.api_server:
        ranges = ", ".join(f'"{each}"' for each in survey.api_server)
        yield "  holdfast:network:\n"
        yield f"    apiServer: {{cidrs: [{ranges}], port: {survey.api_server_port}}}\n"


def _comment(text: str) -> Iterator[str]:
    for line in wrap(text, _WIDTH):
        yield f"  # {line}\n"


def _quoted(text: str) -> str:
    """A plain scalar where every reader takes it as this text; quoted as in JSON otherwise."""
    plain = text.replace("-", "").replace(".", "").replace("_", "")
    is_plain = text[:1].isalpha() and plain.isalnum() and plain.isascii()
    if is_plain and text.lower() not in _OTHER_SCALARS:
        return text
    return msgspec.json.encode(text).decode()
