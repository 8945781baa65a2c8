"""`holdfast ci`: what a pipeline does beside the checks themselves. Wiring only."""

import click

from holdfast.cli.command_tree import VERBS, LazyGroup


@click.group(cls=LazyGroup, verbs=VERBS["ci"].below)
def command() -> None:
    """Keep one comment on a change, one issue a stack, and gates before an update.

    Runs in a job of GitHub Actions or GitLab CI and reads from its variables where that is;
    docs/ci.md has whole pipelines.

    \b
    Examples:
      holdfast ci gate -s prod --result gate.json -- holdfast up -s prod
      holdfast ci comment comment.md --marker policy/prod
      holdfast ci issue drift.md --marker drift/prod --title "Drift of stack prod" --code 7
    """
