"""The components' typed arguments are those of the models that validate them."""

import subprocess
import sys
from typing import get_type_hints

import pytest
from holdfast.components import argument_types, arguments
from holdfast.components.argument_types import ARGUMENTS, TARGET, source
from pydantic import BaseModel


def test_the_generated_arguments_are_current() -> None:
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"],
        input=source(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert TARGET.read_text() == formatted, "run `make schema`"


@pytest.mark.parametrize(("name", "model"), ARGUMENTS.items())
def test_typed_dictionary_and_model_have_the_same_fields(name: str, model: type[BaseModel]) -> None:
    typed = getattr(arguments, name)
    assert set(typed.__annotations__) == set(model.model_fields)
    required = {field for field, info in model.model_fields.items() if info.is_required()}
    assert typed.__required_keys__ == required


def test_every_argument_type_can_be_resolved() -> None:
    for name in vars(arguments):
        if name.endswith("Args"):
            assert get_type_hints(getattr(arguments, name)), name


def test_no_argument_uses_a_type_that_the_component_analyzer_refuses() -> None:
    text = argument_types.source()
    for refused in ("Literal[", "Union[", "tuple[", "set[", " | "):
        assert refused not in text
