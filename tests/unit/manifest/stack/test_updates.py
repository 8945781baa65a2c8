"""Settings of updates, as a stack file has them."""

from pathlib import Path

import pytest
from holdfast.manifest.stack.stack_files import read_stack_file


def settings(tmp_path: Path, text: str) -> tuple[object, list[str]]:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(
        f"config:\n  holdfast:updates:\n{text}", encoding="utf-8"
    )
    read = read_stack_file(tmp_path, "dev")
    return read.environment, [str(each) for each in read.errors]


def test_what_is_watched_after_an_update_is_read(tmp_path: Path) -> None:
    environment, errors = settings(
        tmp_path,
        "    watchSeconds: 60\n"
        "    rollback: true\n"
        "    prometheusUrl: http://prometheus.example:9090\n"
        "    metrics:\n"
        "      - {name: errors, query: sum(errors), max: 0.05, maxIncreasePercent: 50}\n",
    )
    assert not errors
    updates = environment.updates  # type: ignore[attr-defined]  # read without errors
    assert (updates.watch_seconds, updates.rollback) == (60, True)
    assert updates.metrics[0].max_increase_percent == 50


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "    metrics: [{name: a, query: b, max: 1}]\n",
            'config["holdfast:updates"].metrics: has no effect without watchSeconds; '
            "set watchSeconds",
            id="metrics that nobody watches",
        ),
        pytest.param(
            "    watchSeconds: 5\n    metrics: [{name: a, query: b, max: 1}]\n",
            "the address of Prometheus is not set; set updates.prometheusUrl or "
            "telemetry.prometheusUrl",
            id="no Prometheus",
        ),
        pytest.param(
            "    watchSeconds: 5\n    metrics: [{name: a, query: b}]\n",
            "expected at least one of max, min and maxIncreasePercent",
            id="no limit",
        ),
        pytest.param(
            "    watchSeconds: 5\n"
            "    metrics: [{name: a, query: b, max: 1}, {name: a, query: c, max: 1}]\n",
            "names in metrics must be unique, got 'a' twice",
            id="a name twice",
        ),
        pytest.param(
            "    rollback: true\n    continueOnError: true\n",
            'config["holdfast:updates"].continueOnError: has no effect with rollback, which takes '
            "all of it back",
            id="going on what is taken back",
        ),
        pytest.param("    watchSeconds: -1\n", "expected a number from 0 to 86400", id="negative"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    _, errors = settings(tmp_path, text)
    assert any(said in error for error in errors), errors
