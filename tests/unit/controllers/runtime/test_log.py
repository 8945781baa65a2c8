"""The log of a controller: structured lines, safe for a terminal, each run under its own id."""

import json
from typing import Any

from holdfast.controllers.runtime.log import Logger, Runs


def test_a_line_is_text_with_its_facts_and_a_level_only_where_it_matters() -> None:
    lines: list[str] = []
    log = Logger(lines.append, as_json=False)
    log("act", agent="rag", done="updated a b", changed=False, reason="")
    log("lost", level="error", reason="no answer")
    assert [line.partition(" ")[2] for line in lines] == [
        'phase=act agent=rag done="updated a b" changed=false',
        'level=error phase=lost reason="no answer"',
    ]


def test_a_json_line_has_its_level_and_the_facts_of_all_lines() -> None:
    lines: list[str] = []
    Logger(lines.append, as_json=True, facts={"stack": "prod"})("act", count=0, names=[])
    document = json.loads(lines[0])
    assert document.pop("time").endswith("Z")
    assert document == {"level": "info", "phase": "act", "stack": "prod", "count": 0}


def test_text_of_a_cluster_moves_no_cursor_and_turns_no_line() -> None:
    for as_json in (False, True):
        lines: list[str] = []
        Logger(lines.append, as_json=as_json)("act", reason="a\u202eb\x1b[2J\nphase=forged")
        (line,) = lines
        assert line.isprintable()


def test_the_lines_of_a_run_share_an_id_and_no_two_runs_do() -> None:
    seen: list[dict[str, Any]] = []

    def log(phase: str, **facts: Any) -> None:
        seen.append({"phase": phase, **facts})

    runs = Runs(log)
    for key in ("a", "b"):
        with runs.begin(["hook"], key=key) as run:
            run.observed(count=1)
            run.log("act")
    assert [each["phase"] for each in seen] == ["observe", "act"] * 2
    assert seen[0]["trigger"] == "hook"
    assert seen[0]["id"] == seen[1]["id"] != seen[2]["id"] == seen[3]["id"]
