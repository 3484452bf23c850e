"""The plot of real.py: milliseconds per megapixel against the floor, as SVG by Python's own library."""

import xml.etree.ElementTree as ET
from pathlib import Path

PARTS = ("decode", "conversion", "copy of the files", "above the floor")
NAMESPACE = "http://www.w3.org/2000/svg"
# Colors that people with any color vision tell apart (Okabe, Ito), one set for light and one for dark pages; parts
# are told apart by their order and by their edges, too.
STYLE = """
text { font: 13px sans-serif; fill: #1a1a1a; }
.small { font-size: 11px; }
.axis { stroke: #8a8a8a; stroke-width: 1; }
.part { stroke: #ffffff; stroke-width: 1; }
.p0 { fill: #0072b2; } .p1 { fill: #56b4e9; } .p2 { fill: #009e73; } .p3 { fill: #e69f00; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8e8e8; }
  .axis { stroke: #9a9a9a; }
  .part { stroke: #161616; }
  .p0 { fill: #3d9bd6; } .p1 { fill: #8fcff5; } .p2 { fill: #2fc79a; } .p3 { fill: #f2b632; }
}
"""
LEFT, RIGHT, BAR, GAP, GROUP = 190, 70, 18, 4, 16
WIDTH = 820


def element(parent, name, text=None, **attributes):
    made = ET.SubElement(
        parent, name, {key.replace("_", "-").rstrip("-"): str(value) for key, value in attributes.items()}
    )
    made.text = text
    return made


def short(value):
    return f"{value:.1f}"


def words(videos):
    """The same for those who do not see it."""
    sentences = []
    for video, bars in videos:
        for name, parts in bars:
            values = ", ".join(f"{part} {short(value)}" for part, value in zip(PARTS, parts))
            sentences.append(f"{video}, {name}: {values}, together {short(sum(parts))}.")
    return " ".join(sentences)


def step_of(most):
    """Between marks of the axis: at most eight of them."""
    for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500):
        if most / step <= 8:
            return step
    return 1000


def drawing(videos):
    """`videos`: pairs of a name and its bars, pairs of a name and four milliseconds per megapixel."""
    most = max((sum(parts) for _, bars in videos for _, parts in bars), default=1) or 1
    scale = (WIDTH - LEFT - RIGHT) / most
    top = 54
    height = top + sum(len(bars) * (BAR + GAP) + GROUP for _, bars in videos) + 40
    root = ET.Element(
        "svg", xmlns=NAMESPACE, width=str(WIDTH), height=str(height), viewBox=f"0 0 {WIDTH} {height}",
        role="img", attrib={"aria-labelledby": "title words"})
    element(root, "title", "CPU milliseconds per megapixel of color export, against the floor", id="title")
    element(root, "desc", words(videos), id="words")
    element(root, "style", STYLE)
    x = LEFT
    for index, part in enumerate(PARTS):
        element(root, "rect", x=x, y=10, width=14, height=14, class_=f"part p{index}")
        element(root, "text", part, x=x + 20, y=22)
        x += 40 + 8 * len(part)
    element(root, "text", "CPU ms per megapixel", x=LEFT, y=44, class_="small")
    y = top
    for video, bars in videos:
        middle = y + len(bars) * (BAR + GAP) / 2
        element(root, "text", video, x=4, y=round(middle + 1))
        for name, parts in bars:
            element(root, "text", name, x=LEFT - 6, y=y + 13, text_anchor="end", class_="small")
            x = LEFT
            for index, value in enumerate(parts):
                element(
                    root, "rect", x=round(x, 1), y=y, width=round(value * scale, 1), height=BAR,
                    class_=f"part p{index}")
                x += value * scale
            element(
                root, "text", f"{short(sum(parts))} ({short(parts[-1])})", x=round(x + 6, 1), y=y + 13,
                class_="small")
            y += BAR + GAP
        y += GROUP
    element(root, "line", x1=LEFT, y1=y, x2=WIDTH - RIGHT, y2=y, class_="axis")
    step = step_of(most)
    mark = 0
    while mark <= most:
        place = round(LEFT + mark * scale, 1)
        element(root, "line", x1=place, y1=y, x2=place, y2=y + 5, class_="axis")
        element(root, "text", f"{mark:g}", x=place, y=y + 18, text_anchor="middle", class_="small")
        mark += step
    element(
        root, "text", "behind each bar: all, and in brackets what is above the floor", x=LEFT, y=y + 34,
        class_="small")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def write(videos, path):
    Path(path).write_text(drawing(videos))
