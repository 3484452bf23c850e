#!/usr/bin/env python3
"""What a tiny capture costs, the fixed price of a worker, and what calls cost that do little or much, in wall and
processor time.

  Benchmarks/starts.py .build/release/scanmill [/path/to/another/scanmill ...] [--captures 20] [--rounds 5] [--json FILE]
  Benchmarks/starts.py … --calls 1000

Makes tiny captures with the first program and runs all of them into a fresh folder, the programs in turn, with one
picture decoded ("color", which loads FFmpeg) and without any ("imu"), alone (one capture), one after the other (-j 1)
and on all cores. Medians over the rounds, per capture; processor time is that of all processes of a run, waiting
workers included.

With --calls N in place of that, per call and the least of the rounds: status of an output of N captures, a run of all of
them that finds nothing to do, and color of 300 pictures. Each program reads an output of its own.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PIPELINES = {"color": "  color: {uses: decode-color}", "imu": "  imu: {uses: match-imu}"}


def once(program, captures, output, pipeline, jobs):
    """Wall and processor seconds of a run."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [program, "run", *captures, "--output", output, "--pipeline", pipeline, "-j", str(jobs), "--progress", "none"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaints = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {program} ended with {process.returncode}: {complaints.decode()[-2000:]}")
    return wall, usage.ru_utime + usage.ru_stime


def tiny(program, folder, number, frames=1, size=(480, 360)):
    """A capture."""
    subprocess.run(
        [program, "synthesize", "scannet", "--output", folder, "--frames", str(frames), "--width", str(size[0]),
         "--height", str(size[1]), "--id", f"c{number:03}", "--seed", str(number + 1), "--truth-pictures", "0"],
        check=True, stdout=subprocess.DEVNULL)
    return folder / f"c{number:03}"


def calls(programs, folder, count, rounds):
    """Rows of calls, the programs in turn."""
    model = tiny(programs[0], folder / "model", 0)
    for number in range(count):
        name = f"n{number:05}"
        (folder / "in" / name).mkdir(parents=True)
        for file in model.iterdir():
            shutil.copy(file, folder / "in" / name / file.name.replace("c000", name))
    long = tiny(programs[0], folder / "long", 0, 300, (640, 480))
    least = {}
    for program in programs:
        output = folder / f"out-{programs.index(program)}"
        once(program, [folder / "in"], output, folder / "imu.yaml", 0)
    for round in range(rounds):
        for program in programs:
            output = folder / f"out-{programs.index(program)}"
            begin = time.monotonic()
            process = subprocess.Popen([program, "status", output], stdout=subprocess.DEVNULL)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
            found = {"status": (time.monotonic() - begin, usage.ru_utime + usage.ru_stime)}
            found["nothing to do"] = once(program, [folder / "in"], output, folder / "imu.yaml", 0)
            found["300 pictures"] = once(program, [long], folder / "fresh", folder / "color.yaml", 0)
            shutil.rmtree(folder / "fresh")
            for call, seconds in found.items():
                known = least.get((call, program), seconds)
                least[call, program] = tuple(map(min, known, seconds))
    rows = []
    print("| call | program | wall, ms | CPU, ms |")
    print("| --- | --- | --- | --- |")
    for (call, program), (wall, cpu) in least.items():
        rows.append({"call": call, "program": program, "wallMilliseconds": wall * 1000, "cpuMilliseconds": cpu * 1000})
        print(f"| {call} | {program} | {wall * 1000:.0f} | {cpu * 1000:.0f} |")
    return rows


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("programs", nargs="+", help="executables, compared in turn")
    words.add_argument("--captures", type=int, default=20)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--calls", type=int, help="measure calls on so many captures instead")
    words.add_argument("--json", help="where the numbers go as well")
    words = words.parse_args()
    programs = [str(Path(program).resolve()) for program in words.programs]
    for program in programs:
        if not os.access(program, os.X_OK):
            print(f"error: {program}: no such program", file=sys.stderr)
            return 1
    folder = Path(tempfile.mkdtemp(prefix="starts-"))
    try:
        for name, stages in PIPELINES.items():
            (folder / f"{name}.yaml").write_text(f"schema: 1\nstages:\n{stages}\n")
        if words.calls:
            rows = calls(programs, folder, words.calls, words.rounds)
            if words.json:
                Path(words.json).write_text(json.dumps(rows, indent=2) + "\n")
            return 0
        captures = [str(tiny(programs[0], folder / "in", number)) for number in range(words.captures)]
        results = {}
        for name in PIPELINES:
            pipeline = folder / f"{name}.yaml"
            for way, chosen, jobs in (
                ("alone", captures[:1], 0), ("in turn", captures, 1), ("all cores", captures, 0)):
                for round in range(words.rounds):
                    for program in programs:
                        output = folder / "out"
                        wall, cpu = once(program, chosen, output, pipeline, jobs)
                        shutil.rmtree(output)
                        key = (name, way, program)
                        results.setdefault(key, []).append(
                            (wall / len(chosen) * 1000, cpu / len(chosen) * 1000))
        rows = []
        print("| pipeline | captures | program | wall, ms per capture | CPU, ms per capture |")
        print("| --- | --- | --- | --- | --- |")
        for (name, way, program), values in results.items():
            wall, cpu = (statistics.median(value[i] for value in values) for i in (0, 1))
            rows.append({"pipeline": name, "way": way, "program": program, "wallMilliseconds": wall,
                         "cpuMilliseconds": cpu})
            print(f"| {name} | {way} | {program} | {wall:.0f} | {cpu:.0f} |")
        if words.json:
            Path(words.json).write_text(json.dumps(rows, indent=2) + "\n")
        return 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
