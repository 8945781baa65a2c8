"""`make bench`: every benchmark, each figure beside its baseline and its target, in one run.

`python -m bench PART...` runs some of them: rendering, policies, scan, scale, journal, watch,
expand; and those that take minutes only when they are asked for: putback, soak and storm.
`--agents N` is how many agents expand and putback work with.
"""

import argparse
import importlib
import json
import os
from collections.abc import Iterator, Mapping

MODULES = {
    "rendering": "rendering",
    "policies": "policy_pack",
    "scan": "scan",
    "scale": "scale",
    "journal": "journal",
    "watch": "watch",
    "expand": "expand",
    "putback": "putback",
    "soak": "soak",
    "storm": "storm",
}
"""Part to the module that measures it."""

ON_REQUEST = {"putback", "soak", "storm"}
OF_ANY_SIZE = {"expand", "putback"}
"""Parts that take how many agents there are."""


def main() -> None:
    """Measure and print; `--json` prints one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(MODULES))
    parser.add_argument("--agents", type=int, metavar="N", help="for expand and putback")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    unknown = sorted(set(asked.parts) - MODULES.keys())
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are: {', '.join(MODULES)}")
    parts = asked.parts or [part for part in MODULES if part not in ON_REQUEST]
    if asked.agents is not None and (asked.agents < 1 or not set(parts) <= OF_ANY_SIZE):
        parser.error(f"--agents N is for {', '.join(sorted(OF_ANY_SIZE))}, and at least 1")
    figures: dict[str, float | str] = {}
    loads: dict[str, str] = {}
    for part in parts:
        module = importlib.import_module(f"bench.{MODULES[part]}")
        before = os.getloadavg()[0]
        found = module.measure(asked.agents) if asked.agents else module.measure()
        load = f"{before:.2f}-{os.getloadavg()[0]:.2f}"
        figures |= found
        loads |= dict.fromkeys(found, load)
    if asked.json:
        print(json.dumps(figures | {"loads": loads}, indent=2))
        return
    print("\n".join(table(figures, loads)))


def table(figures: Mapping[str, float | str], loads: Mapping[str, str]) -> Iterator[str]:
    """Lines for people: each figure, and the load of the machine while it was measured.

    Args:
        figures: By their names.
        loads: Load average of one minute, before and after, by the same names.
    """
    texts = {
        name: f"{figure:.3f}".rstrip("0").rstrip(".") if isinstance(figure, float) else str(figure)
        for name, figure in figures.items()
    }
    width, wide = max(map(len, texts)), max(map(len, texts.values()))
    for name, text in texts.items():
        yield f"{name:<{width}}  {text:<{wide}}  load {loads[name]}"


if __name__ == "__main__":
    main()
