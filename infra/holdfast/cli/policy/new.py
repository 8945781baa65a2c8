"""`holdfast policy new`: the files of an own rule."""

import click

from holdfast.operations.policy.new_rule import new_rule
from holdfast.operations.stack.project import find_project_root


@click.command("new")
@click.argument("rule", metavar="RULE")
def command(rule: str) -> None:
    """Write the files of an own rule: the rule, its cases and its page.

    They go into policy-pack/rules/ of the project; a pack that is not there yet is written too.
    Nothing that exists is changed. RULE is two or more words with hyphens, such as team-label.

    \b
    Example:
      holdfast policy new team-label
      holdfast validate
      holdfast explain team-label
    """
    written = new_rule(find_project_root(), rule)
    for file in (*written.pack_files, *written.files):
        click.echo(f"wrote {file}")
    click.echo("edit the rule and its cases, then run `holdfast validate`", err=True)
