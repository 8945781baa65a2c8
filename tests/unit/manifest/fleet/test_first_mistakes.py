"""Mistakes of a first manifest: each error leads to the field or form that is right."""

import re
from pathlib import Path

import pytest
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.types.annotations import fields_at
from holdfast.manifest.types.pasted_fields import PLACES, remedy_for_pasted

from tests.unit.manifest.projects import (
    MANIFEST,
    Bad,
    agent,
    assert_refused,
    bad,
    errors_of,
    spec,
    write,
)

SYNTAX = [
    bad("indented too far", spec("owner: a\n version: 1.0.0"), "8:4", "indent it by 2 spaces"),
    bad("no colon, at the key", spec("owner sre\nversion: 1.0.0"), "7:3", 'write "key: value"'),
    bad("no-break space", spec("owner:\u00a0sre\nversion: 1.0.0"), "7:9", "write a plain space"),
    bad(
        "no space after a hyphen",
        spec("container:\n  env:\n    - name: A\n      value: b\n    -name: C"),
        "11:7",
        "begin the entry",
    ),
    bad("open quote, at the quote", spec('owner: "sre\nversion: 1.0.0'), "7:10", "a closing quote"),
    bad("open brace, at the brace", spec("model: {ref: a\nowner: b"), "7:10", "close the brace"),
    bad("open bracket", spec("container:\n  args: [a\nowner: b"), "8:11", "close the bracket"),
    bad(
        "colon in a text", spec("description: Note: this"), "7:20", 'write "Note: this", in quotes'
    ),
    bad("begins with @", spec("owner: @sre"), "7:10", "got '@'", "put the text in quotes"),
    bad("template", spec("owner: {{ .Values.owner }}"), "7:11", "templates are not rendered"),
]

PASTED = [
    bad("containers", spec("containers: []"), "7:3", "one main container", "agent import"),
    bad("template of pods", spec("template: {}"), "7:3", "`holdfast agent import`"),
    bad("probe", spec("livenessProbe: {}"), "7:3", "use container.probes.liveness"),
    bad("pull policy", spec("imagePullPolicy: Always"), "7:3", "remove it"),
    bad(
        "server's own field", agent().replace("}", ", uid: a}", 1), "3:26", "the API server writes"
    ),
    bad("status", agent() + "status: {}\n", "8:1", "the API server writes"),
    bad(
        "key in the wrong case",
        agent().replace("apiVersion", "apiversion"),
        "1:1",
        "rename apiversion to apiVersion",
    ),
    bad(
        "flat resources",
        spec("container: {resources: {cpu: 1}}"),
        "7:27",
        "requests.cpu and limits.cpu",
    ),
    bad("unlike any field", spec("zzz: 1"), "7:3", "`holdfast explain Agent.spec` lists the"),
    bad(
        "a Deployment",
        agent().replace("kind: Agent", "kind: Deployment"),
        "2:7",
        "`holdfast agent import`",
    ),
]

FORMS = [
    bad(
        "env as a map",
        spec("container: {env: {A: b}}"),
        "7:15",
        'write it as a list: [{name: A, value: "',
    ),
    bad(
        "env as KEY=VALUE", spec("container: {env: [A=b]}"), "7:21", 'write {name: A, value: "..."}'
    ),
    bad("prompt as a text", spec("prompt: Hello"), "7:11", "write a mapping with systemMessage"),
    bad("egress of texts", spec("network: {egress: [a.example]}"), "7:22", "a mapping with agent"),
    bad("version as a number", agent().replace("1.0.0", "1.0"), "5:12", 'write it like "1.4.0"'),
    bad("duration as a number", spec("model: {ref: a, timeout: 30}"), "7:28", 'such as "30s"'),
    bad("version with a v", agent().replace("1.0.0", "v1.0.0"), "5:12", "without the v"),
    bad(
        "domain as a URL",
        spec('network: {egress: [{host: "https://a.example/v1"}]}'),
        "7:29",
        'write "a.example"',
    ),
    bad(
        "field of a pod that does not exist",
        spec("container: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nmae}}}]}"),
        "7:65",
        "spec.container.env[0].valueFrom.fieldRef.fieldPath",
        'did you mean "metadata.name"?',
    ),
    bad(
        "size as a number",
        spec("storage: {volumes: [{name: a, mountPath: /a, size: 2}]}"),
        "7:54",
        'add a unit, such as "2Gi"',
    ),
]


@pytest.mark.parametrize("case", [*SYNTAX, *PASTED, *FORMS])
def test_the_error_names_what_to_write_instead(tmp_path: Path, case: Bad) -> None:
    if case.place.endswith(":"):
        write(tmp_path, MANIFEST, case.content)
        first = errors_of(tmp_path).errors[0]
        assert str(first).startswith(f"{MANIFEST}:{case.place}")
        assert all(word in str(first) for word in case.words), str(first)
    else:
        assert_refused(tmp_path, case)


def test_a_date_is_to_be_quoted_and_is_no_number(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, spec("owner: 2026-01-01"))
    assert str(errors_of(tmp_path).errors[0]).endswith('quote it: "2026-01-01"')


def test_a_reference_is_suggested_in_the_form_that_leads_to_it(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, spec("network: {ingressFrom: [front]}"))
    write(tmp_path, "agents/other.yaml", agent("other").replace("other}", "other, namespace: ops}"))
    error = str(errors_of(tmp_path).errors[0])
    assert error.endswith("known: {namespace: ops, name: other}, triage")


@pytest.mark.parametrize("name", ["livenessProbe", "readinessProbe", "strategy", "schedule"])
def test_the_field_that_is_named_instead_exists(name: str) -> None:
    remedy = remedy_for_pasted(name, fields_at(Agent, ("spec",)))
    path = re.findall(r"use ([a-zA-Z.]+)", remedy)[0].split(".")
    assert path[-1] in fields_at(Agent, ("spec", *path[:-1]))


GROUPED = [(name, group) for group, names in PLACES.items() for name in names]


@pytest.mark.parametrize(("name", "group"), GROUPED)
def test_a_field_of_a_group_that_stands_outside_is_led_to_its_group(
    tmp_path: Path, name: str, group: str
) -> None:
    write(tmp_path, MANIFEST, spec(f"{name}: {{}}"))
    (error,) = errors_of(tmp_path).errors
    assert str(error).startswith(f"{MANIFEST}:7:3: spec.{name}: expected a known field")
    assert f"{group}.{name}" in error.remedy
    assert name in fields_at(Agent, ("spec", *group.split(".")))


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        pytest.param("a2a: {}", "write it as card", id="card"),
        pytest.param("podOverrides: {}", "write it as pod.overrides", id="overrides"),
        pytest.param("waitForDependencies: false", "wait: false", id="waiting"),
        pytest.param(
            "container: {lifecycle: {leaderElection: true}}",
            "write it as scaling.leaderElection",
            id="leader",
        ),
        pytest.param(
            "storage: [{name: a, size: 1Gi, mountPath: /a}]",
            "write a mapping with volumes",
            id="a list of volumes",
        ),
        pytest.param("working_dir: /x", "write it as container.workingDir", id="Python's name"),
    ],
)
def test_a_field_under_its_former_name_is_led_to_its_place(
    tmp_path: Path, text: str, remedy: str
) -> None:
    write(tmp_path, MANIFEST, spec(text))
    (error,) = errors_of(tmp_path).errors
    assert remedy in error.remedy


def test_a_spec_has_at_most_thirty_fields() -> None:
    assert len(fields_at(Agent, ("spec",))) <= 30
