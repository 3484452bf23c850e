#!/usr/bin/env python3
"""What an element leaves behind, without its work: write_results.py RUNFOLDER NUMBER

Reads the order of the element, and gives every capture in it the results and the output folder that one capture of the
same content had in a real element: `FAKE_SLURM_TEMPLATE` names a folder with `results.jsonl` (the lines of that
element, which had this one capture), `capture/` (its output folder) and `name`. Names of captures must be of the same
length, since they stand in notes of fixed layout.
"""

import json
import os
import sys
from pathlib import Path


def names_of(order):
    """The captures of an order, by the names of their output folders."""
    return [capture["target"]["layout"]["name"] for capture in order["captures"]]


def lines_for(template, names, number, job):
    """The lines of an element with these captures. `template`: [(kind, line)] of one with a single capture."""
    for kind, line in template:
        if kind == "begin":
            value = json.loads(line)
            inner = value["begin"].get("_0", value["begin"])
            inner["element"], inner["job"] = number, job
            yield json.dumps(value)
    for name in names:
        for kind, line in template:
            if kind in ("event", "capture"):
                yield line.replace(NAME, name)
    for kind, line in template:
        if kind == "end":
            yield line


def copy_output(source, target, name):
    """The output folder of the template's capture, under another name."""
    target.mkdir(exist_ok=True)
    for entry in sorted(source.iterdir()):
        if entry.is_dir():
            copy_output(entry, target / entry.name, name)
        else:
            data = entry.read_bytes().replace(NAME.encode(), name.encode())
            (target / entry.name).write_bytes(data)


def main():
    global NAME
    run, number = Path(sys.argv[1]), int(sys.argv[2])
    folder = Path(os.environ["FAKE_SLURM_TEMPLATE"])
    NAME = (folder / "name").read_text().strip()
    template = [(next(iter(json.loads(line))), line) for line in (folder / "results.jsonl").read_text().splitlines()]
    order = json.loads((run / f"slurm/orders/{number // 1000:03}/{number:06}.json").read_text())
    names = names_of(order)
    job = os.environ["SLURM_JOB_ID"]
    if "SLURM_ARRAY_TASK_ID" in os.environ:
        job = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
    output = run.parent.parent
    for name in names:
        copy_output(folder / "capture", output / name, name)
    text = "".join(line + "\n" for line in lines_for(template, names, number, job))
    with open(run / f"slurm/results/{number:06}.{job}.jsonl", "a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


NAME = ""

if __name__ == "__main__":
    main()
