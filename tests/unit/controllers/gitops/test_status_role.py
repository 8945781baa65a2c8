"""What a loop may write to tell how its stack is: that, and nothing else."""

from holdfast.controllers.gitops.status_role import status_writer_rbac
from holdfast.drift.reader_role import Reader


def test_only_the_resource_of_the_stack_and_new_events_may_be_written() -> None:
    objects = status_writer_rbac(
        "acme/My_Stack", Reader("holdfast-reconcile-prod", "ci@example.test")
    )
    places = [(one["kind"], one["metadata"].get("namespace", "")) for one in objects]
    assert places == [
        ("ClusterRole", ""),
        ("ClusterRoleBinding", ""),
        ("Role", "default"),
        ("RoleBinding", "default"),
    ]
    rules = [rule for one in objects for rule in one.get("rules", ())]
    assert [(rule["resources"], rule.get("resourceNames"), rule["verbs"]) for rule in rules] == [
        (["agentstacks", "agentstacks/status"], ["my-stack"], ["create", "patch"]),
        (["agentstacks"], ["my-stack"], ["get", "list", "watch"]),
        (["events"], None, ["create"]),
    ]
    assert {one["subjects"][0]["name"] for one in objects if "subjects" in one} == {
        "ci@example.test"
    }
