#!/usr/bin/env python3
"""Whether memory and CPU per frame stay the same however long a capture is.

  Benchmarks/length.py .build/release/scanmill [--frames 200,2000,20000] [--rounds 3] [--folder DIR] [--json FILE]

Synthesizes ScanNet captures of small pictures, so that what grows with the number of frames is not hidden behind
encoding. Measured of each: a whole run into a new folder, a run of the same with nothing to do, `status`, and the bytes
that the program keeps for itself. CPU per further frame is that between two lengths: the start is in neither.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from measuring import Problem, bytes_in, machine, median, number, run, settle, stop, table


def state(output):
    """Bytes of what is neither picture nor table of the capture."""
    return bytes_in(output, ".json") + sum(
        path.stat().st_size for place in output.rglob(".scanmill") for path in place.rglob("*")
        if path.is_file() and path.suffix != ".json")


def measured(program, folder, frames, rounds):
    words = ["--frames", frames, "--width", 64, "--height", 48, "--depth-width", 32, "--depth-height", 24]
    run([program, "synthesize", "scannet", "--output", folder / "in", "--id", f"n{frames}", *words, "--seed", 2,
         "--truth-pictures", 0])
    capture, output = folder / "in" / f"n{frames}", folder / "out"
    ours = [program, "run", capture, "--output", output, "-q", "--progress", "none"]
    samples = []
    for _ in range(rounds):
        shutil.rmtree(output, ignore_errors=True)
        settle(folder)
        first, again, status = run(ours), run(ours), run([program, "status", output])
        samples.append({
            "cpu": first.cpu, "wall": first.wall, "peak": first.peak, "again": again.cpu, "againPeak": again.peak,
            "status": status.cpu, "state": state(output), "files": sum(1 for _ in output.rglob("*"))})
    shutil.rmtree(output)
    shutil.rmtree(folder / "in")
    return {"frames": frames, **{key: median([sample[key] for sample in samples]) for key in samples[0]}}


def text(rows):
    lines = []
    for before, row in zip([None, *rows], rows):
        added = row["frames"] - before["frames"] if before else row["frames"]
        more = row["cpu"] - (before["cpu"] if before else 0)
        lines.append([
            f"{row['frames']:,}", number(row["cpu"]), number(1000 * row["cpu"] / row["frames"]),
            number(1000 * more / added) if before else "–", number(row["wall"]), number(row["peak"] / 2**20),
            number(1000 * row["again"], 0), number(row["againPeak"] / 2**20), number(1000 * row["status"], 0),
            number(row["state"] / row["frames"], 1)])
    return "\n".join(table(
        ["frames", "CPU s", "CPU ms/frame", "ms per further frame", "wall s", "peak MiB", "nothing to do: CPU ms",
         "peak MiB", "`status`: CPU ms", "bytes kept per frame"], lines))


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("program")
    words.add_argument("--frames", default="200,2000,20000")
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--folder", help="where captures and outputs go")
    words.add_argument("--json", help="where the numbers go as well")
    words = words.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="length-", dir=words.folder))
    about = machine()
    try:
        rows = []
        for frames in map(int, words.frames.split(",")):
            rows.append(measured(Path(words.program).resolve(), folder, frames, words.rounds))
            print(f"{frames} frames measured", file=sys.stderr)
    except Problem as problem:
        stop(problem)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']:.2f} before, "
          f"{machine()['load']:.2f} after; medians of {words.rounds}\n")
    print(text(rows))
    if words.json:
        Path(words.json).write_text(json.dumps({"machine": about, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
