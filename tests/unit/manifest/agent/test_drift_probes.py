"""Probes in a manifest: what a command should print, and what pods should publish."""

from pathlib import Path

import pytest
from holdfast.manifest.fleet.loader import load_fleet

from tests.unit.manifest.projects import MANIFEST, Bad, agent, assert_refused, bad, spec, write

DIGEST = "sha256:" + "a" * 64


def test_a_probe_is_read_with_its_defaults(tmp_path: Path) -> None:
    text = f"""
        drift:
          fingerprint: {DIGEST}
          probes:
            - name: schema
              command: [psql, -Atc, "select 1"]
              output: |
                1
    """
    write(tmp_path, MANIFEST, agent(spec=text))
    drift = load_fleet(tmp_path).agents[0].spec.drift
    (probe,) = drift.probes
    assert probe.command == ("psql", "-Atc", "select 1")
    assert (probe.output, probe.digest) == ("1\n", None)
    assert (probe.timeout, probe.severity) == ("30s", "high")
    assert drift.fingerprint == DIGEST


@pytest.mark.parametrize(
    "case",
    [
        bad(
            "neither output nor digest",
            spec("drift: {probes: [{name: x, command: [psql]}]}"),
            "7:20",
            "spec.drift.probes[0]: expected either output or digest, got neither",
        ),
        bad(
            "both",
            spec(
                f'drift: {{probes: [{{name: x, command: [psql], output: z, digest: "{DIGEST}"}}]}}'
            ),
            "7:20",
            "expected either output or digest, got both",
        ),
        bad(
            "no command",
            spec("drift: {probes: [{name: x, command: [], output: z}]}"),
            "7:39",
            "spec.drift.probes[0].command",
        ),
        bad(
            "a shell line",
            spec('drift: {probes: [{name: x, command: "psql | sort", output: z}]}'),
            "7:39",
            "spec.drift.probes[0].command",
        ),
        bad(
            "a name twice",
            spec(
                "drift:\n"
                "  probes:\n"
                "    - {name: x, command: [psql], output: z}\n"
                "    - {name: x, command: [psql], output: z}\n"
            ),
            "10:16",
            "names in probes must be unique, got 'x' twice",
        ),
        bad(
            "no severity",
            spec("drift: {probes: [{name: x, command: [psql], output: z, severity: info}]}"),
            "7:68",
            "spec.drift.probes[0].severity",
        ),
        bad(
            "no digest",
            spec("drift: {fingerprint: abc}"),
            "7:24",
            "spec.drift.fingerprint: digest",
        ),
    ],
)
def test_a_probe_that_says_too_little_or_too_much_is_refused(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)
