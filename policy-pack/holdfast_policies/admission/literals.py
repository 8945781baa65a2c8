"""Settings and waivers written into a policy, for engines that hand a policy no parameters."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast_policies.admission.parameters import Scope, waiver_entries
from holdfast_policies.admission.policy import Given
from holdfast_policies.evaluation.profile import Ruling
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.cel import listed, quoted


def written_out(rulings: Sequence[Ruling], waivers: Iterable[Waiver], scope: Scope) -> Given:
    """What policies read, as variables and lists of their own."""
    return Given(
        settings="variables.parameters",
        waivers="variables.granted",
        controllers=listed(sorted(scope.controllers)),
        namespaces=namespaces_of(scope),
        variables=(
            ("parameters", literal({each.rule.id: dict(each.settings) for each in rulings})),
            ("granted", literal(waiver_entries(waivers))),
        ),
    )


def namespaces_of(scope: Scope) -> str:
    """The namespaces of a stack as CEL writes them."""
    return listed(sorted(scope.namespaces))


def literal(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """A value as CEL writes it; what is within is of any type, as in what is read from JSON."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case Mapping():
            fields = (f"{quoted(key)}: dyn({literal(each)})" for key, each in value.items())
            return f"{{{', '.join(fields)}}}"
        case list() | tuple():
            return f"[{', '.join(f'dyn({literal(each)})' for each in value)}]"
        case _:
            return str(value)
