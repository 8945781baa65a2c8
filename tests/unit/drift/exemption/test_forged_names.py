"""Names of controllers that the audit log contradicts."""

import pytest
from holdfast.drift.exemption.writers import FieldWriter, is_forged
from holdfast.drift.finding import Actor, EvidenceSource
from holdfast.report.text.finding_text import actor_words

CONTROLLER = "kube-controller-manager"


@pytest.mark.parametrize(
    ("manager", "user", "expected"),
    [
        pytest.param(CONTROLLER, "alice@example.test", True, id="a person"),
        pytest.param(CONTROLLER, "system:serviceaccount:cx:support", True, id="an agent's account"),
        pytest.param(CONTROLLER, "system:kube-controller-manager", False, id="the controller"),
        pytest.param(
            CONTROLLER, "system:serviceaccount:kube-system:job-controller", False, id="its account"
        ),
        pytest.param(CONTROLLER, "", False, id="no audit log"),
        pytest.param("cert-manager-cainjector", "bob@example.test", True, id="an injector"),
        pytest.param("kustomize-controller", "bob@example.test", True, id="an engine"),
        pytest.param("kubectl-edit", "bob@example.test", False, id="a name that claims nothing"),
    ],
)
def test_a_name_is_forged_where_the_audit_log_contradicts_it(
    manager: str, user: str, expected: bool
) -> None:
    assert is_forged(FieldWriter(manager, user)) is expected
    source = EvidenceSource.AUDIT if user else EvidenceSource.MANAGED_FIELDS
    shown = actor_words(Actor(manager, "Update", user=user, source=source))
    assert ("(forged name)" in shown) is expected
