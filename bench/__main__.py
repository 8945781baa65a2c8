"""`make bench`: every benchmark, each figure beside its baseline and its target, in one run.

`python -m bench PART...` runs some of them: rendering, policies, scan, scale, watch, expand; and
soak, ten minutes long, which runs only when it is asked for.
"""

import argparse
import importlib
import json

MODULES = {
    "rendering": "rendering",
    "policies": "policy_pack",
    "scan": "scan",
    "scale": "scale",
    "watch": "watch",
    "expand": "expand",
    "soak": "soak",
}
"""Part to the module that measures it."""

ON_REQUEST = {"soak"}


def main() -> None:
    """Measure and print; `--json` prints one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(MODULES))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    unknown = sorted(set(asked.parts) - MODULES.keys())
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are: {', '.join(MODULES)}")
    figures: dict[str, float | str] = {}
    for part in asked.parts or [part for part in MODULES if part not in ON_REQUEST]:
        figures |= importlib.import_module(f"bench.{MODULES[part]}").measure()
    if asked.json:
        print(json.dumps(figures, indent=2))
        return
    width = max(len(name) for name in figures)
    for name, figure in figures.items():
        text = f"{figure:.3f}".rstrip("0").rstrip(".") if isinstance(figure, float) else figure
        print(f"{name:<{width}}  {text}")


if __name__ == "__main__":
    main()
