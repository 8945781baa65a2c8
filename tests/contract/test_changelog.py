"""A field that comes, goes or moves is named in the changelog, under the unreleased changes.

`python -m tests.contract.test_changelog` records the fields at a release, in `PUBLISHED`.
"""

import re
from pathlib import Path

import pytest

from tests.golden.field_table import names

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "tests" / "golden" / "published_fields.txt"


def unreleased() -> str:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.partition("\n## Unreleased\n")[2].partition("\n## ")[0]


def changed() -> list[str]:
    published = PUBLISHED.read_text(encoding="utf-8").splitlines()
    return sorted({*published} ^ {*names()})


@pytest.mark.parametrize("field", changed() or [""])
def test_a_changed_field_stands_in_the_changelog(field: str) -> None:
    last = field.rpartition(".")[2].removesuffix("[]")
    assert re.search(rf"\b{re.escape(last)}\b", unreleased()), f"{field}: say so in CHANGELOG.md"


if __name__ == "__main__":
    PUBLISHED.write_text("\n".join(names()) + "\n", encoding="utf-8")
