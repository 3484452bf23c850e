#!/usr/bin/env python3
"""schemas.py SCHEMAS LIST [--unmet]: are the documents of LIST what the JSON Schemas in the folder SCHEMAS say?

LIST holds lines "NAME<tab>FILE": NAME.json is the schema of FILE, or of each of its lines where FILE ends in
.jsonl. Afterwards every document is changed in every way that its schema forbids: a key too many, a required key
gone, a value of another type, outside of an enumeration, a pattern or a range. Each of these must be noticed.
Prints what is wrong, with --unmet also what the schemas describe and no document holds. Status 1: something is wrong.
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator


def documents(listing):
    for line in pathlib.Path(listing).read_text().splitlines():
        name, file = line.split("\t")
        text = pathlib.Path(file).read_text()
        if file.endswith(".jsonl"):
            for number, row in enumerate(text.splitlines(), 1):
                yield name, f"{file}:{number}", json.loads(row)
        else:
            yield name, file, json.loads(text)


def loose(node, place):
    """Objects that say which keys they have, and allow others."""
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            if node.get("additionalProperties") is not False:
                yield place
        for key, child in node.items():
            yield from loose(child, f"{place}.{key}")
    elif isinstance(node, list):
        for child in node:
            yield from loose(child, place)


class Walk:
    """A schema and a document side by side: what may be changed where, and which keys were met."""

    def __init__(self, schema):
        self.schema = schema
        self.met = set()

    def resolved(self, node, value):
        if "oneOf" in node:
            options = [o for o in node["oneOf"] if o.get("type") != "null"]
            node = {**options[0], "nullable": True} if value is not None else {"nullable": True}
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            return {**self.schema["$defs"][name], "place": name}
        return node

    def changes(self, schema, value, place):
        """Yields (place in the schema, what it says of the value there, the value, its key or None, what is wrong there)."""
        node = self.resolved(schema, value)
        place = node.get("place", place)
        self.met.add(place)
        if isinstance(value, dict) and "properties" in node:
            if node.get("additionalProperties") is False:
                yield f"{place}: a key too many", schema, value, "zzz", 1
            for key in node.get("required", []):
                yield f"{place}.{key}: gone", schema, value, key, Walk.gone
            for key, child in node["properties"].items():
                if key in value:
                    yield from self.changes(child, value[key], f"{place}.{key}")
            for what, key, wrong in self.consequences(node, value, place):
                yield what, schema, value, key, wrong
        elif isinstance(value, dict):
            for key in list(value)[:1]:
                if isinstance(node.get("additionalProperties"), dict):
                    yield from self.changes(node["additionalProperties"], value[key], f"{place}.*")
        elif isinstance(value, list) and "items" in node:
            for item in value:
                yield from self.changes(node["items"], item, f"{place}[]")
        if "type" in node:
            yield f"{place}: another type", schema, value, None, [[]] if node["type"] != "array" else "zzz"
        if "enum" in node or "const" in node:
            yield f"{place}: not among the values", schema, value, None, "zzz" if isinstance(value, str) else 12345
        if "pattern" in node and value is not None:
            yield f"{place}: another form", schema, value, None, "zzz"
        if "minimum" in node and value is not None:
            yield f"{place}: too small", schema, value, None, node["minimum"] - 1

    def consequences(self, node, value, place):
        """What one key says of the others: `if`, `then` and `else`."""
        for rule in node.get("allOf", []):
            if all(value.get(key) == test["const"] for key, test in rule["if"]["properties"].items()):
                for key in rule["then"]["required"]:
                    yield f"{place}.{key}: gone ({rule['if']['properties']})", key, Walk.gone
        for key, test in node.get("if", {}).get("properties", {}).items():
            branch = "then" if (value[key] is None) == (test["type"] == "null") else "else"
            for other, rule in node[branch]["properties"].items():
                wrong = 0 if rule["type"] == "null" else None
                yield f"{place}.{other}: not as {place}.{key} says ({branch})", other, wrong

    gone = object()

    def keys(self, node=None, place=None):
        """All places that the schema describes."""
        node, place = (self.schema, "") if node is None else (node, place)
        for option in node.get("oneOf", []):
            yield from self.keys(option, place)
        for key, child in node.get("properties", {}).items():
            # What is described elsewhere is met there.
            if "$ref" in child or any("$ref" in option for option in child.get("oneOf", [])):
                continue
            yield f"{place}.{key}"
            yield from self.keys(child, f"{place}.{key}")
        if isinstance(node.get("items"), dict):
            yield from self.keys(node["items"], f"{place}[]")


def changed(value, key, wrong):
    if key is None:
        return wrong
    others = {name: inner for name, inner in value.items() if name != key}
    return others if wrong is Walk.gone else {**others, key: wrong}


def main(folder, listing, *more):
    schemas = {}
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        schemas[file.stem] = json.loads(file.read_text())
        Draft202012Validator.check_schema(schemas[file.stem])
    shared, problems = {}, []
    for name, schema in schemas.items():
        problems += [f"{place}: additionalProperties is not false" for place in loose(schema, name)]
        for key, value in schema.get("$defs", {}).items():
            if shared.setdefault(key, value) != value:
                problems.append(f"{name}.json: $defs.{key} is another one than in the other schemas")
    validators = {name: Draft202012Validator(schema) for name, schema in schemas.items()}
    walks = {name: Walk(schema) for name, schema in schemas.items()}
    counts, tried = dict.fromkeys(schemas, 0), {name: set() for name in schemas}
    for name, place, document in documents(listing):
        counts[name] += 1
        errors = sorted(validators[name].iter_errors(document), key=lambda e: str(e.json_path))
        for error in errors:
            problems.append(f"{place} ({name}): {error.json_path}: {error.message[:200]}")
        if errors:
            continue
        for what, schema, *change in walks[name].changes(schemas[name], document, ""):
            # Each change once per schema: the first document that allows it is as good as any.
            if what in tried[name]:
                continue
            tried[name].add(what)
            if validators[name].evolve(schema=schema).is_valid(changed(*change)):
                problems.append(f"{name}.json: not noticed: {what} (in {place})")
    for name in schemas if "--unmet" in more else []:
        unmet = set(walks[name].keys()) - walks[name].met
        for key, value in schemas[name].get("$defs", {}).items():
            unmet |= set(walks[name].keys(value, key)) - walks[name].met
        print(f"{name}: not met: {', '.join(sorted(unmet)) or 'nothing'}")
    held = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    print(f"documents: {held}; {sum(map(len, tried.values()))} forbidden changes tried")
    print("\n".join(problems[:40]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
