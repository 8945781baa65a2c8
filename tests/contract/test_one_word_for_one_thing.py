"""What two rooms must spell alike, because neither may import the other."""

from typing import get_args

from holdfast.manifest.stack.environment import Profile
from holdfast_policies.model.rule import PROFILES


def test_the_profiles_of_a_stack_are_those_of_the_policy_pack() -> None:
    assert get_args(Profile) == PROFILES
