"""`make bench`: every benchmark, each figure beside its baseline and its target, in one run."""

import json
import sys

from bench import policy_pack, scan


def main() -> None:
    """Measure and print; `--json` prints one JSON object."""
    figures = policy_pack.measure() | scan.measure()
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures, indent=2))
        return
    width = max(len(name) for name in figures)
    for name, figure in figures.items():
        text = f"{figure:.3f}".rstrip("0").rstrip(".") if isinstance(figure, float) else figure
        print(f"{name:<{width}}  {text}")


if __name__ == "__main__":
    main()
