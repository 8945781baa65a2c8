import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "toolchain"))
from sdk_imports import repair  # on the path since one line

NEAR = 'import * as inputs from "./types/input";\nimport * as utilities from "./utilities";\n'
FAR = 'import * as inputs from "../types/input";\nimport * as utilities from "../utilities";\n'


def test_nested_types_import_from_the_folder_above_and_nothing_else_changes(tmp_path: Path) -> None:
    (tmp_path / "types").mkdir()
    nested, index, root = (tmp_path / name for name in ("types/input.ts", "types/index.ts", "a.ts"))
    nested.write_text(NEAR)
    index.write_text('import * as enums from "./enums";\n')
    root.write_text(NEAR)
    assert repair(tmp_path) == 1
    assert nested.read_text() == FAR
    assert index.read_text() == 'import * as enums from "./enums";\n'
    assert root.read_text() == NEAR
    assert repair(tmp_path) == 0
