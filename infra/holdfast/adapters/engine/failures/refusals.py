"""What an API server says of an object that it does not take, and what helps.

Source: the Kubernetes provider 4.27 and Kubernetes 1.36, each text as they wrote it.
"""

import re
from typing import Final

from holdfast.adapters.engine.failures.reasons import Reason
from holdfast.adapters.engine.run.events import Diagnostic

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
        r'failed: \S+ "\S+" not found',
        "somebody has deleted it: run 'holdfast drift revert -s {stack}', then this again",
    ),
    (
        r"Progress deadline exceeded|failed to (?:fully )?initialize or become live",
        "correct what keeps it from being ready, and run it again: it is tried anew",
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
