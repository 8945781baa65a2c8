"""What a client with rights on every object tries to hide, each beside a twin that is no drift."""

import pytest

from tests.unit.drift.attacks.claims_of_identity import PAIRS as IDENTITY
from tests.unit.drift.attacks.equalities import PAIRS as EQUALITIES
from tests.unit.drift.attacks.pair import Pair

PAIRS = (*IDENTITY, *EQUALITIES)


@pytest.mark.parametrize("pair", [pytest.param(each, id=each.name) for each in PAIRS])
def test_an_attack_is_drift_and_its_twin_is_not(pair: Pair) -> None:
    is_drift, found = pair.judged()
    assert is_drift is pair.is_drift, found
