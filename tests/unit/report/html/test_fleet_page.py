"""The page of a fleet: whole, bounded, inert, with every link leading somewhere."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from holdfast.operations.describe.fleet import FleetReport
from holdfast.report.html.fleet_page import fleet_page

from tests.unit.report.fleets import (
    BLIND,
    EVERYTHING,
    FINE,
    attacked,
    fleet,
    large_fleet,
)
from tests.unit.report.reports import ATTACKS

MOST_BYTES = 3_000_000
_VOID = frozenset({"meta", "br", "input"})


class _Reader(HTMLParser):
    """Takes a page apart."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.headings: list[int] = []
        self.rows: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        self.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        self.identifiers += [value for name, value in attrs if name == "id" and value]
        self.links += [facts["href"] or ""] if "href" in facts else []
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "tr":
            self.rows.append(str(facts.get("class") or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


EVERY_FLEET = [
    pytest.param(fleet(FINE), id="fine"),
    pytest.param(EVERYTHING, id="every state on three stacks"),
    pytest.param(large_fleet(60, 5), id="by team"),
    pytest.param(fleet(), id="no stack"),
]


@pytest.mark.parametrize("report", EVERY_FLEET)
def test_every_link_leads_to_one_place_on_the_page(report: FleetReport) -> None:
    read = _Reader(fleet_page(report))
    assert read.open == []
    assert len(read.identifiers) == len(set(read.identifiers))
    assert {link.removeprefix("#") for link in read.links} <= set(read.identifiers)
    assert all(link.startswith("#") for link in read.links)


@pytest.mark.parametrize("report", EVERY_FLEET)
def test_headings_go_down_one_step_at_a_time(report: FleetReport) -> None:
    levels = _Reader(fleet_page(report)).headings
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels)), levels


@pytest.mark.parametrize("report", EVERY_FLEET)
def test_a_page_asks_for_nothing_from_anywhere(report: FleetReport) -> None:
    page = fleet_page(report)
    assert "default-src 'none'" in page
    assert not re.findall(r"<(script|link|img|iframe|form|object|embed)\b", page)
    assert not re.findall(r"\b(?:src|srcset|action|poster|on\w+)=", page.split("</style>")[1])
    assert set(re.findall(r"url\(([^)]*)\)", page)) <= {"#tip"}
    assert "@import" not in page


def test_the_page_says_all_that_is_known_of_a_drifted_agent() -> None:
    words = _Reader(fleet_page(EVERYTHING)).words
    for said in (
        "1 of 6 agents drifted, the worst critical",
        "runs 2.0.0",
        "alice@example.test",
        "since 2026-11-19 12:00",
        "image-digest-pinned",
        "claude-sonnet-4-6 Anthropic",
        "agents/support-rag.yaml:14:10",
        "refused: image-digest-pinned",
        "pull request 12",
        "0123456789ab",
        "forbidden: grant list on secrets",
        "not checked: no such context",
    ):
        assert said in words


def test_what_nobody_has_seen_is_nowhere_reported_as_fine() -> None:
    page = fleet_page(fleet(BLIND))
    body = page.split("</header>")[1]
    words = _Reader(page).words
    assert "Not checked: nothing is known about drift of this stack." in words
    assert "Nothing differs" not in words
    assert "Synced" not in body
    assert "0 of 1" in words
    assert 'class="tile"><h3>Drift</h3><b class="unknown">?</b>' in body


def test_an_incomplete_scan_without_drift_does_not_say_that_nothing_differs() -> None:
    seen = large_fleet(3, 1).stacks[0]
    assert not seen.drift.is_complete
    words = _Reader(fleet_page(fleet(seen))).words
    assert "nothing differs" not in words.lower()


def test_five_hundred_agents_stay_readable() -> None:
    page = fleet_page(large_fleet())
    assert len(page.encode()) < MOST_BYTES
    read = _Reader(page)
    agents = [row for row in read.rows if row.startswith("agent")]
    assert len(agents) == 500 + 12, "each once in its team, the most urgent before"
    assert "the 12 most urgent of 500" in read.words
    assert "55 more" not in read.words
    assert "30 more findings none of them worse" in read.words
    assert "8 more teams, none of them worse, are not drawn one by one" in read.words


@pytest.mark.parametrize("text", ATTACKS)
def test_text_of_a_cluster_changes_no_markup(text: str) -> None:
    tags = _Reader(fleet_page(attacked("harmless"))).tags
    assert _Reader(fleet_page(attacked(text))).tags == tags


@pytest.mark.parametrize("text", ATTACKS)
def test_text_of_a_cluster_shows_no_control_character(text: str) -> None:
    page = fleet_page(attacked(text)).split("</style>")[1]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u2028]", page)
