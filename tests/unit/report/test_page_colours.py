"""The colours of pages can be read: contrast by WCAG 2.2, in light and in dark."""

import re
from importlib.resources import files

import pytest

CSS = files("holdfast.report.html").joinpath("templates/page.css").read_text()
TEXT = ("ink", "soft", "critical", "high", "medium", "low", "info", "fine", "unknown")
GROUNDS = ("ground", "card", "code")
TINT = 0.08
LEAST_TEXT = 4.5
LEAST_SHAPE = 3.0

Colour = tuple[float, float, float]


def palette(block: str) -> dict[str, Colour]:
    found = re.findall(r"--([\w-]+): #([0-9a-f]{6})", block)
    return {
        name: (int(code[:2], 16) / 255, int(code[2:4], 16) / 255, int(code[4:], 16) / 255)
        for name, code in found
    }


LIGHT_BLOCK, DARK_BLOCK = CSS.split("@media (prefers-color-scheme: dark)")
PALETTES = {"light": palette(LIGHT_BLOCK), "dark": palette(DARK_BLOCK)}


def luminance(colour: Colour) -> float:
    """Relative luminance, WCAG 2.2."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Colour, other: Colour) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(colour: Colour, ground: Colour) -> Colour:
    """As `color-mix(in srgb, ...)` does."""
    red, green, blue = (
        part * TINT + below * (1 - TINT) for part, below in zip(colour, ground, strict=True)
    )
    return red, green, blue


def test_black_on_white_is_twenty_one() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)


def test_both_palettes_name_the_same_colours() -> None:
    assert PALETTES["light"].keys() == PALETTES["dark"].keys()


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("text", TEXT)
def test_text_can_be_read_on_every_ground(scheme: str, text: str) -> None:
    colours = PALETTES[scheme]
    for ground in GROUNDS:
        assert contrast(colours[text], colours[ground]) >= LEAST_TEXT, ground


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("tone", TEXT[2:])
def test_words_can_be_read_on_their_own_tint(scheme: str, tone: str) -> None:
    colours = PALETTES[scheme]
    assert contrast(colours[tone], mixed(colours[tone], colours["card"])) >= LEAST_TEXT


@pytest.mark.parametrize("scheme", PALETTES)
def test_lines_of_a_diff_can_be_read(scheme: str) -> None:
    colours = PALETTES[scheme]
    assert contrast(colours["came-ink"], colours["came"]) >= LEAST_TEXT
    assert contrast(colours["went-ink"], colours["went"]) >= LEAST_TEXT


@pytest.mark.parametrize("scheme", PALETTES)
def test_marks_and_bars_stand_out(scheme: str) -> None:
    colours = PALETTES[scheme]
    for tone in TEXT[2:]:
        assert contrast(colours[tone], colours["card"]) >= LEAST_SHAPE


def test_the_tint_that_is_judged_is_the_one_that_is_used() -> None:
    fleet = files("holdfast.report.html").joinpath("templates/fleet.css").read_text()
    tints = set(re.findall(r"color-mix\(in srgb, var\(--c\) (\d+)%", CSS + fleet))
    assert tints == {"8"}
