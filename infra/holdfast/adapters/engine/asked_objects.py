"""What the program asks for, as plain objects: values that it calls secret are left out."""

from typing import Any, Final

import msgspec

from holdfast.adapters.engine.run.events import Inputs
from holdfast.adapters.engine.state.checkpoint import without_secrets
from holdfast.kube.objects import KubeObject

NOT_KNOWN_YET: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""How the engine writes a value that only an update can tell."""

_ENGINES_OWN: Final = "__"


def asked_object(inputs: Inputs | None) -> KubeObject | None:
    """The object that inputs stand for; None without any, or when they are no object.

    Values that nobody has called secret may still be one: whoever shows one masks it first.
    """
    if inputs is None:
        return None
    try:
        plain: Any = msgspec.json.decode(inputs.text)
    except msgspec.DecodeError:
        return None
    if not isinstance(plain, dict):
        return None
    own = {key: value for key, value in plain.items() if not key.startswith(_ENGINES_OWN)}
    known: KubeObject = without_secrets(own)
    return known
