#!/usr/bin/env python3
"""Writes the tables of keys of docs/outputs.md from the schemas beside this file.

keys.py          writes them between the marks <!-- keys NAME --> and <!-- end -->
keys.py --check  status 1 where the page holds other ones
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parent / "outputs.md"
SCHEMAS = {f.stem: json.loads(f.read_text()) for f in sorted(FOLDER.glob("*.json"))}
SHARED = {k: v for s in SCHEMAS.values() for k, v in s.get("$defs", {}).items()}


def options(node):
    """The node without null, and whether null is allowed."""
    if "oneOf" in node:
        some = [o for o in node["oneOf"] if o.get("type") != "null"]
        return {**some[0], "description": node.get("description", "")}, True
    types = node.get("type", "")
    types = types if isinstance(types, list) else [types]
    return {**node, "type": [t for t in types if t != "null"][:1]}, "null" in types


def kind(node):
    node, nullable = options(node)
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        text = f"[{name}](#object-{name})"
    else:
        text = "".join(node["type"]) or "any"
        if "enum" in node:
            text = "word" if text == "string" else text
        elif text == "array":
            text = "list of " + kind(node["items"])
        elif text == "object" and "properties" not in node:
            text = "map"
    return text + (" or null" if nullable else "")


def rows(node, prefix=""):
    node, _ = options(node)
    required = node.get("required", [])
    for key, child in node.get("properties", {}).items():
        inner, _ = options(child)
        place = f"{prefix}{key}"
        words = child.get("description", "") or SHARED.get(
            inner.get("$ref", "").rsplit("/", 1)[-1], {}).get("description", "")
        values = [v for v in inner.get("enum", []) if v is not None]
        if values:
            words += " One of " + ", ".join(f"`{v}`" for v in values) + "."
        presence = "" if key in required else " (optional)"
        yield f"| `{place}` | {kind(child)}{presence} | {words.strip()} |"
        if "properties" in inner:
            yield from rows(inner, place + ".")
        if "items" in inner and "properties" in options(inner["items"])[0]:
            yield from rows(inner["items"], place + "[].")


def table(name):
    node = SHARED[name[7:]] if name.startswith("object-") else SCHEMAS[name]
    head = [node.get("description", ""), "", "| key | type | meaning |", "| --- | --- | --- |"]
    return "\n".join(head + list(rows(node)))


def main(words):
    old = PAGE.read_text()
    marks = re.compile(r"(<!-- keys ([\w-]+) -->\n)(?:.*?\n)??(<!-- end -->)", re.S)
    new = marks.sub(lambda m: m[1] + table(m[2]) + "\n" + m[3], old)
    missing = set(SCHEMAS) | {f"object-{k}" for k in SHARED}
    missing -= {m[2] for m in marks.finditer(old)}
    if missing:
        print(f"docs/outputs.md has no place for: {', '.join(sorted(missing))}")
    if words == ["--check"]:
        if new != old:
            print("docs/outputs.md and the schemas differ: run docs/schemas/keys.py")
        return 1 if missing or new != old else 0
    PAGE.write_text(new)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
