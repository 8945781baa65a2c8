"""What a preview would change: each field with its old and new value, and no secret."""

from typing import Any

import pytest
from holdfast.operations.policy.changes import ObjectChange, count_words, planned_changes

from tests.unit.report.policy_runs import (
    DEPLOYMENT,
    ENCRYPTED,
    NEW_IMAGE,
    OLD_IMAGE,
    Places,
    deployment,
    result,
    step,
)

SECRET_URN = "urn:pulumi:dev::holdfast::kubernetes:core/v1:Secret::s"


def changes(*events: Any) -> tuple[ObjectChange, ...]:
    return planned_changes(result(*events), Places().of)


def secret(data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data}


def test_a_changed_image_is_reported_with_both_values_and_its_line() -> None:
    (change,) = changes(step("update", deployment(), deployment(image=NEW_IMAGE)))
    assert (change.ref, change.agent, change.operation) == (DEPLOYMENT, "support-rag", "update")
    assert change.title == "Deployment cx/support-rag updated"
    (field,) = change.fields
    assert field.path == "spec.template.spec.containers[name=agent].image"
    assert (field.before, field.after) == (OLD_IMAGE, NEW_IMAGE)
    assert field.value_lines == (f"- {OLD_IMAGE}", f"+ {NEW_IMAGE}")
    assert str(field.location) == "agents/support-rag.yaml:22:3"


def test_fields_come_and_go() -> None:
    added = deployment(env=[{"name": "MODE", "value": "fast"}])
    (came,) = changes(step("update", deployment(), added))[0].fields[1:]
    assert (came.path, came.before, came.after) == (
        "spec.template.spec.containers[name=agent].env[name=MODE].value",
        None,
        "fast",
    )
    gone = changes(step("update", added, deployment()))[0].fields[-1]
    assert (gone.before, gone.after) == ("fast", None)


@pytest.mark.parametrize("operation", ["create", "delete"])
def test_objects_that_come_or_go_have_no_fields(operation: str) -> None:
    inputs: dict[str, Any] = {"new" if operation == "create" else "old": deployment()}
    (change,) = changes(step(operation, **inputs))
    assert (change.operation, change.fields) == (operation, ())


def test_a_replacement_is_reported_once() -> None:
    old, new = deployment(), deployment(image=NEW_IMAGE)
    told = changes(
        step("create-replacement", old, new),
        step("replace", old, new),
        step("delete-replaced", old),
    )
    assert [(each.operation, len(each.fields)) for each in told] == [("replace", 1)]


def test_what_stays_and_what_is_no_object_is_left_out() -> None:
    component = "urn:pulumi:dev::holdfast::holdfast:index:Agent::a"
    assert changes(step("same", deployment(), deployment()), step("create", urn=component)) == ()


def test_many_lines_are_a_diff() -> None:
    def config(text: str) -> dict[str, Any]:
        meta = {"name": "c", "namespace": "cx"}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a.yaml": text}}

    urn = "urn:pulumi:dev::holdfast::kubernetes:core/v1:ConfigMap::c"
    (change,) = changes(step("update", config("a: 1\nb: 2\n"), config("a: 1\nb: 3\n"), urn=urn))
    assert {"-b: 2", "+b: 3", " a: 1"} <= set(change.fields[0].value_lines)


def test_no_secret_is_shown_those_who_called_it_one() -> None:
    old = deployment(env=[{"name": "API_TOKEN", "value": "hunter2"}])
    new = deployment(env=[{"name": "API_TOKEN", "value": "hunter3"}])
    plain = changes(
        step("update", old, new),
        step("update", secret({"k": "aaa"}), secret({"k": "bbb"}), SECRET_URN),
    )
    assert all(each.fields for each in plain)
    for shown in ("hunter", "aaa", "bbb"):
        assert shown not in repr(plain)
    detailed = {"data": {"diffKind": "update"}}
    (hidden,) = changes(
        step("update", secret(ENCRYPTED), secret(ENCRYPTED), SECRET_URN, detailedDiff=detailed)
    )
    assert [(each.path, each.after) for each in hidden.fields] == [("data", "(masked, changed)")]
    assert "1b47" not in repr(hidden)


def test_a_value_that_only_the_update_knows_says_so() -> None:
    new = deployment(image="04da6b54-80e4-46f7-96ec-b56ff0331ba9")
    assert changes(step("update", deployment(), new))[0].fields[0].after == (
        "(known after the update)"
    )


def test_text_of_a_program_cannot_forge_lines() -> None:
    new = deployment(image="x\x1b[31m")
    assert changes(step("update", deployment(), new))[0].fields[0].after == "x\\e[31m"


def test_fates_are_counted_in_words() -> None:
    told = changes(
        step("update", deployment(), deployment(image=NEW_IMAGE)),
        step("delete", secret({}), urn=SECRET_URN),
    )
    assert count_words(told) == "1 deleted, 1 updated"
    assert count_words(()) == ""
