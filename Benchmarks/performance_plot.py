"""The first plot of docs/performance.md: CPU per megapixel of ours, of peers and of the floor, as SVG by Python's own
library. Readable on light and dark pages, and without its colors."""

import xml.etree.ElementTree as ET
from pathlib import Path

from floor_plot import NAMESPACE, element, short, step_of

# Okabe and Ito, one set for light and one for dark pages; every bar has its name beside it as well.
STYLE = """
text { font: 13px sans-serif; fill: #1a1a1a; }
.name { font-weight: 600; }
.small { font-size: 12px; }
.axis { stroke: #8a8a8a; stroke-width: 1; }
.grid { stroke: #d8d8d8; stroke-width: 1; }
.floor { fill: #8a8a8a; } .ours { fill: #0072b2; } .tuned { fill: #e69f00; } .default { fill: #d55e00; }
.opencv { fill: #cc79a7; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8e8e8; }
  .axis { stroke: #9a9a9a; }
  .grid { stroke: #3a3a3a; }
  .floor { fill: #a8a8a8; } .ours { fill: #3d9bd6; } .tuned { fill: #f2b632; } .default { fill: #f07d35; }
  .opencv { fill: #dd93bd; }
}
"""
NAMES = {
    "floor": "floor: decode, convert, copy", "ours": "scanmill, fast", "tuned": "ffmpeg, tuned",
    "default": "ffmpeg, default", "opencv": "OpenCV",
}
TITLE = "CPU milliseconds per megapixel of color export"
LEFT, RIGHT, BAR, GAP, GROUP, WIDTH = 210, 70, 15, 3, 32, 820


def words(videos):
    """The same for those who do not see it."""
    return " ".join(
        f"{name}: " + ", ".join(f"{NAMES[kind]} {short(value)}" for kind, value in bars) + "."
        for name, bars in videos)


def drawing(videos):
    """`videos`: pairs of a name and its bars, pairs of a key of NAMES and milliseconds per megapixel."""
    most = max((value for _, bars in videos for _, value in bars), default=1) or 1
    scale = (WIDTH - LEFT - RIGHT) / most
    top = 30
    height = top + sum(len(bars) * (BAR + GAP) + GROUP for _, bars in videos) + 46
    root = ET.Element(
        "svg", xmlns=NAMESPACE, width=str(WIDTH), height=str(height), viewBox=f"0 0 {WIDTH} {height}", role="img",
        attrib={"aria-labelledby": "title words"})
    element(root, "title", TITLE, id="title")
    element(root, "desc", words(videos), id="words")
    element(root, "style", STYLE)
    element(root, "text", TITLE + ": less is better", x=4, y=18, class_="name")
    bottom = height - 46
    step = step_of(most)
    for index in range(int(most / step) + 1):
        place = round(LEFT + index * step * scale, 1)
        element(root, "text", f"{index * step:g}", x=place, y=bottom + 18, text_anchor="middle", class_="small")
    y = top
    for name, bars in videos:
        element(root, "text", name, x=4, y=y + 17, class_="name")
        y += GROUP - 8
        # Beside bars only: names may be longer than the room on the left.
        for index in range(int(most / step) + 1):
            place = round(LEFT + index * step * scale, 1)
            end = y + len(bars) * (BAR + GAP)
            element(root, "line", x1=place, y1=y, x2=place, y2=end, class_="grid" if index else "axis")
        for kind, value in bars:
            element(root, "text", NAMES[kind], x=LEFT - 8, y=y + 12, text_anchor="end", class_="small")
            element(
                root, "rect", x=LEFT, y=y, width=round(max(value, 0) * scale, 1), height=BAR, class_=kind)
            element(root, "text", short(value), x=round(LEFT + max(value, 0) * scale + 6, 1), y=y + 12, class_="small")
            y += BAR + GAP
        y += 8
    element(root, "text", "CPU ms per megapixel", x=LEFT, y=bottom + 38, class_="small")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def write(videos, path):
    Path(path).write_text(drawing(videos))
