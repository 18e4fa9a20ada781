#!/usr/bin/env python3
"""Every pair of text and ground that the page uses has a contrast of 4.5 in both themes (WCAG 2.2, 1.4.3 AA). Exit status 1 if not."""

import pathlib
import re
import sys

STYLE = pathlib.Path(__file__).resolve().parents[2] / "web" / "static" / "app.css"
GROUNDS = ["page", "surface", "raised", "sunken", "code"]
PAIRS = [*((text, ground) for text in ("text", "second") for ground in GROUNDS),
         *((kind, "code") for kind in ("keyword", "string", "number", "comment", "name", "type")),
         ("accent", "page"), ("accent", "raised"), ("accent", "soft-accent"), ("on-accent", "accent"), ("second", "soft-accent"),
         ("bad", "raised"), ("bad", "page"), ("text", "soft-bad"), ("bad", "soft-bad"), ("text", "soft-warn"), ("warn", "soft-warn")]


def luminance(colour: str) -> float:
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def main() -> int:
    colours = {m[1]: m.groups()[1:] for m in re.finditer(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE.read_text())}
    low = [f"{text} on {ground}, {theme}: {ratio:.2f}" for text, ground in PAIRS for at, theme in enumerate(("light", "dark"))
           if (ratio := contrast(colours[text][at], colours[ground][at])) < 4.5]
    print("\n".join([*low, f"{2 * len(PAIRS) - len(low)} passed, {len(low)} failed"]))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
