#!/usr/bin/env python3
"""What a tiny capture costs: the fixed price of a worker, in wall and processor time.

  Benchmarks/starts.py .build/release/scanmill [/path/to/another/scanmill ...] [--captures 20] [--rounds 5] [--json FILE]

Makes tiny captures with the first program and runs all of them into a fresh folder, the programs in turn, with one
picture decoded ("color", which loads FFmpeg) and without any ("imu"), alone (one capture), one after the other (-j 1)
and on all cores. Medians over the rounds, per capture; processor time is that of all processes of a run, waiting
workers included.
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


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("programs", nargs="+", help="executables, compared in turn")
    words.add_argument("--captures", type=int, default=20)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--json", help="where the numbers go as well")
    words = words.parse_args()
    programs = [str(Path(program).resolve()) for program in words.programs]
    for program in programs:
        if not os.access(program, os.X_OK):
            print(f"error: {program}: no such program", file=sys.stderr)
            return 1
    folder = Path(tempfile.mkdtemp(prefix="starts-"))
    try:
        captures = []
        for number in range(words.captures):
            subprocess.run(
                [programs[0], "synthesize", "scannet", "--output", folder / "in", "--frames", "1", "--width", "480",
                 "--height", "360", "--id", f"c{number:03}", "--seed", str(number + 1)],
                check=True, stdout=subprocess.DEVNULL)
            captures.append(str(folder / "in" / f"c{number:03}"))
        results = {}
        for name, stages in PIPELINES.items():
            pipeline = folder / f"{name}.yaml"
            pipeline.write_text(f"schema: 1\nstages:\n{stages}\n")
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
