#!/usr/bin/env python3
"""Where more cores stop helping, and why: one and two cores measured, more of them simulated with what was measured.

  Benchmarks/cores.py PROGRAM CAPTURE [--cores 1,2,4,16,64] [--captures 64] [--rounds 3] [--json FILE]

Measured: a picture's CPU time to pull and decode it, to convert it, and the rest of ours (encode, digest, write), by
`bench --floor`; what a run costs beyond its pictures, by a run of one picture; what the disk takes, by files of the
same size. Simulated: as in Core/Parallel, one worker of a capture pulls and decodes the next picture while the others
work on theirs, at most one decoded picture waits, every step holds a core; times vary log-normally. The measured
walls of one and two cores say how far the simulation can be believed.
"""

import argparse
import heapq
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from measuring import Problem, machine, median, number, run, stop, table

SPREAD = 0.3
PIPELINE = Path(__file__).parent / "color.yaml"


def costs(program, capture, folder, rounds):
    """Seconds per picture and per run, and the walls that were measured."""
    report = json.loads(run([
        program, "bench", capture, "--pipeline", PIPELINE, "-j", "1,2", "--floor", "--json", "-q", "--repeat", rounds,
        "--scratch", folder]).output)
    figures = report["captures"][0]
    color = figures["floor"]["stages"][0]
    each = {part: color[part]["cpuMillisecondsPerFrame"] / 1000 for part in ("decode", "convert", "ours")}
    pictures = color["frames"]
    walls = {found["jobs"]: found["whole"]["wallSeconds"]["median"] for found in figures["runs"]}
    one = []
    for _ in range(rounds):
        shutil.rmtree(folder / "one", ignore_errors=True)
        one.append(run([program, "run", capture, "--output", folder / "one", "--only", "color", "--set",
                        "color.last=0", "-q", "--progress", "none"]))
    # CPU time of a whole run contains what a run costs beyond its pictures.
    fixed = median([used.cpu for used in one])
    work = max(0.0, each["ours"] - each["decode"] - fixed / pictures)
    return {
        "pictures": pictures, "pull": each["decode"], "work": work, "bytes": color["bytes"] / pictures,
        "fixed": median([used.wall for used in one]), "walls": walls, "disk": disk(folder, color["bytes"] // pictures)}


def disk(folder, size, total=2**28):
    """Bytes per second that the disk takes for good."""
    place, bytes_of_file = folder / "disk", os.urandom(size)
    place.mkdir()
    begin = time.monotonic()
    for index in range(max(1, total // size)):
        (place / str(index)).write_bytes(bytes_of_file)
    os.sync()
    seconds = time.monotonic() - begin
    shutil.rmtree(place)
    return max(1, total // size) * size / seconds


def varied(mean, random):
    return mean * math.exp(random.gauss(0, SPREAD) - SPREAD**2 / 2)


def simulated(known, cores, pictures, random):
    """Seconds of the pictures of one capture: one pulls at a time, each worker has one picture."""
    free = [0.0] * cores
    source = 0.0
    end = 0.0
    for _ in range(pictures):
        # Whoever is free first pulls as soon as the picture before is decoded; the one that is decoded may wait for
        # another worker, which is the same as working on it where it was pulled.
        at = max(heapq.heappop(free), source)
        source = at + varied(known["pull"], random)
        done = source + varied(known["work"], random)
        heapq.heappush(free, done)
        end = max(end, done)
    return end


def batch(known, cores, captures, random):
    """Seconds of captures of the same length, at most one per core at a time; the disk takes what it can."""
    at_once = min(cores, captures)
    free = [0.0] * at_once
    for _ in range(captures):
        begin = heapq.heappop(free)
        heapq.heappush(
            free, begin + known["fixed"] + simulated(known, max(1, cores // at_once), known["pictures"], random))
    written = captures * known["pictures"] * known["bytes"] / known["disk"]
    return max(max(free), written), written


def rows(known, cores, captures):
    found = []
    for count in cores:
        chance = random.Random(1)
        one = known["fixed"] + simulated(known, count, known["pictures"], chance)
        long = simulated(known, count, 20_000, chance) / 20_000
        many, written = batch(known, count, captures, chance)
        found.append({"cores": count, "one": one, "long": long, "batch": many, "written": written,
                      "measured": known["walls"].get(count)})
    return found


def text(known, found, captures):
    first = found[0]
    return "\n".join([
        f"{known['pictures']} pictures; per picture {number(1000 * known['pull'])} ms to pull and decode, "
        f"{number(1000 * known['work'])} ms for the rest, {number(known['bytes'] / 1e6)} MB; a run besides "
        f"{number(known['fixed'])} s; the disk takes {number(known['disk'] / 1e6)} MB/s.",
        f"One capture stops at {number(1 + known['work'] / known['pull'], 1)} cores: its pictures are decoded one after "
        f"the other. A batch stops where the disk does, at {number(known['disk'] / known['bytes'], 0)} pictures/s.", "",
        *table(
            ["cores", "one capture, s (measured)", "a long one, pictures/s", "times one core",
             f"{captures} captures, s", "times one core", "of it the disk, s"],
            [[row["cores"],
              number(row["one"]) + (f" ({number(row['measured'])})" if row["measured"] else ""),
              number(1 / row["long"]), number(first["long"] / row["long"]), number(row["batch"]),
              number(first["batch"] / row["batch"]), number(row["written"])] for row in found])])


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("program")
    words.add_argument("capture")
    words.add_argument("--cores", default="1,2,4,16,64")
    words.add_argument("--captures", type=int, default=64)
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--folder", help="where outputs go")
    words.add_argument("--json", help="where the numbers go as well")
    words = words.parse_args()
    about = machine()
    folder = Path(tempfile.mkdtemp(prefix="cores-", dir=words.folder))
    try:
        known = costs(Path(words.program).resolve(), words.capture, folder, words.rounds)
    except Problem as problem:
        stop(problem)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = rows(known, list(map(int, words.cores.split(","))), words.captures)
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']:.2f} before, "
          f"{machine()['load']:.2f} after; medians of {words.rounds}\n")
    print(text(known, found, words.captures))
    if words.json:
        Path(words.json).write_text(json.dumps({"machine": about, "known": known, "rows": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
