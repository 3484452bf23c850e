#!/usr/bin/env python3
"""Draws the modules of Package.swift and what each imports: docs/modules.svg.

    docs/modules.py            writes it
    docs/modules.py --check    says whether it is what Package.swift would give (exit code 1: it is not)

A module stands one row below the lowest module that it imports. A line that is left out follows from the
lines that are drawn: a module may import whatever can be reached upward.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "modules.svg"
WIDTH, BOX_WIDTH, BOX_HEIGHT, ROW, MARGIN, GAP = 960, 140, 30, 78, 16, 12


def package(root: Path) -> dict:
    """The package as SwiftPM reads it. A scratch folder of its own: a build may hold the other one."""
    with tempfile.TemporaryDirectory() as scratch:
        text = subprocess.run(
            ["swift", "package", "--package-path", str(root), "--scratch-path", scratch, "dump-package"],
            check=True, capture_output=True, text=True,
        ).stdout
    return json.loads(text)


def modules(description: dict) -> dict[str, set[str]]:
    """Own modules in Swift by name, with the own modules that each imports. C and tests are left out."""
    own = {
        target["name"]: target
        for target in description["targets"]
        if target["type"] in ("regular", "executable")
        and not (target.get("path") or "").startswith("Tests/")
        and not target["name"].startswith("C" + target["name"][1:2].upper() + target["name"][2:3].upper())
        and target["name"] not in ("CPlatform", "CRendering")
    }
    def names(target: dict) -> set[str]:
        found = set()
        for dependency in target["dependencies"]:
            found.update(part[0] for part in dependency.values() if isinstance(part, list) and isinstance(part[0], str))
        return found & own.keys()
    return {name: names(target) for name, target in own.items()}


def rows(imports: dict[str, set[str]]) -> list[list[str]]:
    """The modules from those that import nothing downward; each row by name."""
    depth: dict[str, int] = {}
    def of(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((of(other) for other in imports[name]), default=-1)
        return depth[name]
    for name in imports:
        of(name)
    return [sorted(name for name in imports if depth[name] == row) for row in range(max(depth.values()) + 1)]


def direct(imports: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The imports that do not follow from others."""
    def reached(name: str) -> set[str]:
        return imports[name].union(*(reached(other) for other in imports[name]))
    return {
        (name, other)
        for name in imports
        for other in imports[name]
        if not any(other in reached(third) for third in imports[name] - {other})
    }


def slots(lines: list[list[str]], edges: set[tuple[str, str]]) -> list[dict]:
    """What stands in each row: the modules, and a gap for each line that passes. Each with what it hangs from in
    the row above."""
    row_of = {name: row for row, names in enumerate(lines) for name in names}
    found: list[dict] = [{name: [] for name in names} for names in lines]
    for name, other in sorted(edges):
        above = other
        for row in range(row_of[other] + 1, row_of[name]):
            gap = (name, other, row)
            found[row][gap] = [above]
            above = gap
        found[row_of[name]][name].append(above)
    return found


def centers(found: list[dict]) -> dict:
    """The middle of each box and gap. A row stands in the order of the middles of what it hangs from."""
    at: dict = {}
    for row, members in enumerate(found):
        def wish(member) -> float:
            above = members[member]
            return sum(at[other][0] for other in above) / len(above) if above else 0
        widths = [(member, GAP if isinstance(member, tuple) else BOX_WIDTH + GAP) for member in members]
        widths.sort(key=lambda part: (wish(part[0]), str(part[0])))
        space = (WIDTH - 2 * MARGIN - sum(width for _, width in widths)) / len(widths)
        x = MARGIN + space / 2
        for member, width in widths:
            at[member] = (x + width / 2, MARGIN + BOX_HEIGHT / 2 + ROW * row)
            x += width + space
    return at


def path(name: str, other: str, found: list[dict], at: dict) -> str:
    """From a module to one that it imports, through the gaps between them."""
    x, y = at[other]
    text = f"M{x:.0f} {y + BOX_HEIGHT / 2:.0f}"
    y += BOX_HEIGHT / 2
    for row, members in enumerate(found):
        if (name, other, row) in members:
            next_x = at[(name, other, row)][0]
            top = MARGIN + ROW * row
            text += curve(x, y, next_x, top) + f"V{top + BOX_HEIGHT:.0f}"
            x, y = next_x, top + BOX_HEIGHT
    return text + curve(x, y, at[name][0], at[name][1] - BOX_HEIGHT / 2)


def curve(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (y + to_y) / 2
    return f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}"


def picture(imports: dict[str, set[str]]) -> bytes:
    lines, edges = rows(imports), direct(imports)
    found = slots(lines, edges)
    at = centers(found)
    height = 2 * MARGIN + BOX_HEIGHT + ROW * (len(lines) - 1)
    svg = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", width=str(WIDTH), height=str(height),
        viewBox=f"0 0 {WIDTH} {height}", role="img",
    )
    ElementTree.SubElement(svg, "title").text = "The modules of scanmill: each imports those above it that a line leads to"
    ElementTree.SubElement(svg, "rect", width="100%", height="100%", fill="#ffffff")
    for name, other in sorted(edges):
        ElementTree.SubElement(svg, "path", fill="none", stroke="#8a93a0", d=path(name, other, found, at))
    for name in sorted(imports):
        x, y = at[name]
        ElementTree.SubElement(
            svg, "rect", x=f"{x - BOX_WIDTH / 2:.0f}", y=f"{y - BOX_HEIGHT / 2:.0f}", width=str(BOX_WIDTH),
            height=str(BOX_HEIGHT), rx="4", fill="#eef3f8", stroke="#3b5b7a",
        )
        text = ElementTree.SubElement(
            svg, "text", {"text-anchor": "middle", "font-family": "sans-serif", "font-size": "14", "fill": "#16212c"},
            x=f"{x:.0f}", y=f"{y + 5:.0f}",
        )
        text.text = name
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="utf-8") + b"\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where the picture is another")
    check = parser.parse_args().check
    wanted = picture(modules(package(ROOT)))
    if check:
        if PICTURE.is_file() and PICTURE.read_bytes() == wanted:
            return 0
        print("docs/modules.svg is not what Package.swift gives; run docs/modules.py", file=sys.stderr)
        return 1
    PICTURE.write_bytes(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
