#!/usr/bin/env python3
"""Writes docs/reference/json.md, the keys of all JSON documents, from the schemas beside this file.

keys.py          writes it
keys.py --check  status 1 where the page holds other ones
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parent / "reference/json.md"
SCHEMAS = {f.stem: json.loads(f.read_text()) for f in sorted(FOLDER.glob("*.json"))}
SHARED = {k: v for s in SCHEMAS.values() for k, v in s.get("$defs", {}).items()}
HEAD = """# Keys of the JSON documents

Made by `docs/schemas/keys.py` from the [JSON Schemas](../schemas) (2020-12): change these, not this page.

`optional` means that the key is absent if there is nothing to report; `or null`, that it is present but the value is unknown. A *map* is an object with any keys. To check a document:

```python
import json, jsonschema

schema = json.load(open("docs/schemas/capture.json"))
jsonschema.validate(json.load(open("out/session_2026-11-10T01-38-53Z/capture.json")), schema)
```
"""


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


def section(title, node):
    words = [node[k].rstrip(".") + "." for k in ("title", "description") if k in node]
    head = [f"## {title}", "", " ".join(words), "", "| key | type | meaning |", "| --- | --- | --- |"]
    # Links of descriptions are those of a page in docs/.
    return re.sub(r"\]\((?![#:/])([\w-]+\.md)", r"](../\1", "\n".join(head + list(rows(node)))) + "\n"


def page():
    documents = [section(name, node) for name, node in SCHEMAS.items()]
    objects = [section(f"Object `{name}`", node) for name, node in sorted(SHARED.items())]
    return "\n".join([HEAD, *documents, *objects])


def main(words):
    if words == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page():
            print(f"docs/reference/{PAGE.name} and the schemas differ: run docs/schemas/keys.py")
            return 1
        return 0
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
