"""What is shown of a plan before it is confirmed."""

from holdfast.adapters.engine.results import RunResult, read_result
from holdfast.adapters.engine.run.events import ResourceStep
from holdfast.adapters.engine.state.kept_objects import KeptObject
from holdfast.kube.objects import ObjectRef
from holdfast.operations.deploy.plan_summary import has_changes, is_same_change, summary_lines
from holdfast.operations.deploy.update import UpdatePlan
from msgspec.structs import replace


def step(operation: str, name: str) -> ResourceStep:
    ref = ObjectRef(api_version="v1", kind="ConfigMap", namespace="loop", name=name)
    return ResourceStep(f"urn::{name}", "kubernetes:core/v1:ConfigMap", operation, ref)


def preview(*steps: ResourceStep) -> RunResult:
    counts: dict[str, int] = {}
    for each in steps:
        counts[each.operation] = counts.get(each.operation, 0) + 1
    return replace(read_result("preview", []), counts=counts, steps=steps)


def kept(name: str) -> KeptObject:
    return KeptObject(
        ObjectRef(api_version="v1", kind="ConfigMap", namespace="loop", name=name),
        "uid",
        f"urn::{name}",
    )


def test_what_is_deleted_or_replaced_is_named_and_the_rest_is_counted() -> None:
    found = [step("create", "a"), step("update", "b"), step("replace", "c"), step("delete", "d")]
    plan = UpdatePlan("passed", preview(*found), (), (kept("e"),))
    first, *named = summary_lines(plan)
    assert first == "1 create, 1 delete, 1 keep, 1 replace, 1 update"
    assert named == ["  delete   ConfigMap loop/d", "  replace  ConfigMap loop/c"]


def test_what_is_kept_is_not_named_as_deleted() -> None:
    plan = UpdatePlan("passed", preview(step("delete", "a")), (), (kept("a"),))
    assert not [each for each in summary_lines(plan) if "delete   ConfigMap" in each]


def test_a_long_list_ends_with_the_number_of_the_others() -> None:
    plan = UpdatePlan("passed", preview(*(step("delete", f"d{n:02}") for n in range(23))), ())
    lines = summary_lines(plan)
    assert lines[0] == "23 delete"
    assert lines[-2:] == ("  delete   ConfigMap loop/d19", "  and 3 more")


def test_nothing_to_do_is_no_change_and_what_is_only_kept_is_one() -> None:
    assert not has_changes(UpdatePlan("passed", preview(), ()))
    assert has_changes(UpdatePlan("passed", preview(), (), (kept("a"),)))
    assert has_changes(UpdatePlan("passed", preview(step("update", "a")), ()))


def test_plans_of_equal_counts_for_other_objects_are_not_the_same() -> None:
    one = UpdatePlan("passed", preview(step("update", "a")), ())
    assert is_same_change(one, UpdatePlan("passed", preview(step("update", "a")), ()))
    assert not is_same_change(one, UpdatePlan("passed", preview(step("update", "b")), ()))
    assert not is_same_change(one, UpdatePlan("passed", preview(step("replace", "a")), ()))
