"""Failures of the engine and refusals of the API server, known by their text; with remedies.

Source: Pulumi 3.259, the Kubernetes provider 4.27 and Kubernetes 1.36, each text as it wrote it.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from holdfast.adapters.engine.backend.file_backend import UPGRADE_OF_LAYOUT
from holdfast.adapters.engine.failures.messages import (
    BackendFailure,
    Failed,
    backend_failure,
    find_conflicts,
)
from holdfast.adapters.engine.run.events import Diagnostic
from holdfast.adapters.engine.run.toolchain import build_command
from holdfast.errors import ExitCode


class Reason(NamedTuple):
    """Why a run failed, and what to do about it."""

    message: str
    remedy: str = ""
    exit_code: ExitCode = ExitCode.ERROR


_Explainer = Callable[[re.Match[str], str, str], Reason | None]


def explain(text: str, stack: str, resume_command: str) -> Reason | None:
    """Explain a failure by what the engine said; None for one that is not known.

    Args:
        text: What it said.
        stack: Name of the stack.
        resume_command: What resumes after a run that was killed or could not save its state.
    """
    if not _OF_A_FOLDER.search(text) and (lost := backend_failure(text)):
        return _lost(lost, stack, resume_command)
    for pattern, reason in _REASONS:
        if match := pattern.search(text):
            explained = reason(match, stack, resume_command)
            if explained:
                return explained
    return None


def _lost(lost: BackendFailure, stack: str, resume_command: str) -> Reason:
    message = f"{lost.failed.value.format(stack=stack)}: {lost.cause}"
    remedy = "renew the login of the backend" if lost.is_login else "correct that"
    remedy += {
        Failed.WRITE: f", then run '{resume_command}'",
        Failed.RECORD: ", and run it again to have it recorded",
        Failed.READ: ", and run it again",
    }[lost.failed]
    return Reason(message, remedy, ExitCode.AUTHENTICATION if lost.is_login else ExitCode.ERROR)


def _fixed(message: str, remedy: str, exit_code: ExitCode = ExitCode.ERROR) -> _Explainer:
    """A reason in whose text {stack}, {resume} and {0}, {1}, ... stand for what they name."""

    def reason(match: re.Match[str], stack: str, resume_command: str) -> Reason:
        groups = [group or "" for group in match.groups()]
        said, advised = (
            part.format(*groups, stack=stack, resume=resume_command) for part in (message, remedy)
        )
        return Reason(said, advised, exit_code)

    return reason


def _unreachable(match: re.Match[str], stack: str, _: str) -> Reason:
    why = " ".join(match[1].split())
    if "provide credentials" in why or "Unauthorized" in why:
        message = f"the cluster of stack {stack} does not accept the credentials"
        return Reason(message, "renew the login of its context", ExitCode.AUTHENTICATION)
    if missing := re.search(r'context "(.*?)" does not exist', why):
        sandbox = missing[1].startswith("holdfast-")
        remedy = "run 'holdfast sandbox up', or " if sandbox else ""
        remedy += "set KUBECONFIG to a file that has it"
        return Reason(f"the kubeconfig has no context {missing[1]!r}", remedy)
    why = why.removeprefix("unable to load schema information from the API server: ")
    remedy = "start it (a sandbox: 'holdfast sandbox up'), or correct KUBECONFIG and the context"
    return Reason(f"the cluster of stack {stack} cannot be reached: {why}", remedy)


def _conflict(match: re.Match[str], stack: str, _: str) -> Reason | None:
    conflicts = find_conflicts(match.string)
    if not conflicts:
        return None  # in words of another version: they say more than we could
    remedy = (
        f"run 'holdfast drift revert -s {stack}' to revert it, or set "
        "PULUMI_K8S_ENABLE_PATCH_FORCE=true to overwrite it"
    )
    if len(conflicts) == 1:
        return Reason(str(conflicts[0]), remedy)
    listed = "".join(f"\n  {conflict}" for conflict in conflicts)
    return Reason(f"{len(conflicts)} conflicts of field managers:{listed}\n", remedy)


# The system's words on a file of a self-managed backend, which lies below a folder `.pulumi`.
_BACKEND_FAILURE = (
    r"(/\S*/\.pulumi(?:/\S*)?): (permission denied|read-only file system|not a directory|"
    r"no space left on device|file too large|disk quota exceeded|input/output error)"
)

_OF_A_FOLDER = re.compile(_BACKEND_FAILURE)

_REASONS: tuple[tuple[re.Pattern[str], _Explainer], ...] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (
            r"no stack named '[^']*' found|no stack selected",
            _fixed(
                "this backend has no stack named {stack}",
                "run 'pulumi stack init {stack}', or see 'pulumi stack ls'",
                ExitCode.NO_STACK,
            ),
        ),
        (
            r"incorrect passphrase",
            _fixed(
                "the passphrase of stack {stack} is wrong",
                "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE; after a 'pulumi "
                "stack change-secrets-provider' the new one, with the stack file that it wrote",
                ExitCode.AUTHENTICATION,
            ),
        ),
        (
            r"passphrase must be set",
            _fixed(
                "the passphrase of stack {stack} is not set",
                "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE, an empty one too",
                ExitCode.AUTHENTICATION,
            ),
        ),
        (
            r"PULUMI_ACCESS_TOKEN must be set|invalid access token|not logged in",
            _fixed(
                "the backend of stack {stack} does not accept the login",
                "run 'pulumi login', or set PULUMI_BACKEND_URL or PULUMI_ACCESS_TOKEN",
                ExitCode.AUTHENTICATION,
            ),
        ),
        (r"configured Kubernetes cluster is unreachable: ([\s\S]*?)(?:\n(?! )\S|\Z)", _unreachable),
        (r"had an apply conflict: Apply failed", _conflict),
        (
            r"no (\w+) plugin '([^']+)' found in the workspace(?: at version (\S+))?",
            _fixed(
                "the {0} plugin {1} {2} is not installed",
                f"run '{build_command('toolchain')}'; with your own Pulumi: "
                "'pulumi plugin install'",
            ),
        ),
        (
            r"Could not automatically download and install (\w+) plugin '([^']+)' at version (\S+),"
            r" install the plugin using `([^`]+)`",
            _fixed(
                "the {0} plugin {1} {2} is not installed and could not be downloaded",
                "run '{3}', or unset HOLDFAST_PULUMI and run '" + build_command("toolchain") + "'",
            ),
        ),
        (
            r"No module named 'pulumi'|failed to discover package requirements: calling",
            _fixed(
                "the program's virtual environment is not complete",
                "run 'make setup'; in a project of your own `pip install 'holdfast[pulumi]'`",
            ),
        ),
        (
            r"Pulumi CLI version (\S+) does not satisfy the version range (.+)",
            _fixed(
                "the project asks for Pulumi {1}, this is {0}",
                "update Pulumi, or unset HOLDFAST_PULUMI",
            ),
        ),
        (
            r"snapshot integrity failure",
            _fixed(
                "the state of stack {stack} is damaged",
                "run 'pulumi state repair -s {stack}', or 'holdfast recover -s {stack} --replace'",
            ),
        ),
        (
            r"Legacy DIY state is deprecated",
            _fixed(
                "the state of stack {stack} lies in the layout of Pulumi before 3.61, which this "
                "Pulumi does not read",
                UPGRADE_OF_LAYOUT,
            ),
        ),
        (
            r"unsupported checkpoint version (\d+)",
            _fixed(
                "the state of stack {stack} has format {0}, which a newer Pulumi has written",
                "update Pulumi",
            ),
        ),
        (
            r"failed to load checkpoint: (.+)",
            _fixed(
                "the state of stack {stack} cannot be read, it may be cut off ({0})",
                "run 'holdfast recover -s {stack}'",
            ),
        ),
        (
            rf"saving update info: [\s\S]*?{_BACKEND_FAILURE}",
            _fixed(
                "all of it was done and is saved, but the history of stack {stack} cannot be "
                "written: {0}: {1}",
                "correct that, and run it again to have it recorded",
            ),
        ),
        (
            _BACKEND_FAILURE,
            _fixed(
                "the state of stack {stack} cannot be written: {0}: {1}",
                "correct that, then run '{resume}'",
            ),
        ),
        (
            r"Stack '[^']*' is missing configuration value '([^']+)'",
            _fixed(
                "stack {stack} has no value for {0}",
                "run 'pulumi config set -s {stack} {0} <value>'",
                ExitCode.BAD_INPUT,
            ),
        ),
    )
)


_REFUSED: Final = re.compile(
    r'resource "[^"]+" was not successfully (?P<done>\w+) by the Kubernetes API server: ?'
    r"(?P<why>.*)",
    re.DOTALL,
)
_SEVERAL: Final = re.compile(r"(?:\d+ errors? occurred:)?\s*\n\s*(?:\* )?")
_REMEDIES: Final = (
    (r"exceeded quota: (\S+?),", "raise quota {0} or declare less, and run it again"),
    (
        r"in namespace (\S+) because it is being terminated",
        "namespace {0} is being deleted: 'kubectl get namespace {0} -o yaml' says which finalizers "
        "it waits for; when it is gone, run this again",
    ),
    (r"failed calling webhook \"(\S+?)\"", "repair the admission webhook {0}, and run it again"),
    (
        r"ValidatingAdmissionPolicy '(\S+)' with binding|admission webhook \"(\S+)\" denied",
        "declare what {0} asks for, or correct it, and run it again",
    ),
    (
        r'(?:failed: \S+|: namespaces) "\S+" not found',
        "it was deleted: run 'holdfast drift revert -s {stack}', then this again",
    ),
    (
        r"Progress deadline exceeded|failed to (?:fully )?initialize or become live",
        "correct what keeps it from being ready, and run it again",
    ),
)


def explain_refusal(error: Diagnostic, stack: str) -> Reason:
    """Explain an error about one resource: its name, what the server said, and what helps."""
    name = error.urn.rpartition("::")[2]
    refused = _REFUSED.match(error.message)
    said = f"not {refused['done']}: {refused['why']}" if refused else error.message
    return Reason(f"{name}: {_SEVERAL.sub('; ', said).strip()}", _remedy(error.message, stack))


def _remedy(text: str, stack: str) -> str:
    for pattern, remedy in _REMEDIES:
        if found := re.search(pattern, text):
            groups = (group for group in found.groups() if group)
            return remedy.format(*groups, stack=stack)
    return ""
