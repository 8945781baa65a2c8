"""Mistakes of a first manifest: each error leads to the field or form that is right."""

import re
from pathlib import Path

import pytest
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.types.annotations import fields_at
from holdfast.manifest.types.pasted_fields import remedy_for_pasted

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
    bad("indented too far", spec("owner: a\n version: 1.0.0"), "8:11", "indent the line"),
    bad("no colon, at the key", spec("owner sre\nversion: 1.0.0"), "7:3", 'write "key: value"'),
    bad("no-break space", spec("owner:\u00a0sre\nversion: 1.0.0"), "7:9", "write a plain space"),
    bad(
        "no space after a hyphen",
        spec("env:\n  - name: A\n    value: b\n  -name: C"),
        "10:",
        "begin the entry",
    ),
    bad("open quote, at the quote", spec('owner: "sre\nversion: 1.0.0'), "7:10", "a closing quote"),
    bad("open brace, at the brace", spec("model: {ref: a\nowner: b"), "7:10", "close the brace"),
    bad("open bracket", spec("args: [a\nowner: b"), "7:9", "close the bracket"),
    bad("colon in a text", spec("description: Note: this"), "7:20", "quote a text that holds ': '"),
    bad("begins with @", spec("owner: @sre"), "7:10", "got '@'", "put the text in quotes"),
    bad("template", spec("owner: {{ .Values.owner }}"), "7:11", "templates are not rendered"),
]

PASTED = [
    bad("containers", spec("containers: []"), "7:3", "one main container", "agent import"),
    bad("template of pods", spec("template: {}"), "7:3", "`holdfast agent import`"),
    bad("probe", spec("livenessProbe: {}"), "7:3", "use probes.liveness"),
    bad("pull policy", spec("imagePullPolicy: Always"), "7:3", "remove it"),
    bad("server's own field", agent().replace("}", ", uid: a}", 1), "3:", "the API server writes"),
    bad("status", agent() + "status: {}\n", "8:1", "the API server writes"),
    bad(
        "key in the wrong case",
        agent().replace("apiVersion", "apiversion"),
        "1:1",
        "rename apiversion to apiVersion",
    ),
    bad("flat resources", spec("resources: {cpu: 1}"), "7:15", "requests.cpu and limits.cpu"),
    bad("unlike any field", spec("zzz: 1"), "7:3", "`holdfast explain Agent.spec` lists the"),
    bad(
        "a Deployment",
        agent().replace("kind: Agent", "kind: Deployment"),
        "2:7",
        "`holdfast agent import`",
    ),
]

FORMS = [
    bad("env as a map", spec("env: {A: b}"), "7:3", 'write it as a list: [{name: ..., value: "'),
    bad("env as KEY=VALUE", spec("env: [A=b]"), "7:9", 'write {name: A, value: "..."}'),
    bad("prompt as a text", spec("prompt: Hello"), "7:11", "write a mapping with systemMessage"),
    bad("egress as a list", spec("network: {egress: [a.example]}"), "7:21", "a mapping with mode"),
    bad("version as a number", agent().replace("1.0.0", "1.0"), "5:12", 'write it like "1.4.0"'),
    bad("duration as a number", spec("model: {ref: a, timeout: 30}"), "7:28", 'like "30s"'),
    bad("version with a v", agent().replace("1.0.0", "v1.0.0"), "5:12", "without the v"),
    bad(
        "domain as a URL",
        spec('network: {egress: {domains: ["https://a.example/v1"]}}'),
        "7:32",
        "write the domain alone",
    ),
    bad(
        "field of a pod that does not exist",
        spec("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nmae}}}]"),
        "7:53",
        "spec.env[0].valueFrom.fieldRef.fieldPath",
        'did you mean "metadata.name"?',
    ),
    bad(
        "size as a number",
        spec("storage: [{name: a, mountPath: /a, size: 2}]"),
        "7:44",
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
