#!/usr/bin/env python3
"""What recognizing staged folders costs with all families against the first families of the registry alone.

    swift build -c release --product RecognitionBenchmark
    ./recognition.py [--program ../.build/release/scanmill] [--folders 10000] [--families 5] [--repeat 5]

Makes a small rendered capture of each of the first families and hard links of it, until there are as many folders, and
recognizes them in turn with those families and with all. Prints CPU time per folder of each, and system calls if strace
is installed. The ratios are all ÷ first.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECOGNIZE = HERE / ".build/release/RecognitionBenchmark"


def stage(program, scratch, folders, families):
    """`folders` folders below `scratch`/staged, of the first families in equal parts."""
    names = subprocess.run(
        [program, "list", "families", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    names = [family["name"] for family in json.loads(names)["families"]][:families]
    made = []
    for name in names:
        subprocess.run(
            [program, "synthesize", name, "--output", scratch / "made", "--id", name, "--frames", "2", "--width", "64",
             "--height", "48", "--truth-pictures", "0"],
            check=True, stdout=subprocess.DEVNULL)
        made.append(scratch / "made" / name)
    for number in range(folders):
        source = made[number % len(made)]
        shutil.copytree(source, scratch / "staged" / f"{number:05d}", copy_function=os.link)
    return scratch / "staged", names


def recognize(staged, families):
    words = subprocess.run([RECOGNIZE, staged, str(families)], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(words[0]), float(words[1])


def calls(staged, families):
    """System calls of the whole program; `None` without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as told:
        subprocess.run(
            ["strace", "-f", "-c", "-o", told.name, RECOGNIZE, staged, str(families)], check=True,
            stdout=subprocess.DEVNULL)
        total = [line for line in told.read().splitlines() if line.endswith("total")]
    return int(re.findall(r"\d+", total[-1].split(".", 2)[-1])[2])


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--program", type=Path, default=HERE / "../.build/release/scanmill")
    words.add_argument("--folders", type=int, default=10_000)
    words.add_argument("--families", type=int, default=5)
    words.add_argument("--repeat", type=int, default=5)
    words = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="recognition.") as scratch:
        staged, names = stage(words.program.resolve(), Path(scratch), words.folders, words.families)
        few, all_families = [], []
        for _ in range(words.repeat + 1):
            few.append(recognize(staged, words.families))
            all_families.append(recognize(staged, 0))
        # The first round warms up.
        first = statistics.median(cpu for _, cpu in few[1:])
        every = statistics.median(cpu for _, cpu in all_families[1:])
        fastest = min(cpu for _, cpu in all_families) / min(cpu for _, cpu in few)
        print(f"{words.folders:,} folders of {', '.join(names)}; found {few[0][0]:,} and {all_families[0][0]:,} captures")
        print(f"CPU per folder: first families {first / words.folders * 1000:.1f} µs, all "
              f"{every / words.folders * 1000:.1f} µs: {every / first:.2f} (fastest of each: {fastest:.2f})")
        counts = [calls(staged, words.families), calls(staged, 0)]
        if None not in counts:
            print(f"system calls per folder: {counts[0] / words.folders:.1f} and {counts[1] / words.folders:.1f}: "
                  f"{counts[1] / counts[0]:.2f}")


if __name__ == "__main__":
    sys.exit(main())
