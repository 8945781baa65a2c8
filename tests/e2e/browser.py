"""A headless browser as end-to-end tests see it: a page in, what it became out. Without network."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on PATH: install it to see the page as a browser does"
)
TIMEOUT_SECONDS = 120
DARK = "--blink-settings=preferredColorScheme=0"


def browse(page: str, *arguments: str) -> str:
    """Open a page; what the browser prints is returned, what it complains about fails the test.

    A page's own policy forbids every request, so that each attempt at one is a complaint.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-browser-") as folder:
        file = Path(folder) / "page.html"
        file.write_text(page)
        done = subprocess.run(
            [
                str(CHROMIUM),
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--no-first-run", "--disable-quic", "--disable-sync"),
                *("--disable-background-networking", "--disable-component-update"),
                *("--proxy-server=127.0.0.1:1", "--enable-logging=stderr", "--log-level=0"),
                f"--user-data-dir={folder}/profile",
                *arguments,
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
    assert done.returncode == 0, done.stderr
    refused = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert refused == []
    return done.stdout


def measured(page: str, width: int, expression: str, *arguments: str) -> str:
    """What a script says of a page in a window of a width; `it` is the page's document.

    A page's own script may not run: the measuring one stands in a frame around it.
    """
    escaped = page.replace("&", "&amp;").replace("'", "&#39;")
    frame = (
        f"<!doctype html><iframe id=f style='border:0;width:{width}px;height:900px'"
        f" srcdoc='{escaped}'></iframe><script>f.onload=()=>{{const it=f.contentDocument;"
        f"document.title={expression}}}</script>"
    )
    dumped = browse(frame, "--dump-dom", "--virtual-time-budget=5000", *arguments)
    return dumped.partition("<title>")[2].partition("</title>")[0]


def overflow(page: str, width: int) -> str:
    """How wide a page becomes in a window of a width: the width itself when it fits."""
    return measured(page, width, "it.documentElement.scrollWidth")
