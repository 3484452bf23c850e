#!/usr/bin/env python3
"""Depth and confidence of a capture with one PNG file per picture, against copying its files.

    ./pictures.py PROGRAM… [--frames 4000] [--repeat 3] [--folder DIR]

Makes a capture in the form of `stray-scanner` with as many pairs of 256x192 files, and in turn copies them with `cp` and
has each program write depth and confidence. CPU seconds of the stages are those of `artifact.json`. The ratio is
(depth + confidence) ÷ cp. Also the CPU and wall time of `inspect --quick`. DIR should be on a file system that nothing else
writes to: creating files soon after others were deleted takes ext4 ten times as long.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import measuring


def make(program, scratch, frames):
    """The folder of the capture. Pictures and poses of 40 rendered frames are repeated."""
    source, target = scratch / "source" / "pairs", scratch / "pairs"
    measuring.run(
        [program, "synthesize", "stray-scanner", "--generation", "png", "--output", source.parent, "--id", source.name,
         "--frames", "40", "--width", "192", "--height", "144", "--truth-pictures", "0"])
    for stream in ["depth", "confidence"]:
        (target / stream).mkdir(parents=True)
        pictures = [path.read_bytes() for path in sorted((source / stream).iterdir())]
        for frame in range(frames):
            (target / stream / f"{frame:06d}.png").write_bytes(pictures[frame % len(pictures)])
    for name in ["camera_matrix.csv", "imu.csv", "rgb.mp4"]:
        shutil.copyfile(source / name, target / name)
    head, *rows = (source / "odometry.csv").read_text().splitlines()
    start = float(rows[0].split(",")[0])
    lines = [head]
    for frame in range(frames):
        cells = rows[frame % len(rows)].split(", ")
        cells[:2] = [f"{start + frame / 60:.9f}", f"{frame:06d}"]
        lines.append(", ".join(cells))
    (target / "odometry.csv").write_text("\n".join(lines) + "\n")
    return target


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("programs", type=Path, nargs="+", metavar="PROGRAM")
    words.add_argument("--frames", type=int, default=4000)
    words.add_argument("--repeat", type=int, default=3)
    words.add_argument("--folder", type=Path)
    words = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="pictures.", dir=words.folder) as scratch:
        scratch = Path(scratch)
        programs = [program.resolve() for program in words.programs]
        capture = make(programs[0], scratch, words.frames)
        measuring.settle(scratch)
        copies, taken = [], {program: [] for program in programs}
        for turn in range(words.repeat):
            (scratch / f"copy-{turn}").mkdir()
            copy = measuring.run(["cp", "-r", capture / "depth", capture / "confidence", scratch / f"copy-{turn}"])
            copies.append(copy.cpu)
            for index, program in enumerate(programs):
                output = scratch / f"output-{turn}-{index}"
                whole = measuring.run(
                    [program, "run", capture, "--output", output, "--only", "depth,confidence", "-q"], accepted=(0, 1))
                stages = {}
                for path in output.glob("*/*/artifact.json"):
                    artifact = json.loads(path.read_text())
                    stages[artifact["stage"]] = artifact["cpuSeconds"]
                look = measuring.run([program, "inspect", "--quick", "--json", capture], accepted=(0, 1))
                taken[program].append(
                    {"both": stages["depth"] + stages["confidence"], **stages, "whole": whole.cpu, "inspect": look.cpu,
                     "inspect, wall": look.wall})
        copy = statistics.median(copies)
        print(f"cp: {copy:.2f} s ({', '.join(f'{cpu:.2f}' for cpu in copies)})")
        for program, rounds in taken.items():
            middle = {key: statistics.median(turn[key] for turn in rounds) for key in rounds[0]}
            ratios = ", ".join(f"{turn['both'] / cpu:.2f}" for turn, cpu in zip(rounds, copies))
            print(f"{program}: " + ", ".join(f"{key} {value:.2f} s" for key, value in middle.items()))
            print(f"  both ÷ cp: {middle['both'] / copy:.2f} ({ratios})")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measuring.Problem as problem:
        measuring.stop(problem)
