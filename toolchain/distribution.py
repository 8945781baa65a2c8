"""Build the wheel and the sdist reproducibly: the same commit gives the same bytes.

    python toolchain/distribution.py [FOLDER]     default dist/

Tracked files only, with fixed permissions; every time is SOURCE_DATE_EPOCH, by default the time of
the commit. Needs git and setuptools, no network.
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = """
import os, sys
from setuptools import build_meta
os.umask(0o022)
print(getattr(build_meta, sys.argv[1])(sys.argv[2]))
"""


def build(target: Path) -> list[Path]:
    """Build both into a folder; return their paths."""
    target.mkdir(parents=True, exist_ok=True)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory(prefix="holdfast-dist-") as scratch:
        folder = Path(scratch)
        copy_tracked(folder / "source", epoch)
        (folder / "out").mkdir()
        built = []
        for hook in ("build_sdist", "build_wheel"):
            made = run_build(hook, folder, epoch)
            if hook == "build_sdist":
                normalise(made, epoch)
            built.append(Path(shutil.move(made, target / made.name)))
    return built


def copy_tracked(target: Path, epoch: int) -> None:
    """Copy what git tracks, as it is in the working tree, with fixed rights and times."""
    for name in git("ls-files", "-z").split("\0"):
        source = ROOT / name
        if not name or source.is_symlink() or not source.is_file():
            continue
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
        copy.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
        os.utime(copy, (epoch, epoch))


def run_build(hook: str, folder: Path, epoch: int) -> Path:
    """Run one hook of the build backend; return what it made."""
    variables = os.environ | {
        "SOURCE_DATE_EPOCH": str(epoch),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TZ": "UTC",
    }
    done = subprocess.run(
        [sys.executable, "-c", BUILD, hook, str(folder / "out")],
        cwd=folder / "source",
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"distribution: {hook} failed\n{done.stderr}")
    return folder / "out" / done.stdout.splitlines()[-1]


def normalise(sdist: Path, epoch: int) -> None:
    """Pack the sdist again, sorted, with the times and owners that every build gives."""
    buffer = io.BytesIO()
    with (
        tarfile.open(sdist) as found,
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=epoch, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as written,
    ):
        for member in sorted(found.getmembers(), key=lambda each: each.name):
            member.mtime, member.uid, member.gid = epoch, 0, 0
            member.uname = member.gname = ""
            member.pax_headers = {}
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            written.addfile(member, found.extractfile(member) if member.isfile() else None)
    sdist.write_bytes(buffer.getvalue())


def git(*arguments: str) -> str:
    """Output of git in the clone."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    for path in build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"):
        sys.stdout.write(f"{path}\n")
