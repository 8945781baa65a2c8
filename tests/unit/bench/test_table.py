from bench.__main__ import table


def test_each_figure_stands_beside_the_load_of_the_machine() -> None:
    figures: dict[str, float | str] = {"scan: seconds": 0.25, "scan: objects": 700}
    lines = list(table(figures, dict.fromkeys(figures, "0.10-1.90")))
    assert lines == [
        "scan: seconds  0.25  load 0.10-1.90",
        "scan: objects  700   load 0.10-1.90",
    ]
