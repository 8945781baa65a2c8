"""The page about the rules is what the rules say."""

import re

from holdfast_policies.catalogue import PAGE, page
from holdfast_policies.table import RULES


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run: python -m holdfast_policies.catalogue --write"


def test_every_rule_has_its_section() -> None:
    assert re.findall(r"^## ([a-z-]+)$", page(), re.MULTILINE) == [rule.id for rule in RULES]
