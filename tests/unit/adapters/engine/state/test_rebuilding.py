"""A state made of what a plan would create.

Resources taken out of a record leave one that holds together.
"""

import json
from itertools import count
from typing import Any

import pytest
from holdfast.adapters.engine.state.rebuilding import Draft, draft_of, with_former_manager, without
from hypothesis import given
from hypothesis import strategies as st

STACK = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"
PROVIDER = "urn:pulumi:dev::p::pulumi:providers:kubernetes::cluster"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def planned_stack() -> list[dict[str, Any]]:
    provider = {
        "urn": PROVIDER,
        "custom": True,
        "type": "pulumi:providers:kubernetes",
        "parent": STACK,
        "inputs": {"__internal": {}, "context": "dev"},
    }
    return [{"urn": STACK, "type": "pulumi:pulumi:Stack"}, provider]


def planned_map(name: str, depends_on: tuple[str, ...] = (), **data: str) -> dict[str, Any]:
    return {
        "urn": urn(name),
        "custom": True,
        "type": "kubernetes:core/v1:ConfigMap",
        "parent": STACK,
        "provider": f"{PROVIDER}::{UNKNOWN}",
        "dependencies": [urn(each) for each in depends_on],
        "propertyDependencies": {"data": [urn(each) for each in depends_on]},
        "inputs": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": "cx",
                "annotations": {"pulumi.com/patchFieldManager": "holdfast"},
            },
            "data": data,
        },
    }


def urn(name: str) -> str:
    return f"urn:pulumi:dev::p::kubernetes:core/v1:ConfigMap::{name}"


def draft(*objects: dict[str, Any]) -> Draft:
    numbers = count(1)
    return draft_of([*planned_stack(), *objects], lambda: f"id-{next(numbers)}")


def test_an_object_gets_the_identifier_that_it_declares_and_its_provider() -> None:
    _, provider, made = draft(planned_map("one", a="1")).resources

    assert provider["id"] == "id-1"
    assert provider["outputs"] == {"context": "dev"}
    assert (made["id"], made["provider"]) == ("cx/one", f"{PROVIDER}::id-1")
    assert made["outputs"]["__inputs"] == made["inputs"]
    assert made["outputs"]["__fieldManager"] == "holdfast"
    assert made["outputs"]["metadata"]["name"] == "one"
    assert "data" not in made["outputs"]


def test_what_a_plan_does_not_tell_is_left_out_by_name() -> None:
    nameless = planned_map("nameless")
    del nameless["inputs"]["metadata"]["name"]
    other = {**planned_map("other"), "type": "random:index/randomId:RandomId"}

    found = draft(
        planned_map("secret", key="[secret]"),
        planned_map("later", key=UNKNOWN),
        nameless,
        other,
        planned_map("kept", depends_on=("secret", "later")),
    )

    assert found.left_out == (
        "secret: it holds values that the program calls secret",
        "later: it holds values that only an update knows",
        "nameless: it is no Kubernetes object with a name of its own",
        "other: it is no Kubernetes object with a name of its own",
    )
    assert [each["urn"] for each in found.resources[2:]] == [urn("kept")]


def test_what_belongs_to_something_left_out_is_left_out() -> None:
    child = {**planned_map("child"), "parent": urn("secret")}

    found = draft(planned_map("secret", key="[secret]"), child)

    assert found.left_out[1] == "child: what it belongs to is left out"


def test_the_plan_itself_is_not_changed() -> None:
    planned = [*planned_stack(), planned_map("one", depends_on=("gone",))]
    before = json.dumps(planned)

    draft_of(planned, lambda: "id")

    assert json.dumps(planned) == before


@pytest.mark.parametrize(
    ("annotations", "managers", "expected"),
    [
        pytest.param(
            {},
            [("pulumi-kubernetes-0a1b2c3d", "Apply")],
            "pulumi-kubernetes-0a1b2c3d",
            id="the-one-that-the-provider-made-up",
        ),
        pytest.param(
            {"pulumi.com/patchFieldManager": "holdfast"},
            [("pulumi-kubernetes-0a1b2c3d", "Apply")],
            "now",
            id="not-where-the-object-names-one",
        ),
        pytest.param(
            {},
            [("kubectl", "Apply"), ("pulumi-kubernetes-0a1b2c3d", "Update")],
            "now",
            id="not-somebody-elses",
        ),
    ],
)
def test_the_manager_that_only_the_lost_state_knew_is_read_from_the_object(
    annotations: dict[str, str], managers: list[tuple[str, str]], expected: str
) -> None:
    fields = [{"manager": name, "operation": operation} for name, operation in managers]
    metadata = {"name": "one", "annotations": annotations, "managedFields": fields}

    found = with_former_manager({"outputs": {"__fieldManager": "now", "metadata": metadata}})

    assert found["outputs"]["__fieldManager"] == expected


NAMES = st.sampled_from("abcdef")


@given(
    st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=3), st.booleans()), unique_by=lambda e: e[0])
)
def test_a_draft_refers_only_to_what_is_in_it(
    objects: list[tuple[str, list[str], bool]],
) -> None:
    made = [
        planned_map(name, tuple(depends_on), **({"k": "[secret]"} if is_secret else {}))
        for name, depends_on, is_secret in objects
    ]

    found = draft(*made)

    known: set[str] = set()
    for each in found.resources:
        refers = {each["parent"]} if "parent" in each else set()
        refers |= set(each.get("dependencies", ()))
        for urns in each.get("propertyDependencies", {}).values():
            refers |= set(urns)
        assert refers <= known
        known.add(each["urn"])
    assert len(found.resources) + len(found.left_out) == len(made) + 2


FLEET, AGENT, PART, POD, RESOURCE = (f"urn::{name}" for name in ("f", "a", "p", "d", "r"))
RECORD: list[dict[str, Any]] = [
    {"urn": FLEET},
    {"urn": AGENT, "parent": FLEET},
    {"urn": PART, "parent": AGENT},
    {"urn": POD, "parent": PART, "protect": True},
    {
        "urn": RESOURCE,
        "parent": FLEET,
        "dependencies": [AGENT, FLEET],
        "propertyDependencies": {"spec": [POD], "metadata": []},
        "deletedWith": AGENT,
    },
]


def test_what_stands_below_goes_too_and_references_to_it() -> None:
    assert without(RECORD, [AGENT]) == [
        {"urn": FLEET},
        {
            "urn": RESOURCE,
            "parent": FLEET,
            "dependencies": [FLEET],
            "propertyDependencies": {"spec": [], "metadata": []},
        },
    ]


@given(st.sets(st.sampled_from([FLEET, AGENT, PART, POD, RESOURCE, "urn::other"])))
def test_nothing_that_stays_refers_to_what_went(gone: set[str]) -> None:
    kept = without(RECORD, gone)
    names = {each["urn"] for each in kept}
    assert not names & gone
    for each in kept:
        assert each.get("parent", FLEET) in names
        assert set(each.get("dependencies", ())) <= names
        assert each.get("deletedWith", next(iter(names))) in names


def test_nothing_to_take_out_changes_nothing() -> None:
    assert without(RECORD, []) == RECORD
