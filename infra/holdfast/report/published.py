"""The files that are made from the models: JSON Schemas, and the reference of manifests.

Run `python -m holdfast.report.published` in a clone to write them.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from holdfast.manifest.publish.json_schema import manifest_schema, stack_schema
from holdfast.report.documents.drift import drift_schema
from holdfast.report.documents.drift_event import drift_event_schema
from holdfast.report.documents.fleet import fleet_schema
from holdfast.report.documents.history import history_schema
from holdfast.report.documents.policy import policy_schema
from holdfast.report.documents.stacks import stacks_schema
from holdfast.report.text.manifest_reference import reference_page

Schema = dict[str, Any]

SCHEMAS: Final[Mapping[str, Callable[[], Schema]]] = {
    "docs/schema/agent.schema.json": manifest_schema,
    "docs/schema/drift-event.schema.json": drift_event_schema,
    "docs/schema/drift-history.schema.json": history_schema,
    "docs/schema/drift-stacks.schema.json": stacks_schema,
    "docs/schema/drift.schema.json": drift_schema,
    "docs/schema/fleet.schema.json": fleet_schema,
    "docs/schema/policy.schema.json": policy_schema,
    "docs/schema/stack.schema.json": stack_schema,
}
"""Where the schemas are published, relative to the clone, and what makes them."""


def schema_text(make: Callable[[], Schema]) -> str:
    """The text of a schema as it is published, to the byte."""
    return json.dumps(make(), indent=2, ensure_ascii=False) + "\n"


FILES: Final[Mapping[str, Callable[[], str]]] = {
    **{file: partial(schema_text, make) for file, make in SCHEMAS.items()},
    "docs/manifest.md": reference_page,
}
"""Every file that is made from the models, relative to the clone, and what makes its text."""


if __name__ == "__main__":
    clone = Path(__file__).resolve().parents[3]
    for name, make_text in FILES.items():
        (clone / name).write_text(make_text(), encoding="utf-8")
        print(f"wrote {name}")  # noqa: T201  (a program of its own)
