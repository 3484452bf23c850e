#!/usr/bin/env python3
"""What a run on a cluster costs besides the work itself.

    Benchmarks/cluster.py --program .build/release/scanmill --captures 10000
    Benchmarks/cluster.py --program .build/release/scanmill --elements-overhead

The first: a tree of captures (one small capture under many names, by hard links) is run with --executor slurm on the
fake scheduler of Tests/Slurm, whose elements only write results, ten captures each or as the grouping says. Printed:
seconds until all is submitted, calls of sbatch and questions, peak memory of the supervisor, seconds of a second run
that finds nothing to do. The second: seconds per element on a real Slurm of two nodes on this machine (root), whose
elements have one small capture each.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from measuring import Problem, check_room, machine, number, run, stop, table

SLURM = Path(__file__).resolve().parent.parent / "Tests/Slurm"
COMMANDS = ("sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo")
PIPELINE = "schema: 1\nstages:\n  imu: {uses: match-imu}\n"
PROFILE = "schema: 1\nexecutor: slurm\nslurm: {cpus: 1, memory: 1GB, time: %s, poll: %s}\n"


def captures(arguments, place, count):
    """One small capture under many names of the same length; hard links, so that its inputs are read from the cache."""
    made = run([
        arguments.program, "synthesize", "vi-slam", "--output", place / "one", "--frames", 2, "--width", 64, "--height",
        48, "--truth-pictures", 0,
    ])
    source = Path(made.output.splitlines()[0])
    for index in range(count):
        target = place / "in" / f"c{index:06}"
        target.mkdir(parents=True)
        for file in source.iterdir():
            os.link(file, target / file.name)
    # What was changed a moment ago may be changed again unseen: it is looked at anew the next time.
    time.sleep(3)
    return place / "in"


class Watched:
    """A program at work, whose memory is looked at."""

    def __init__(self, words, environment):
        self.begin = time.time()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(word) for word in words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.errors)
        self.samples = []
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while self.process.poll() is None:
            try:
                text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii", errors="replace")
            except OSError:
                break
            values = dict(line.split(":", 1) for line in text.splitlines() if line.startswith("Vm"))
            if "VmHWM" in values:
                sizes = [int(values[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")]
                self.samples.append((time.time() - self.begin, *sizes))
            time.sleep(0.1)

    def finish(self):
        """(seconds, peak bytes, resident bytes in the middle and at the end); a code other than 0 is a problem."""
        code = self.process.wait()
        seconds = time.time() - self.begin
        self.thread.join()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        if code != 0:
            raise Problem(f"the run ended with {code}: {text[-2000:]}")
        resident = [sample[1] for sample in self.samples] or [0]
        peak = max((sample[2] for sample in self.samples), default=0)
        return seconds, peak, resident[len(resident) // 2], resident[-1], text


class Fake:
    """The commands of Tests/Slurm/fake and their scheduler."""

    def __init__(self, place):
        self.state = place / "state"
        (place / "bin").mkdir()
        self.state.mkdir()
        for name in COMMANDS:
            (place / "bin" / name).symlink_to(SLURM / "fake/slurm.py")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH"))}
        self.environment |= {
            "PATH": f"{place / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}", "FAKE_SLURM": str(self.state),
            "FAKE_SLURM_OWNER": str(os.getpid()), "FAKE_SLURM_TEMPLATE": str(place / "template"),
        }

    def behave(self, **values):
        (self.state / "behavior.new").write_text(json.dumps(values))
        (self.state / "behavior.new").rename(self.state / "behavior.json")

    def calls(self, begin):
        lines = (self.state / "calls.jsonl").read_text().splitlines()
        return [call for call in map(json.loads, lines) if call["time"] >= begin]


def words(arguments, place, tree, *more):
    return [
        arguments.program, "run", tree, "--output", place / "out", "--pipeline", place / "pipeline.yaml", "--profile",
        place / "profile.yaml", "--executor", "slurm", *more,
    ]


def make_template(arguments, place, tree, fake):
    """The results and the output of one real element, for the stand-ins to copy."""
    first = sorted(tree.iterdir())[0]
    Watched(words(arguments, place, first), fake.environment).finish()
    template = place / "template"
    template.mkdir()
    results = sorted((place / "out/runs").glob("*/slurm/results/*.jsonl"))
    if len(results) != 1:
        raise Problem("the capture that is copied had no element of its own")
    shutil.copy(results[0], template / "results.jsonl")
    shutil.move(place / "out" / first.name, template / "capture")
    (template / "name").write_text(first.name)
    shutil.rmtree(place / "out")


def ten_thousand(arguments, place):
    # Folders and small files, four of them per capture and eight in its output.
    check_room(place, arguments.captures * 60_000)
    (place / "pipeline.yaml").write_text(PIPELINE)
    (place / "profile.yaml").write_text(PROFILE % ("10m", "2s"))
    tree = captures(arguments, place, arguments.captures)
    fake = Fake(place)
    make_template(arguments, place, tree, fake)
    fake.behave(element=str(SLURM / "fake/write_results.py"), nodes={"node1": 1, "node2": 1})
    more = ["--group", arguments.group] if arguments.group else []
    watched = Watched(words(arguments, place, tree, *more), fake.environment)
    seconds, peak, middle, last, text = watched.finish()
    calls = fake.calls(watched.begin)
    submissions = [call for call in calls if call["command"] == "sbatch"]
    questions = [call for call in calls if call["command"] in ("squeue", "sacct")]
    if not submissions:
        raise Problem(f"nothing was submitted: {text[-2000:]}")
    # What stand-ins copied are no notes about these files: a local run, which has nothing to do, makes them.
    noted, _, _, _, noted_text = Watched([
        arguments.program, "run", tree, "--output", place / "out", "--pipeline", place / "pipeline.yaml",
    ], fake.environment).finish()
    if "nothing to do" not in noted_text:
        raise Problem(f"what stand-ins copied is not what was to be made: {noted_text[-2000:]}")
    again = Watched(words(arguments, place, tree), fake.environment)
    idle, idle_peak, _, _, idle_text = again.finish()
    if any(call["command"] == "sbatch" for call in fake.calls(again.begin)):
        raise Problem(f"the second run submitted again: {idle_text[-2000:]}")
    return {
        "captures": arguments.captures,
        "elements": sum(1 for _ in (place / "out/runs").glob("*/slurm/orders/*/*.json")),
        "submittedSeconds": submissions[-1]["time"] - watched.begin,
        "firstSubmittedSeconds": submissions[0]["time"] - watched.begin,
        "wholeSeconds": seconds, "sbatch": len(submissions), "questions": len(questions),
        "leastSecondsBetweenQuestions": min(
            (b["time"] - a["time"] for a, b in zip(questions, questions[1:])), default=None),
        "peakMemoryBytes": peak, "middleMemoryBytes": middle, "lastMemoryBytes": last,
        "firstLookSeconds": noted, "idleSeconds": idle, "idlePeakMemoryBytes": idle_peak,
    }


def overhead(arguments, place):
    """Seconds per element on a real Slurm, against the same captures in one local run."""
    (place / "pipeline.yaml").write_text(PIPELINE)
    (place / "profile.yaml").write_text(PROFILE % ("10m", "1s"))
    count = min(arguments.captures, 200)
    tree = captures(arguments, place, count)
    local = run([
        arguments.program, "run", tree, "--output", place / "local", "--pipeline", place / "pipeline.yaml", "-j", 4,
    ])
    script = [sys.executable, str(SLURM / "real/cluster.py")]
    started = subprocess.run(
        [*script, "start", str(place / "slurm"), "--while", str(os.getpid())], capture_output=True, text=True,
        check=False)
    if started.returncode != 0:
        raise Problem(started.stderr.strip())
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH"))}
    environment["SLURM_CONF"] = started.stdout.strip().partition("=")[2]
    try:
        watched = Watched(words(arguments, place, tree, "--group", 1), environment)
        seconds, peak, _, _, _ = watched.finish()
    finally:
        subprocess.run([*script, "stop", str(place / "slurm")], check=False)
    return {
        "elements": count, "wholeSeconds": seconds, "localSeconds": local.wall,
        # Four elements at a time: two nodes of two cores.
        "secondsPerElementAndSlot": (seconds - local.wall) * 4 / count, "peakMemoryBytes": peak,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=Path(".build/release/scanmill"))
    parser.add_argument("--captures", type=int, default=10_000)
    parser.add_argument("--group", help="as of run; default: as the grouping says")
    parser.add_argument("--elements-overhead", action="store_true", help="on a real Slurm; needs root and its packages")
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    arguments = parser.parse_args()
    try:
        if arguments.captures < 1:
            raise Problem("--captures is at least 1")
        arguments.program = arguments.program.resolve()
        if not arguments.program.exists():
            raise Problem(f"{arguments.program}: not there (make release, or --program)")
        with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
            work = overhead if arguments.elements_overhead else ten_thousand
            figures = work(arguments, Path(place).resolve())
    except (Problem, OSError) as problem:
        stop(problem)
    rows = [
        (name, number(value / 1e6) + " MB" if name.endswith("Bytes") else value if isinstance(value, int) else number(value))
        for name, value in figures.items()
    ]
    print("\n".join(table(["figure", "value"], rows)))
    if arguments.json:
        report = {"figures": figures, "machine": machine()}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
