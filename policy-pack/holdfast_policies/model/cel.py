"""What a rule says in CEL, so that the API server itself judges as the pack does.

A rule gives lists of texts, one text a breach; an object passes when all of them are empty. They
are written over variables that every policy has:

- `subject`: the object.
- `template`, `podSpec`, `podPath`: what holds metadata and spec of the pod that the object is or
  makes, its spec, and the field path of that; the same for every kind that runs pods.
- `containers`: all of them, each `{path, value, role}`; role is init, main or ephemeral.
- `volumes`: each `{path, value}`. `contexts`: every security context, each `{path, value}`.
- `settings`: the parameters of the rule.

A list of texts must not hold the value of a secret: it ends in the answer to the client.
Source: kubernetes.io, "Common Expression Language in Kubernetes"; nothing newer than 1.32 is used.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

NOT_WINDOWS = 'variables.podSpec.?os.?name.orValue("") != "windows"'
"""Whether the pod may have what only Linux knows."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A rule as admission policies say it.

    Attributes:
        breaches: CEL lists of texts `path: expected …`, one text a breach.
        variables: What they read beside the shared variables: name and CEL, in order.
        patches: CEL lists of JSON patches that put an object right, see `patches`; each list is
            written against what the lists before it have made. None for a rule that only judges.
        differs: Where the verdict in the cluster is another than the pack's, and why; one sentence.
    """

    breaches: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    differs: str = ""
    patches: tuple[str, ...] = ()


def in_containers(
    when: str, field: str, required: str, got: str = "", *, only: str = "true"
) -> str:
    """A breach for every container in which something holds.

    Args:
        when: CEL over `c` (`path`, `value`, `role`): whether the container breaks the rule.
        field: Path of the field within the container.
        required: What must stand there, in words.
        got: CEL of a text that says what stands there; empty to say nothing of it.
        only: CEL over `c`: which containers are judged at all.
    """
    condition = when if only == "true" else f"{only} && ({when})"
    return breaches(
        "variables.containers", "c", condition, f'c.path + "{_dot(field)}"', required, got
    )


def in_volumes(when: str, field: str, required: str, got: str = "") -> str:
    """A breach for every volume (`v`) in which something holds; arguments as `in_containers`."""
    return breaches("variables.volumes", "v", when, f'v.path + "{_dot(field)}"', required, got)


def in_contexts(when: str, field: str, required: str, got: str = "") -> str:
    """A breach for every security context (`s`), the pod's and those of its containers."""
    return breaches("variables.contexts", "s", when, f's.path + "{_dot(field)}"', required, got)


def in_pod(when: str, field: str, required: str, got: str = "") -> str:
    """A breach when something holds for the pod as a whole."""
    return breaches("[0]", "_", when, f'variables.podPath + "{_dot(field)}"', required, got)


def in_object(when: str, field: str, required: str, got: str = "") -> str:
    """A breach when something holds for the object as a whole; `field` from its root."""
    return breaches("[0]", "_", when, quoted(field), required, got)


def breaches(over: str, name: str, when: str, path: str, required: str, got: str = "") -> str:
    """A breach for every item of a list for which something holds.

    Args:
        over: CEL of the list.
        name: Name of an item in the other arguments.
        when: CEL: whether the item breaks the rule.
        path: CEL of a text: field path of what breaks it.
        required: What must stand there, in words.
        got: CEL of a text that says what stands there; empty to say nothing of it.
    """
    items = f"({over})" if " ? " in over else over
    words = f": expected {required}"
    text = f"string({path}) + {quoted(words)}"
    if got:
        text += f' + ", got " + {got}'
    return f"{items}.map({name}, {when}, {text})"


def said(optional: str) -> str:
    """CEL of a text that says what an optional scalar holds."""
    return f'({is_set(optional)} ? string({optional}.value()) : "nothing")'


def amount(value: str) -> str:
    """CEL: a quantity, which custom resources may write as a number."""
    return f'quantity("%s".format([{value}]))'


def is_set(optional: str) -> str:
    """CEL: whether an optional holds something; null, which custom resources keep, is nothing."""
    return f"{optional}.orValue(null) != null"


def items_of(optional: str) -> str:
    """CEL: the list that an optional holds, empty where it holds none."""
    return f"({is_set(optional)} ? {optional}.value() : [])"


def quoted(text: str) -> str:
    """A text as CEL writes it."""
    return json.dumps(text, ensure_ascii=False)


def listed(texts: Iterable[str]) -> str:
    """A list of texts as CEL writes it."""
    return f"[{', '.join(quoted(text) for text in texts)}]"


def matches(value: str, pattern: str) -> str:
    """CEL: whether a pattern (RE2, blanks without meaning) is found in a text."""
    written = re.sub(r"\s+", "", pattern)
    return f"{value}.matches({quoted(written)})"


def glob(pattern: str) -> str:
    """CEL of the regular expression for a pattern in which `*` and `?` stand for any part."""
    escaped = f'{pattern}.replace(".", "\\\\.").replace("+", "\\\\+").replace("$", "\\\\$")'
    return f'"^" + {escaped}.replace("*", ".*").replace("?", ".") + "$"'


def in_force_since(minor: int) -> str:
    """CEL: whether what came with version 1.`minor` of the Pod Security Standards counts."""
    version = "variables.settings.pss_version"
    return f'({version} == "latest" || int({version}.split(".")[1]) >= {minor})'


RESTRICTED = '(variables.settings.pss_level == "restricted")'
"""CEL: whether the restricted level is wanted, not only the baseline."""

OWN_USERS = f"({in_force_since(35)} && variables.podSpec.?hostUsers.orValue(true) == false)"
"""CEL: whether the pod's users are not the node's, which relaxes some checks."""


POD_ACCOUNT = (
    '(variables.podSpec.?serviceAccountName.orValue("") != ""'
    " ? string(variables.podSpec.serviceAccountName)"
    ' : variables.podSpec.?serviceAccount.orValue("") != ""'
    ' ? string(variables.podSpec.serviceAccount) : "default")'
)
"""CEL: the ServiceAccount that the pod runs as; the old field counts where the new is unset."""


def declared_in(metadata: str, key: str) -> str:
    """CEL: what an object declares under a key, as annotation or label; empty when nothing.

    Args:
        metadata: CEL of an optional: its metadata.
        key: CEL of a text.
    """
    annotation = f'{metadata}.?annotations[?{key}].orValue("")'
    label = f'{metadata}.?labels[?{key}].orValue("")'
    return f'({annotation} != "" ? {annotation} : {label})'


def undeclared_in(keys: str) -> str:
    """A breach for each key under which the object declares nothing."""
    value = declared_in("variables.subject.?metadata", "k")
    path = '"metadata.annotations[" + k + "]"'
    return breaches(keys, "k", f'{value} == ""', path, "a value, as annotation or label")


def _dot(field: str) -> str:
    return f".{field}" if field else ""
