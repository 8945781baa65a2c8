"""A thousand mixed agents: reading and validating their manifests, and rendering their objects.

The baseline of both is the least that any tool in Python does with YAML: libyaml parsing the same
manifests, and libyaml dumping the same objects. Processor seconds of one core, so that a busy
machine measures the same.
"""

import gc
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml
from holdfast.kube.text import yaml_documents
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet

ROOT = Path(__file__).parents[1]

STACK = "staging"
AGENTS = 1000
ROUNDS = 3
TARGET_SECONDS = 2.0
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def measure() -> dict[str, float | str]:
    """Medians of several rounds, over the project's own agents copied to a thousand."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        root = mixed_fleet(Path(folder), AGENTS)
        texts = [path.read_text() for path in sorted((root / "agents").glob("*.yaml"))]
        fleet = load_fleet(root, STACK)
        plan = plan_fleet(fleet, STACK)
        objects = [item.manifest for item in render_fleet(plan)]
        reading, parsing, rendering, dumping, writing = _medians(
            lambda: load_fleet(root, STACK),
            lambda: [list(yaml.load_all(text, LOADER)) for text in texts],
            lambda: render_fleet(plan),
            lambda: yaml.dump_all(objects, Dumper=DUMPER),
            lambda: yaml_documents(objects),
        )
    return {
        "manifests: agents": len(fleet.agents),
        "manifests: s to read and validate": reading,
        "manifests: s to parse the same with libyaml": parsing,
        "manifests: times the baseline": reading / parsing,
        "manifests: target s": TARGET_SECONDS,
        "rendering: objects": len(objects),
        "rendering: s": rendering,
        "rendering: s to dump the same with libyaml": dumping,
        "rendering: times faster than the baseline": dumping / rendering,
        "rendering: s to write the same as our YAML": writing,
        "rendering: target s": TARGET_SECONDS,
    }


def mixed_fleet(root: Path, agents: int) -> Path:
    """A project of the clone's own agents, of every type, copied under numbered names."""
    (root / "agents").mkdir(parents=True)
    (root / "stacks").mkdir()
    (root / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    shutil.copytree(ROOT / "agents" / "prompts", root / "agents" / "prompts")
    (root / "stacks" / f"Pulumi.{STACK}.yaml").write_text(
        re.sub(r"^  holdfast:agents:\n(?:    .*\n)*", "", _stack_text(), flags=re.MULTILINE)
    )
    samples: list[tuple[str, str]] = []
    for path in sorted((ROOT / "agents").glob("*.yaml")):
        text = path.read_text()
        names = re.findall(r"^kind: Agent\nmetadata:\n  name: (\S+)$", text, re.MULTILINE)
        if len(names) == 1:
            samples.append((names[0], text))
        else:
            (root / "agents" / path.name).write_text(text)
    all_names = "|".join(name for name, _ in samples)
    for number in range(agents):
        name, text = samples[number % len(samples)]
        copy = number // len(samples)
        # The first copy keeps its name: teams have it as a member.
        suffix = f"-{copy:03}" if copy else ""
        numbered = re.sub(rf"(?<=name: )({all_names})\b", rf"\1{suffix}", text)
        (root / "agents" / f"{name}{suffix}.yaml").write_text(numbered)
    return root


def _stack_text() -> str:
    return (ROOT / "stacks" / f"Pulumi.{STACK}.yaml").read_text()


def _medians(*what: Callable[[], object]) -> list[float]:
    """Processor seconds of each, measured in turn so that all meet the same moments."""
    seconds: list[list[float]] = [[] for _ in what]
    for _ in range(ROUNDS):
        for measured, action in zip(seconds, what, strict=True):
            gc.collect()
            started = time.process_time()
            result = action()
            measured.append(time.process_time() - started)
            del result
    return [statistics.median(each) for each in seconds]
