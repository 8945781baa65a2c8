"""A newer engine says things in other words: then its own words are shown, and nothing is lost."""

import re

import pytest
from holdfast.adapters.engine.backend.lock_holder import locked_error
from holdfast.adapters.engine.failures import reasons
from holdfast.adapters.engine.failures.failures import command_failure
from holdfast.adapters.engine.failures.reasons import explain
from holdfast.adapters.engine.run.process import Finished
from holdfast.errors import ExitCode

from tests.unit.adapters.engine.failed_runs import error, outcome, told

LOCKED = "the stack is currently locked by 1 lock(s)."
SEPARATE = {
    "lock": LOCKED,
    "lock-of-the-service": "[409] Conflict: Another update is currently in progress.",
    "bucket-write": (
        'writing the new snapshot file: blob (key "x") (code=Unknown): operation error S3: '
        "PutObject, api error AccessDenied: no"
    ),
    "bucket-read": 'read: blob (key "x") (code=Unknown): api error ExpiredToken: old',
    "bucket-history": 'saving update info: x: blob (key "x") (code=Unknown): no answer',
}
"""Texts that are recognised beside the table."""

KNOWN = {
    "no-stack": "no stack named 'dev' found",
    "wrong-passphrase": "get stack secrets manager: incorrect passphrase",
    "no-passphrase": "passphrase must be set with PULUMI_CONFIG_PASSPHRASE",
    "no-login": "PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
    "unreachable": "configured Kubernetes cluster is unreachable: no route to host",
    "conflict": (
        'reported that "n/a" failed to initialize\nThe resource managed by field manager "x" had '
        'an apply conflict: Apply failed with 1 conflict: conflict with "y": .spec.replicas'
    ),
    "no-plugin": "no resource plugin 'pulumi-resource-kubernetes' found in the workspace",
    "no-download": (
        "Could not automatically download and install resource plugin 'kubernetes' at version "
        "v4.27.0, install the plugin using `pulumi plugin install`"
    ),
    "no-pulumi": "No module named 'pulumi'",
    "version-range": "Pulumi CLI version 3.259.0 does not satisfy the version range >=3.300.0",
    "damaged": "snapshot integrity failure; refusing to use it",
    "legacy-layout": "Legacy DIY state is deprecated, please upgrade your state to project mode",
    "newer-format": "unsupported checkpoint version 9",
    "cut-off": "failed to load checkpoint: unexpected end of JSON input",
    "history": "saving update info: open /s/.pulumi/history/x.json: permission denied",
    "full-disk": "open /s/.pulumi/stacks/p/dev.json: no space left on device",
    "no-configuration": "Stack 'dev' is missing configuration value 'e1:tier'",
}


def in_other_words(text: str) -> str:
    """The same text as no version of the engine has written it, to be read by people."""
    return text.translate(str.maketrans("aeiou", "áéíóú"))


def test_every_pattern_has_a_text_here() -> None:
    unseen = [
        pattern.pattern
        for pattern, _ in reasons._REASONS
        if not any(pattern.search(text) for text in KNOWN.values())
    ]
    assert unseen == []


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in KNOWN.items()])
def test_a_known_text_is_explained(text: str) -> None:
    assert explain(text, "dev", "resume") is not None


@pytest.mark.parametrize(
    "text", [pytest.param(text, id=name) for name, text in (KNOWN | SEPARATE).items()]
)
def test_an_unknown_text_is_shown_as_it_was_said(text: str) -> None:
    unknown = in_other_words(text)
    assert explain(unknown, "dev", "resume") is None
    assert locked_error(unknown, "dev") is None

    in_a_run, code = told(Finished(255, "", 1.0), outcome(error(unknown)))
    in_a_command = command_failure("stack export", "dev", Finished(6, f"error: {unknown}", 1.0))

    assert in_a_run == f"preview failed: {unknown}"
    assert code is ExitCode.ERROR
    assert str(in_a_command) == f"'pulumi stack export' failed: {unknown}"
    assert in_a_command is not None
    assert in_a_command.exit_code is ExitCode.NO_STACK, "the engine's own exit code counts"


def test_a_conflict_whose_fields_cannot_be_read_is_shown_as_it_was_said() -> None:
    text = "the object had an apply conflict: Apply failed for reasons of the future"

    said, _ = told(Finished(255, "", 1.0), outcome(error(text)))

    assert said == f"preview failed: {text}"


def test_a_text_with_braces_is_no_template() -> None:
    reason = explain("failed to load checkpoint: {0} {stack} {x}", "dev", "resume")

    assert reason is not None
    assert re.search(r"cut off \(\{0\} \{stack\} \{x\}\)", reason.message)
