"""YAML that is broken, dangerous or ambiguous is refused at its place, with what to do about it."""

from pathlib import Path

import pytest
from holdfast.manifest.fleet.loader import load_fleet

from tests.unit.manifest.projects import (
    IMAGE,
    MANIFEST,
    STACK,
    Bad,
    agent,
    assert_refused,
    bad,
    spec,
    write,
)

NOT_A_MAPPING = "expected a mapping with apiVersion, kind, metadata and spec"
NO_ANCHORS = "anchors are not allowed"
NO_BOM = "without byte order mark"

DOCUMENTS = [
    bad("1 empty file", "", "1:1", NOT_A_MAPPING, "got nothing"),
    bad("2 only comments", "# nothing\n", "1:1", NOT_A_MAPPING, "got nothing"),
    bad("3 only a separator", "---\n", "2:1", NOT_A_MAPPING, "got nothing"),
    bad("4 scalar at top level", "agent\n", "1:1", NOT_A_MAPPING, "got the text 'agent'"),
    bad("4 list at top level", "- agent\n", "1:1", NOT_A_MAPPING, "got a list"),
    bad(
        "5 duplicate key at top",
        agent() + "kind: Agent\n",
        "8:1",
        "'kind' given twice",
        "lines 2 and 8",
    ),
    bad(
        "6 duplicate key, nested",
        spec("owner: a\nowner: b"),
        "8:3",
        "'owner' given twice",
        "lines 7 and 8",
    ),
    bad(
        "7 duplicate key in JSON",
        f"""{{"apiVersion": "holdfast.dev/v1alpha1",
              "kind": "Agent",
              "metadata": {{"name": "triage"}},
              "spec": {{"version": "1.0.0",
                       "image": "{IMAGE}",
                       "version": "1.0.0"}}}}""",
        "6:24",
        "'version' given twice, lines 4 and 6",
        file="agents/triage.json",
    ),
    bad(
        "8 alias",
        spec("container:\n  args: &common [serve]\n  command: *common"),
        "8:11",
        NO_ANCHORS,
        "write the value out",
    ),
    bad(
        "9 merge key",
        spec("container:\n  resources:\n    <<: {limits: {}}"),
        "9:7",
        "merge keys are not allowed",
    ),
    bad("10 self-reference", "&a [*a]", "1:1", NO_ANCHORS),
    bad(
        "17 python tag",
        spec("container: {args: !!python/object/apply:os.system [id]}"),
        "7:21",
        "tag not allowed",
        "os.system",
    ),
    bad("18 own tag", spec("owner: !team sre"), "7:10", "tag not allowed", "!team"),
    bad("19 binary", spec("owner: !!binary c3Jl"), "7:10", "tag not allowed", "binary"),
    bad("19 set", spec("container: {args: !!set {a, b}}"), "7:21", "tag not allowed", "set"),
]

AMBIGUOUS = [
    bad(
        f"{row} {text}",
        spec(f"owner: {text}"),
        "7:10",
        f"got {text} (read as {kind})",
        f'quote it: "{text}"',
    )
    for row, text, kind in (
        (20, "NO", "bool"),
        (20, "on", "bool"),
        (21, "017", "octal int"),
        (21, "089", "int"),
        (22, "1_000", "int"),
        (23, "12:30:45", "base-60 int"),
        (24, "2026-01-01", "date"),
        (24, "2026-01-01 12:00:00", "date"),
        (25, "1e3", "float"),
        (26, ".nan", "float"),
        (26, "-.inf", "float"),
        (27, "0x1F", "int"),
        (27, "0o17", "octal int"),
        (27, "12345678901234567", "int"),
    )
] + [
    bad(
        "number where text is wanted",
        spec("owner: 1.10"),
        "7:10",
        "expected text, got the number 1.10",
        'quote it: "1.10"',
    ),
    bad(
        "bool where text is wanted",
        spec("owner: true"),
        "7:10",
        "expected text, got true",
        'quote it: "true"',
    ),
    bad(
        "28 integer key",
        spec("pod: {nodeSelector: {1: a}}"),
        "7:24",
        "keys must be strings",
        "1 (read as int)",
        'quote it: "1"',
    ),
    bad(
        "28 boolean key",
        spec("pod: {nodeSelector: {on: a}}"),
        "7:24",
        "keys must be strings",
        "on (read as bool)",
    ),
    bad(
        "29 complex key",
        spec("pod:\n  nodeSelector:\n    ? [a]\n    : b"),
        "9:9",
        "keys must be strings",
        "a list or mapping",
    ),
    bad(
        "30 null key",
        spec("pod: {nodeSelector: {~: a}}"),
        "7:24",
        "keys must be strings",
        "~ (read as null)",
    ),
    bad(
        "30 empty key",
        spec("pod:\n  nodeSelector:\n    ? \n    : a"),
        "9:8",
        "keys must be strings",
        "an empty key",
    ),
]

ENCODING = [
    bad("31 byte order mark", b"\xef\xbb\xbf" + agent().encode(), "1", "offset 0", NO_BOM),
    bad("32 UTF-16", agent().encode("utf-16"), "1", "expected UTF-8", "offset 0", NO_BOM),
    bad("32 UTF-16 without mark", "a: b".encode("utf-16-le"), "1", "U+0000 at offset 1"),
    bad(
        "33 lone surrogate",
        agent().encode() + b"# \xed\xa0\x80",
        "8",
        "0xed at offset 203",
        "expected UTF-8",
    ),
    bad("33 lone surrogate, escaped", spec(r'owner: "\ud800"'), "7:13", "Unicode"),
    bad("34 NUL byte", agent().encode() + b"# \0", "8", "U+0000 at offset 203"),
    bad("C1 control character", spec("owner: a\x9bb"), "7", "U+009B at offset"),
    bad("line separator of YAML 1.1", spec("owner: a\u2028b"), "7", "U+2028 at offset"),
    bad("35 tab indent", "a:\n\tb: 1\n", "2:1", "tab", "indent with spaces"),
    bad(
        "37 several documents",
        "config: {}\n---\nconfig: {}\n",
        "3:1",
        "expected one document, got 2 documents",
        file=STACK,
    ),
]


@pytest.mark.parametrize("case", [*DOCUMENTS, *AMBIGUOUS, *ENCODING])
def test_bad_yaml_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


ACCEPTED = [
    pytest.param(agent().replace("\n", "\r\n").encode(), "triage", id="36 CRLF"),
    pytest.param(agent("alpha") + "---\n" + agent("triage"), "alpha", id="37 two documents"),
    pytest.param(agent('"on"'), "on", id="quoted words are text"),
    pytest.param(
        spec("container: {env: [{name: A, value: 1.0.0}]}"), "triage", id="a version is text"
    ),
    pytest.param(
        spec("container: {env: [{name: A, value: 8080:80}]}"), "triage", id="a port mapping is text"
    ),
]


@pytest.mark.parametrize(("content", "first"), ACCEPTED)
def test_what_looks_odd_but_is_fine_is_accepted(
    tmp_path: Path, content: str | bytes, first: str
) -> None:
    write(tmp_path, MANIFEST, content)
    assert load_fleet(tmp_path).agents[0].name == first
