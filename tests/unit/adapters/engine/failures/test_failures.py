"""Texts as the engine wrote them; the end-to-end tests see it write them again."""

import pytest
from holdfast.adapters.engine.failures.failures import command_failure, run_failure
from holdfast.adapters.engine.results import RunRecorder
from holdfast.adapters.engine.run.events import (
    Diagnostic,
    PolicyViolation,
    ResourceStep,
    StepDone,
    StepStarted,
)
from holdfast.adapters.engine.run.process import Finished
from holdfast.errors import ExitCode

from tests.unit.adapters.engine.failed_runs import error, outcome, told

UNREACHABLE = "configured Kubernetes cluster is unreachable: "
TRACEBACK = (
    "Program failed with an unhandled exception:\nTraceback (most recent call last):\n"
    '  File "x.py", line 2, in <module>\n    raise error\n\nThe above exception was the cause:\n\n'
    'Traceback (most recent call last):\n  File "y.py", line 2, in <module>\n    raise error\n{0}\n'
)


def test_a_timed_out_update_says_what_it_has_done_and_what_is_unfinished() -> None:
    recorder = RunRecorder("up")
    for name in ("settings", "web", "worker"):
        step = ResourceStep(f"urn:pulumi:dev::p::t::{name}", "t", "create", None, (), ())
        recorder.add(StepStarted(step))
        if name == "settings":
            recorder.add(StepDone(step))

    error = run_failure("dev", Finished(-9, "", 90.0, timed_out=True), recorder.result(90.0))

    assert error is not None
    assert error.message == (
        "up timed out after 90 s with 1 resource changed; unfinished: create web; create worker; "
        "it was killed: run 'holdfast up -s dev --recover' to resume"
    )


def test_a_command_that_times_out_says_so() -> None:
    error = command_failure("stack export", "dev", Finished(-9, "", 600.4, timed_out=True))
    assert error is not None
    assert (error.message, error.exit_code) == (
        "'pulumi stack export' timed out after 600 s",
        ExitCode.TIMEOUT,
    )


def test_success_is_no_failure() -> None:
    assert run_failure("dev", Finished(0, "", 1.0), outcome()) is None
    assert command_failure("stack export", "dev", Finished(0, "", 1.0)) is None


@pytest.mark.parametrize(
    ("said", "message", "code"),
    [
        pytest.param(
            "error: no stack named 'dev' found",
            "this backend has no stack named dev; run 'pulumi stack init dev', or see "
            "'pulumi stack ls'",
            ExitCode.NO_STACK,
            id="no-stack",
        ),
        pytest.param(
            "error: \n=====\nLegacy DIY state is deprecated, please upgrade your state to project "
            "mode using:\n'pulumi state upgrade'\n",
            "the state of stack dev lies in the layout of Pulumi before 3.61, which this Pulumi "
            "does not read; keep a copy of the backend's folder or bucket, then run "
            "'PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR=1 pulumi state upgrade'",
            ExitCode.ERROR,
            id="legacy-layout",
        ),
        pytest.param(
            "error: getting stack configuration: get stack secrets manager: incorrect passphrase",
            "the passphrase of stack dev is wrong; set PULUMI_CONFIG_PASSPHRASE or "
            "PULUMI_CONFIG_PASSPHRASE_FILE; after a 'pulumi stack change-secrets-provider' the new "
            "one, with the stack file that it wrote",
            ExitCode.AUTHENTICATION,
            id="wrong-passphrase",
        ),
        pytest.param(
            "error: get stack secrets manager: passphrase must be set with "
            "PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
            "the passphrase of stack dev is not set; set PULUMI_CONFIG_PASSPHRASE or "
            "PULUMI_CONFIG_PASSPHRASE_FILE, an empty one too",
            ExitCode.AUTHENTICATION,
            id="no-passphrase",
        ),
        pytest.param(
            "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
            "the backend of stack dev does not accept the login; run 'pulumi login', or set "
            "PULUMI_BACKEND_URL or PULUMI_ACCESS_TOKEN",
            ExitCode.AUTHENTICATION,
            id="not-logged-in",
        ),
        pytest.param(
            "error: Pulumi CLI version 3.259.0 does not satisfy the version range >=3.300.0",
            "the project asks for Pulumi >=3.300.0, this is 3.259.0; update Pulumi, or unset "
            "HOLDFAST_PULUMI",
            ExitCode.ERROR,
            id="version-range",
        ),
        pytest.param(
            "error: Stack 'dev' is missing configuration value 'e1:tier'",
            "stack dev has no value for e1:tier; run 'pulumi config set -s dev e1:tier <value>'",
            ExitCode.BAD_INPUT,
            id="missing-configuration",
        ),
        pytest.param(
            "error: snapshot integrity failure; refusing to use it: resource x",
            "the state of stack dev is damaged; run 'pulumi state repair -s dev', or 'holdfast "
            "recover -s dev --replace'",
            ExitCode.ERROR,
            id="damaged-state",
        ),
        pytest.param(
            "error: failed to load checkpoint: place 1: unexpected EOF",
            "the state of stack dev cannot be read, it may be cut off (place 1: unexpected EOF)"
            "; run 'holdfast recover -s dev'",
            ExitCode.ERROR,
            id="cut-off-state",
        ),
        pytest.param(
            "error: failed to load checkpoint: unsupported checkpoint version 99",
            "the state of stack dev has format 99, which a newer Pulumi has written; update Pulumi",
            ExitCode.ERROR,
            id="newer-state",
        ),
        pytest.param(
            "error: mkdir /home/ann/state/.pulumi/locks/organization/p: permission denied",
            "the state of stack dev cannot be written: /home/ann/state/.pulumi/locks/"
            "organization/p: permission denied; correct that, then run 'holdfast up -s dev "
            "--recover'",
            ExitCode.ERROR,
            id="backend-not-writable",
        ),
        pytest.param(
            'error: saving update info: blob (key "x") (code=Unknown): mkdir '
            "/s/.pulumi/history/p/dev: no space left on device",
            "all of it was done and is saved, but the history of stack dev cannot be written: "
            "/s/.pulumi/history/p/dev: no space left on device; correct that, and run it again "
            "to have it recorded",
            ExitCode.ERROR,
            id="history-not-writable",
        ),
    ],
)
def test_known_failures_before_the_run_are_explained(
    said: str, message: str, code: ExitCode
) -> None:
    assert told(Finished(1, said, 1.0), outcome()) == (message, code)


@pytest.mark.parametrize(
    ("warning", "message", "code"),
    [
        pytest.param(
            UNREACHABLE + "unable to load schema information from the API server: Get "
            '"https://127.0.0.1:26444/openapi/v2?timeout=32s": dial tcp 127.0.0.1:26444: '
            "connect: connection refused",
            "the cluster of stack dev cannot be reached: Get "
            '"https://127.0.0.1:26444/openapi/v2?timeout=32s": dial tcp 127.0.0.1:26444: connect: '
            "connection refused; start it (a sandbox: 'holdfast sandbox up'), or correct "
            "KUBECONFIG and the context",
            ExitCode.ERROR,
            id="nobody-answers",
        ),
        pytest.param(
            UNREACHABLE + "unable to load schema information from the API server: the server has "
            "asked for the client to provide credentials",
            "the cluster of stack dev does not accept the credentials; renew the login of its "
            "context",
            ExitCode.AUTHENTICATION,
            id="unauthorised",
        ),
        pytest.param(
            UNREACHABLE + "unable to load Kubernetes client configuration from kubeconfig file. "
            "Make sure you have: \n\n \t • set up the provider as per https://x \n\n context "
            '"holdfast-default" does not exist',
            "the kubeconfig has no context 'holdfast-default'; run 'holdfast sandbox up', or set "
            "KUBECONFIG to a file that has it",
            ExitCode.ERROR,
            id="no-context",
        ),
    ],
)
def test_a_cluster_that_cannot_be_used_is_explained_by_the_warning_before_the_error(
    warning: str, message: str, code: ExitCode
) -> None:
    result = outcome(
        Diagnostic("warning", warning, "urn::a"),
        Diagnostic("warning", warning, "urn::b"),
        error(
            "Preview failed: failed to read resource state due to unreachable cluster.", "urn::a"
        ),
        error("preview failed"),
    )

    assert told(Finished(1, "", 1.0), result) == (message, code)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        pytest.param(
            "no resource plugin 'pulumi-resource-kubernetes' found in the workspace at version "
            "v4.27.0",
            "the resource plugin pulumi-resource-kubernetes v4.27.0 is not installed; run "
            "'make toolchain'; with your own Pulumi: 'pulumi plugin install'",
            id="not-looked-for-elsewhere",
        ),
        pytest.param(
            "Could not automatically download and install resource plugin "
            "'pulumi-resource-kubernetes' at version v4.27.0, install the plugin using `pulumi "
            "plugin install resource kubernetes v4.27.0`: error downloading provider",
            "the resource plugin pulumi-resource-kubernetes v4.27.0 is not installed and could not "
            "be downloaded; run 'pulumi plugin install resource kubernetes v4.27.0', or unset "
            "HOLDFAST_PULUMI and run 'make toolchain'",
            id="looked-for-in-vain",
        ),
    ],
)
def test_a_missing_plugin_is_explained(said: str, message: str) -> None:
    failed = told(Finished(1, "", 1.0), outcome(error(said, "urn::p")))

    assert failed == (message, ExitCode.ERROR)


def test_mandatory_violations_come_first_and_say_each_thing_once() -> None:
    broken = PolicyViolation(
        "image", "pack", "mandatory", "Images.\nx:1 is not allowed", "", "u::a"
    )
    advisory = PolicyViolation("other", "pack", "advisory", "Other.\nmind it", "", "u::a")
    result = outcome(error("preview failed"), violations=(broken, broken, advisory))

    assert told(Finished(1, "", 1.0), result) == (
        "2 mandatory policy violations on stack dev:\n  [image] a: x:1 is not allowed",
        ExitCode.POLICY,
    )


@pytest.mark.parametrize(
    ("finished", "action", "message", "code"),
    [
        pytest.param(
            Finished(1, "", 1.0, was_interrupted=True),
            "up",
            "up was cancelled; what was done is saved, run it again to continue",
            ExitCode.CANCELLED,
            id="signal-in-an-update",
        ),
        pytest.param(
            Finished(1, "", 1.0, was_interrupted=True),
            "preview",
            "preview was cancelled",
            ExitCode.CANCELLED,
            id="signal-in-a-preview",
        ),
        pytest.param(
            Finished(-9, "", 1.0, was_interrupted=True),
            "up",
            "up was cancelled; it was killed: run 'holdfast up -s dev --recover' to resume",
            ExitCode.CANCELLED,
            id="two-signals",
        ),
        pytest.param(
            Finished(0, "", 3600.2, timed_out=True),
            "destroy",
            "destroy timed out after 3600 s with 0 resources changed; what was done is saved, run "
            "it again to continue; raise --timeout if it only needs longer",
            ExitCode.TIMEOUT,
            id="time-out",
        ),
        pytest.param(
            Finished(255, "error: preview canceled", 1.0, stop_reason="no pods: forbidden"),
            "up",
            "up was stopped: no pods: forbidden; what was done is saved, run it again to continue; "
            "run `holdfast drift -s dev` to see whether an edit is the cause",
            ExitCode.RESOURCE,
            id="stopped-for-a-reason",
        ),
        pytest.param(
            Finished(-9, "", 1.0),
            "refresh",
            "the engine was ended by signal 9",
            ExitCode.ERROR,
            id="killed-by-somebody-else",
        ),
    ],
)
def test_a_stopped_run_says_who_stopped_it_and_what_was_kept(
    finished: Finished, action: str, message: str, code: ExitCode
) -> None:
    assert told(finished, outcome(action=action)) == (message, code)


@pytest.mark.parametrize(
    ("raised", "message", "code"),
    [
        pytest.param(
            "holdfast.errors.InvalidFilesError: agents/x.yaml:1: bad\n1 error in 1 file",
            "agents/x.yaml:1: bad\n1 error in 1 file",
            ExitCode.BAD_INPUT,
            id="ours",
        ),
        pytest.param(
            "KeyError: 'x'", "the program failed: KeyError: 'x'", ExitCode.ERROR, id="not"
        ),
        pytest.param(
            "AssertionError", "the program failed: AssertionError", ExitCode.ERROR, id="bare"
        ),
    ],
)
def test_an_exception_of_the_program_is_shown_without_its_traceback(
    raised: str, message: str, code: ExitCode
) -> None:
    result = outcome(error(TRACEBACK.format(raised)), error("preview failed"))

    assert told(Finished(1, "", 1.0), result) == (message, code)


def test_what_is_not_known_is_shown_as_it_was_said_each_thing_once() -> None:
    result = outcome(
        error("quota exceeded", "u::a"), error("quota exceeded", "u::a"), error("update failed")
    )

    assert told(Finished(1, "", 1.0), result) == (
        "preview failed: a: quota exceeded",
        ExitCode.ERROR,
    )


def test_faults_of_a_yaml_program_are_what_its_host_wrote() -> None:
    wrote = ("Error: Property siz does not exist\n\n", "  on Pulumi.yaml line 14:\n\n")
    result = outcome(*(Diagnostic("info#err", each) for each in wrote))
    message, code = told(Finished(1, "", 1.0), result)
    assert message == (
        "preview failed: Error: Property siz does not exist\n  on Pulumi.yaml line 14:"
    )
    assert code == ExitCode.ERROR


def test_operations_left_by_a_killed_run_are_mentioned() -> None:
    pending = Diagnostic(
        "warning", "Attempting to deploy with 2 pending operations from previous deployment."
    )

    message, _ = told(Finished(1, "", 1.0), outcome(pending, error("boom"), action="up"))

    assert message.startswith(
        "up failed: boom; 2 operations of a killed run are still pending: run"
    )


def test_an_unknown_exit_without_a_word_still_is_a_failure() -> None:
    assert told(Finished(255, "", 1.0), outcome()) == (
        "preview failed: exit code 255",
        ExitCode.ERROR,
    )


def test_a_command_without_events_fails_in_the_same_words() -> None:
    known = command_failure(
        "stack export", "dev", Finished(6, "error: no stack named 'dev' found", 1.0)
    )
    unknown = command_failure("stack export", "dev", Finished(1, "error: no version 9", 1.0))

    assert known is not None
    assert known.exit_code == ExitCode.NO_STACK
    assert str(unknown) == "'pulumi stack export' failed: no version 9"


@pytest.mark.parametrize(
    ("finished", "said"),
    [
        pytest.param(Finished(-9, "", 1.0), (), id="killed"),
        pytest.param(
            Finished(1, "", 1.0),
            (error("x with 2 pending operations from previous deployment"),),
            id="pending",
        ),
        pytest.param(
            Finished(1, "file:///s/.pulumi/stacks/p/dev.json: no space left on device", 1.0),
            (),
            id="state not written",
        ),
    ],
)
def test_what_resumes_is_the_command_that_was_run(
    finished: Finished, said: tuple[Diagnostic, ...]
) -> None:
    failure = run_failure(
        "dev", finished, outcome(*said, action="up"), "holdfast promote --from a --to dev --recover"
    )
    assert "'holdfast promote --from a --to dev --recover'" in str(failure)
    assert "holdfast up" not in str(failure)
