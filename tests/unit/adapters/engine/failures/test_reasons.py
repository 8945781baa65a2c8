"""What an API server says of an object that it does not take, as the engine passes it on."""

import pytest
from holdfast.adapters.engine.run.process import Finished
from holdfast.errors import ExitCode

from tests.unit.adapters.engine.failed_runs import error, outcome, told

DENIED = (
    'resource "urn:pulumi:dev::p::kubernetes:apps/v1:Deployment::bee-deployment" was not '
    "successfully created by the Kubernetes API server: {}"
)
BEE = "urn:pulumi:dev::p::kubernetes:apps/v1:Deployment::bee-deployment"
ANT = "urn:pulumi:dev::p::kubernetes:apps/v1:Deployment::ant-deployment"
STACK = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"
NOT_REGISTERED = (
    "Program failed with an unhandled exception:\nTraceback (most recent call last):\n"
    '  File "x.py", line 2, in <module>\n    raise error\n'
    "pulumi.runtime.stack.ResourceRegistrationFailed: resource bee-deployment "
    "[kubernetes:apps/v1:Deployment] failed to register\n"
)
CONFLICT = (
    'the Kubernetes API server reported that "loop/ant" failed to fully initialize or become '
    "live: server-side apply field conflict detected\nThe resource managed by field manager "
    '"holdfast" had an apply conflict: Apply failed with 1 conflict: conflict with "dashboard" '
    "using apps/v1: .spec.replicas\n\n"
)


@pytest.mark.parametrize(
    ("why", "remedy"),
    [
        pytest.param(
            'deployments.apps "bee" is forbidden: exceeded quota: few, requested: count=1',
            "raise quota few or declare less, and run it again",
            id="quota",
        ),
        pytest.param(
            'deployments.apps "bee" is forbidden: unable to create new content in namespace den '
            "because it is being terminated",
            "namespace den is being deleted: 'kubectl get namespace den -o yaml' says which "
            "finalizers it waits for; when it is gone, run this again",
            id="namespace that does not end",
        ),
        pytest.param(
            "deployments.apps \"bee\" is forbidden: ValidatingAdmissionPolicy 'no-bee' with "
            "binding 'no-bee' denied request: no",
            "declare what no-bee asks for, or correct it, and run it again",
            id="admission policy",
        ),
        pytest.param(
            'Internal error occurred: failed calling webhook "w.test": context deadline exceeded',
            "repair the admission webhook w.test, and run it again",
            id="webhook that is late",
        ),
    ],
)
def test_a_refused_resource_says_why_and_what_helps(why: str, remedy: str) -> None:
    result = outcome(error(DENIED.format(why), BEE), error(NOT_REGISTERED, STACK), action="up")
    assert told(Finished(1, "", 1.0), result) == (
        f"up failed: bee-deployment: not created: {why}; {remedy}",
        ExitCode.ERROR,
    )


def test_a_known_reason_hides_no_other_resource_that_failed() -> None:
    result = outcome(
        error(CONFLICT, ANT), error(DENIED.format("no"), BEE), error("update failed", STACK)
    )
    said, _ = told(Finished(1, "", 1.0), result)
    assert "loop/ant: field manager dashboard has changed .spec.replicas" in said
    assert "bee-deployment: not created: no" in said


@pytest.mark.parametrize(
    "message",
    [
        'update of resource "urn:x" failed: serviceaccounts "ant" not found',
        'resource "urn:x" was not successfully created by the Kubernetes API server: '
        'namespaces "den" not found',
    ],
)
def test_what_is_gone_is_recreated_by_a_revert(message: str) -> None:
    said, _ = told(Finished(1, "", 1.0), outcome(error(message, ANT)))
    assert said.endswith("run 'holdfast drift revert -s dev', then this again")


def test_what_was_broken_off_because_of_another_is_not_reported() -> None:
    broken_off = error("failed to run remediation: context canceled", BEE)
    said, _ = told(Finished(1, "", 1.0), outcome(error(CONFLICT, ANT), broken_off))
    assert said.startswith("loop/ant: field manager dashboard has changed .spec.replicas")
    assert "canceled" not in said
