#!/usr/bin/env python3
"""A night on a real Slurm of two nodes with accounting and control groups, and what the program makes of it.

    night.py --program PATH [--keep FOLDER]

Ten captures: one damaged, one that needs more memory than its first element has. A node is killed while its program
goes on, the supervisor is killed once, and the same command goes on. Then, one by one: a time limit, a limit of
submitted elements, accounting off, and the controller away. Results are compared with those of a local run by digest.
Prints what it sees and `N passed, N failed`; the exit code is 1 when anything failed. Needs what `cluster.py --full`
needs; takes about six minutes.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PIPELINE = """schema: 1
stages:
  color: {uses: decode-color}
  imu: {uses: match-imu}
  weigh:
    uses: command
    needs: {images: color}
    with:
      command: [python3, SCRIPT, "{id}", "{output}"]
"""
# Takes 900 MB for one capture, and time for another.
SCRIPT = """import sys, time
name, folder = sys.argv[1:]
if "heavy" in name:
    block = bytearray(900_000_000)
    block[::4096] = b"x" * len(block[::4096])
if "slow" in name:
    time.sleep(TIME)
open(folder + "/weight.txt", "w").write(name + "\\n")
"""


class Night:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.passed = self.failed = 0
        self.env = dict(os.environ)

    def check(self, what, holds, seen=""):
        print(("passed: " if holds else "FAILED: ") + what + (f" ({seen})" if seen and not holds else ""), flush=True)
        if holds:
            self.passed += 1
        else:
            self.failed += 1

    def start_cluster(self, name, *words):
        root = self.folder / name
        answer = subprocess.run(
            [sys.executable, HERE / "cluster.py", "start", root, *words], capture_output=True, text=True)
        line = [line for line in answer.stdout.splitlines() if line.startswith("SLURM_CONF=")]
        if not line:
            raise SystemExit(f"no cluster: {answer.stderr or answer.stdout}")
        self.env["SLURM_CONF"] = line[0].split("=", 1)[1]
        return root

    def stop_cluster(self, root):
        subprocess.run([sys.executable, HERE / "cluster.py", "stop", root], check=False)

    def slurm(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True).stdout

    def start(self, output, profile, *words, inputs="in"):
        command = [self.program, "run", str(self.folder / inputs), "--output", str(self.folder / output),
                   "--pipeline", str(self.folder / "pipeline.yaml"), "--progress", "plain", *words]
        if profile:
            command += ["--profile", str(self.folder / profile)]
        log = open(self.folder / f"{output}.log", "ab")
        return subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True)

    def run(self, output, profile, *words, inputs="in"):
        process = self.start(output, profile, *words, inputs=inputs)
        text = process.communicate()[0]
        return process.returncode, text

    def digests(self, output):
        found = {}
        root = self.folder / output
        for path in sorted(root.rglob("*")):
            parts = path.relative_to(root).parts
            if path.is_file() and len(parts) > 2 and not parts[1].startswith(".") and parts[0] != "runs":
                if path.suffix in (".png", ".csv", ".txt"):
                    found["/".join(parts)] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def report(self, output):
        runs = sorted((self.folder / output / "runs").iterdir())
        return json.loads((runs[-1] / "run.json").read_text())

    def profile(self, name, **values):
        lines = ["schema: 1", "executor: slurm", "slurm:", "  poll: 1s"]
        lines += [f"  {key}: {value}" for key, value in values.items()]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def queue_is_empty(self):
        for _ in range(100):
            if not self.slurm("squeue", "-h").strip():
                return True
            time.sleep(0.2)
        return False

    # The scenes.

    def prepare(self):
        script = self.folder / "weigh.py"
        script.write_text(SCRIPT.replace("TIME", "75"))
        (self.folder / "pipeline.yaml").write_text(PIPELINE.replace("SCRIPT", json.dumps(str(script))))
        for number in range(10):
            target = self.folder / "in" / f"c{number}"
            subprocess.run(
                [self.program, "synthesize", "vi-slam", "--output", target, "--frames", "60", "--seed", str(number)],
                check=True, capture_output=True)
            session = next(path for path in target.iterdir() if path.is_dir() and not path.name.endswith(".truth"))
            for other in target.iterdir():
                if other.name.endswith(".truth"):
                    subprocess.run(["rm", "-rf", other], check=True)
            name = {3: "heavy", 7: "damaged"}.get(number, f"plain-{number}")
            session.rename(target / name)
        movie = next(path for path in (self.folder / "in/c7/damaged").iterdir() if path.suffix in (".mov", ".mp4"))
        movie.write_bytes(movie.read_bytes()[: movie.stat().st_size // 3])
        slow = self.folder / "slow" / "slow"
        slow.parent.mkdir()
        subprocess.run(["cp", "-r", self.folder / "in/c0/plain-0", slow], check=True)

    def night(self, root):
        print("== a night: one damaged, one out of memory, one node killed, the supervisor killed once")
        code, _ = self.run("local", None)
        self.check("the local run ends with 1: one capture is damaged", code == 1, code)
        self.profile("p.yaml", cpus=1, memory="500MB", maxMemory="4GB", group=1, time="10m")
        first = self.start("night", "p.yaml")
        time.sleep(6)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        print("   supervisor killed; in the queue:", self.slurm("squeue", "-h", "-o", "%i %T").split())
        second = self.start("night", "p.yaml")
        time.sleep(3)
        pid = int((root / "run/slurmd.node1.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        self.slurm("scontrol", "update", "nodename=node1", "state=down", "reason=test")
        text = second.communicate()[0]
        report = self.report("night")
        print((self.folder / "night.log").read_text()[-1500:])
        print(self.slurm("sacct", "-X", "-n", "-P", "--format=JobID,State,ExitCode,Elapsed,NodeList,ReqMem"))
        self.check("it ends with 1: one capture is damaged", second.returncode == 1, second.returncode)
        outcomes = {capture["id"]: capture["outcome"] for capture in report["captures"]}
        self.check("all others are done", sorted(v for k, v in outcomes.items() if k != "damaged") == ["done"] * 9,
                   outcomes)
        heavy = next(capture for capture in report["captures"] if capture["id"] == "heavy")
        asked = heavy.get("asked", {}).get("memoryBytes", 0)
        self.check("the heavy one got more memory", asked > 900_000_000 or "asked" not in heavy, asked)
        self.check("bytes equal those of the local run", self.digests("local") == self.digests("night"))
        self.check("nothing is left in the queue", self.queue_is_empty())
        # The node comes back.
        subprocess.run([sys.executable, HERE / "cluster.py", "node", root, "node1"], check=True)
        self.slurm("scontrol", "update", "nodename=node1", "state=resume")
        code, _ = self.run("night", "p.yaml", "--exclude", "damaged")
        self.check("run again without the damaged one: nothing to do", code == 0, code)

    def time_limit(self):
        print("== a time limit (Slurm's unit is a minute)")
        self.profile("t.yaml", cpus=1, time="1m", maxTime="4m", group=1)
        code, _ = self.run("slow-out", "t.yaml", inputs="slow")
        capture = self.report("slow-out")["captures"][0]
        print("  ", {key: capture.get(key) for key in ("outcome", "attempts", "asked", "message")})
        self.check("more time is asked for, and the capture is done", code == 0 and capture.get("attempts", 1) > 1, code)

    def submit_limit(self):
        print("== a limit of submitted elements")
        self.slurm("sacctmgr", "-i", "modify", "user", "root", "set", "maxsubmitjobs=3")
        self.slurm("scontrol", "reconfigure")
        self.profile("s.yaml", cpus=1, group=1)
        code, _ = self.run("limited", "s.yaml", "--exclude", "damaged", "--exclude", "heavy")
        words = self.report("limited")
        print("  ", words["cluster"])
        said = "the site takes no more elements now" in (self.folder / "limited.log").read_text()
        self.check("the site refused, which was said", said)
        self.check("smaller arrays and waiting, not failure", code == 0 and len(words["cluster"]["jobs"]) > 1, code)
        self.slurm("sacctmgr", "-i", "modify", "user", "root", "set", "maxsubmitjobs=-1")

    def controller_away(self, root):
        print("== the controller away")
        pid = int((root / "run/slurmctld.pid").read_text())
        os.kill(pid, signal.SIGTERM)
        for _ in range(100):
            try:
                os.kill(pid, 0)
            except OSError:
                break
            time.sleep(0.1)
        started = time.monotonic()
        code, _ = self.run("away", "p.yaml")
        self.check(f"75 ({time.monotonic() - started:.0f} s)", code == 75, code)

    def accounting_off(self):
        print("== accounting off")
        root = self.start_cluster("small")
        try:
            self.profile("a.yaml", cpus=1, group=2)
            code, _ = self.run("small-out", "a.yaml", "--exclude", "heavy")
            self.check("it ends with 1: one capture is damaged", code == 1, code)
            ours, theirs = self.digests("local"), self.digests("small-out")
            self.check("bytes equal those of the local run",
                       theirs == {name: value for name, value in ours.items() if not name.startswith("heavy")})
        finally:
            self.stop_cluster(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--keep", help="a new folder that stays")
    options = parser.parse_args()
    folder = Path(options.keep or tempfile.mkdtemp(prefix="scanmill-night-", dir="/tmp"))
    folder.mkdir(exist_ok=True)
    night = Night(os.path.abspath(options.program), folder)
    night.prepare()
    root = night.start_cluster("full", "--full")
    try:
        night.night(root)
        night.time_limit()
        night.submit_limit()
        night.controller_away(root)
    finally:
        night.stop_cluster(root)
    night.accounting_off()
    if not options.keep:
        subprocess.run(["rm", "-rf", folder], check=False)
    print(f"{night.passed} passed, {night.failed} failed")
    sys.exit(1 if night.failed else 0)


if __name__ == "__main__":
    main()
