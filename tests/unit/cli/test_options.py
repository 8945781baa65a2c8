"""The whole tree of verbs: help fits a terminal, and one option means one thing."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import click
import pytest
from holdfast.cli.help_pages import FOLDER, WIDTH_COLUMNS
from holdfast.cli.main import command
from holdfast.cli.verbs import all_verbs

SCREEN_LINES = 40
MOST_OPTIONS: Final = {("drift",): 26, ("policy", "check"): 17}
"""Verbs whose options stand below headings, or exclude each other."""
OF_ONE_VERB: Final = {
    "--address",
    "--from",
    "--kubeconfig",
    "--node",
    "--output",
    "--to",
    "--user",
    "-o",
}
"""Options whose values differ by verb: addresses, sources, files, formats, targets, users."""

VERBS_LOADED = {words: verb.load() for words, verb in all_verbs()}


def options_of(verb: click.Command) -> list[click.Option]:
    return [each for each in verb.params if isinstance(each, click.Option)]


def test_the_first_page_fits_a_screen() -> None:
    with click.Context(command, info_name="holdfast", max_content_width=WIDTH_COLUMNS) as context:
        lines = command.get_help(context).splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= WIDTH_COLUMNS


@pytest.mark.parametrize("words", VERBS_LOADED, ids=" ".join)
def test_a_verb_has_about_a_dozen_options(words: tuple[str, ...]) -> None:
    assert len(options_of(VERBS_LOADED[words])) <= MOST_OPTIONS.get(words, 14)


@pytest.mark.parametrize("words", VERBS_LOADED, ids=" ".join)
def test_every_option_says_what_it_does_in_a_sentence(words: tuple[str, ...]) -> None:
    silent = [each.name for each in options_of(VERBS_LOADED[words]) if not each.help]
    assert silent == []


def test_an_option_takes_the_same_value_on_every_verb() -> None:
    kinds: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for verb in VERBS_LOADED.values():
        for option in options_of(verb):
            for spelling in option.opts:
                kinds[spelling].add((option.type.name, option.is_flag))
    mixed = {spelling for spelling, found in kinds.items() if len(found) > 1}
    assert mixed - OF_ONE_VERB - {"--live"} == set()


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.txt")), ids=lambda page: page.stem)
def test_a_page_fits_the_width_of_a_terminal(page: Path) -> None:
    wide = [line for line in page.read_text().splitlines() if len(line) > WIDTH_COLUMNS]
    assert wide == []


ARCHAIC = r"\b(told|anew|hands?|fights?|mend|for ever|taken up|looked at|whoever|(some|no)body)\b"


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.txt")), ids=lambda page: page.stem)
def test_a_page_uses_words_that_people_search_for(page: Path) -> None:
    assert re.findall(ARCHAIC, page.read_text()) == []
