#!/usr/bin/env python3
"""A whole night in small: captures of all five families, one after the other and two at a time, against the sum of
their floors.

    Benchmarks/night.py --program .build/release/scanmill --json night.json --markdown night.md
    Benchmarks/night.py FOLDER-OF-CAPTURES... --captures 20

Without folders twenty captures are rendered, four of each family; named captures take their places first. Tells the
CPU time of everything by that of the floors (reading with the libraries in one thread, writing the bytes that were
written), the part of it that the supervisor and planning took, and the peak memory of the largest worker.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from measuring import (
    Problem, capture_of, check_room, machine, median, number, run, settle, stop, table,
)
from timeline import is_running, times

FAMILIES = ("scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo")
# Parts of the floor by the stage that they belong to; a part that two stages read is counted once.
READING = {"color": "convert", "depth": "depth", "confidence": "confidence", "aligned": "depth"}


def rendered(arguments, place, count):
    """`count` captures, the families in turn, each with a seed of its own."""
    made = []
    for index in range(count):
        family = FAMILIES[index % len(FAMILIES)]
        words = [arguments.program, "synthesize", family, "--output", place / "in" / f"{index:02}"]
        words += ["--frames", arguments.frames, "--seed", index + 1, "--truth-pictures", "0"]
        if arguments.width:
            words += ["--width", arguments.width, "--height", arguments.width * 3 // 4]
        made.append(Path(run(words).output.splitlines()[0]))
    return made


def given(arguments, place):
    """Copies of the captures that were named, and captures around movies, in one folder."""
    found = []
    for index, text in enumerate(arguments.folders):
        path = Path(text).resolve()
        if not path.exists():
            raise Problem(f"{text}: not there")
        link = place / "in" / f"given-{index:02}"
        if path.is_dir():
            shutil.copytree(path, link)
        else:
            link = capture_of(path, place / "in" / f"given-{index:02}")
        found.append(link)
    return found


class Night:
    """One run over all captures and what it took."""

    def __init__(self, arguments, place):
        self.arguments = arguments
        self.place = place

    def run(self, name, jobs):
        """As many captures side by side as there are jobs, if memory allows."""
        output = self.place / name
        words = [self.arguments.program, "run", self.place / "in", "--output", output, "-j", jobs]
        words += ["--pipeline", self.arguments.pipeline, "--json", "-q", "--progress", "none"]
        own = {}

        def watch(process):
            own.update(supervisor(process))

        # A damaged capture among them does not end the night.
        used = run(words, accepted=(0, 1, 65), while_running=watch)
        report = json.loads(used.output)
        stages = [stage for capture in report["captures"] for stage in capture["stages"]]
        settle(output)
        return {
            **used.seconds(), "jobs": jobs, "output": str(output),
            "supervisor": own.get("cpu"),
            "peakMemoryBytes": max((stage.get("peakMemoryBytes") or 0 for stage in stages), default=0),
            "captures": [
                {
                    "id": capture["id"], "outcome": capture["outcome"],
                    "stages": [s["stage"] for s in capture["stages"] if s["outcome"] == "made"],
                }
                for capture in report["captures"]
            ],
        }

    def plan(self, output):
        """What planning takes when nothing is left to be done: opening and looking are part of it."""
        words = [self.arguments.program, "run", self.place / "in", "--output", output, "-n", "--json"]
        words += ["--pipeline", self.arguments.pipeline]
        return run(words, accepted=(0, 1, 65)).seconds()


def supervisor(process):
    """CPU seconds of the supervisor's own threads, and of the processes that open captures for it, as long as the run
    goes on. Workers are not counted."""
    kinds = {}
    known = {}
    while is_running(process):
        for thread, used in times(process):
            owner = int(thread.split("/")[2])
            if owner not in kinds:
                kinds[owner] = owner == process or is_look(owner)
            if kinds[owner]:
                known[thread] = max(used, known.get(thread, 0))
        time.sleep(0.02)
    return {"cpu": sum(known.values()) / 1e9}


def is_look(process):
    try:
        return b"look" in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[1:2]
    except OSError:
        return False


def floors(arguments, captures, output, place):
    """CPU seconds of the parts, of every capture that was processed."""
    total = {"read": 0.0, "copy": 0.0}
    rows = []
    for index, path in enumerate(captures):
        parts = {}
        folder = output_of(path, output)
        if folder is None:
            rows.append({"capture": path.name, "note": "left no results"})
            continue
        stages = [stage for stage in READING if (folder / stage / "artifact.json").exists()]
        for part in dict.fromkeys(READING[stage] for stage in stages):
            try:
                sample = json.loads(run([arguments.program, "floor", part, path]).output)
            except Problem as problem:
                rows.append({"capture": path.name, "note": str(problem)[:300]})
                continue
            parts[part] = sample["userSeconds"] + sample["systemSeconds"]
        copy = 0.0
        for stage in stages:
            target = place / "copies" / f"{index:02}-{stage}"
            sample = json.loads(run([arguments.program, "floor", "copy", folder / stage, target]).output)
            copy += sample["userSeconds"] + sample["systemSeconds"]
        settle(place)
        total["read"] += sum(parts.values())
        total["copy"] += copy
        rows.append({"capture": path.name, "parts": parts, "copy": copy})
    return {"cpu": total["read"] + total["copy"], **total, "captures": rows}


def output_of(capture, output):
    """The results of a capture: the folder whose record names that place."""
    for record in Path(output).glob("*/.scanmill/owner.json"):
        if str(capture.resolve()) in record.read_text():
            return record.parent.parent
    for folder in Path(output).iterdir():
        document = folder / "capture.json"
        if document.exists() and str(capture.resolve()) in document.read_text():
            return folder
    return None


def measured(arguments, place):
    (place / "in").mkdir()
    captures = given(arguments, place)
    captures += rendered(arguments, place, max(0, arguments.captures - len(captures)))
    check_room(place, 8 * sum(f.stat().st_size for f in (place / "in").rglob("*") if f.is_file()))
    night = Night(arguments, place)
    report = {"schema": 1, "machine": machine(), "times": arguments.times, "rounds": []}
    report["version"] = run([arguments.program, "--version"]).output.splitlines()[0]
    for index in range(arguments.times + 1):
        print(f"run: round {index} of {arguments.times}", file=sys.stderr)
        one = night.run(f"one-{index}", 1)
        two = night.run(f"two-{index}", arguments.jobs)
        plan = night.plan(two["output"])
        (place / "copies").mkdir(exist_ok=True)
        floor = floors(arguments, captures, Path(two["output"]), place / "copies" / f"round-{index}")
        # The first warms up.
        if index > 0:
            report["rounds"].append({"one": one, "two": two, "plan": plan, "floor": floor})
    report["loadAfter"] = os.getloadavg()[0]
    return report


def figures(report):
    """Medians of all rounds."""
    rounds = report["rounds"]
    result = {
        "captures": len(rounds[0]["two"]["captures"]),
        "done": sum(c["outcome"] == "made" for c in rounds[0]["two"]["captures"]),
        "floorSeconds": median(r["floor"]["cpu"] for r in rounds),
        "planSeconds": median(r["plan"]["cpu"] for r in rounds),
    }
    for way in ("one", "two"):
        cpu = median(r[way]["cpu"] for r in rounds)
        own = median(r[way]["supervisor"] for r in rounds)
        result[way] = {
            "jobs": rounds[0][way]["jobs"], "cpuSeconds": cpu, "wallSeconds": median(r[way]["wall"] for r in rounds),
            "byFloor": cpu / max(1e-9, result["floorSeconds"]),
            "supervisorShare": None if own is None else own / max(1e-9, cpu),
            "peakMemoryBytes": max(r[way]["peakMemoryBytes"] for r in rounds),
        }
    return result


def tables(report):
    found = figures(report)
    lines = [
        f"{report['machine']['processor']}, {report['machine']['cores']} cores; load "
        f"{number(report['machine']['load'])} before, {number(report['loadAfter'])} after; medians of "
        f"{report['times']} rounds; {found['captures']} captures, {found['done']} done; the floors together "
        f"{number(found['floorSeconds'])} s of CPU; planning once everything is done {number(found['planSeconds'])} s.",
        "",
    ]
    rows = []
    for way, words in (("one", "one after the other"), ("two", "side by side")):
        value = found[way]
        share = value["supervisorShare"]
        rows.append([
            f"{words}, `-j {value['jobs']}`", number(value["cpuSeconds"]), number(value["byFloor"]),
            number(value["wallSeconds"]), number(value["cpuSeconds"] / value["wallSeconds"]),
            "–" if share is None else f"{100 * share:.2f} %", number(value["peakMemoryBytes"] / 2**20, 0),
        ])
    lines += table(
        ["run", "CPU s", "by the floors", "wall s", "cores busy", "supervisor and planning", "peak MiB of a worker"],
        rows)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", help="captures or movies that are part of the night")
    parser.add_argument("--program", default=".build/release/scanmill")
    parser.add_argument("--captures", type=int, default=20, help="how many in all")
    parser.add_argument("--frames", type=int, default=60, help="of each rendered capture")
    parser.add_argument("--width", type=int, help="of rendered color; by default that of the family")
    parser.add_argument("--jobs", type=int, default=2, help="cores, and captures side by side")
    parser.add_argument("--times", type=int, default=1, help="measured rounds, after one to warm up")
    parser.add_argument("--pipeline", default="benchmark")
    parser.add_argument("--folder", help="where to work; by default the system's folder for temporary files")
    parser.add_argument("--json", metavar="FILE", help="write all samples and figures")
    parser.add_argument("--markdown", metavar="FILE", help="write the table; by default it is printed")
    arguments = parser.parse_args()
    if arguments.captures < 1 or arguments.times < 1:
        parser.error("--captures and --times are at least 1")
    arguments.program = str(Path(arguments.program).resolve())
    try:
        with tempfile.TemporaryDirectory(prefix="scanmill-night-", dir=arguments.folder) as place:
            report = measured(arguments, Path(place))
    except (Problem, OSError, json.JSONDecodeError) as problem:
        stop(problem)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({**report, "figures": figures(report)}, indent=1) + "\n")
    if arguments.markdown:
        Path(arguments.markdown).write_text(tables(report))
    else:
        print(tables(report), end="")


if __name__ == "__main__":
    main()
