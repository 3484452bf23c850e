"""The fake Slurm against the words of the real one: python3 -m unittest test_slurm"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMANDS = ("sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo")
DOWN = "Unable to contact slurm controller (connect failure)"


class Case(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.state = self.root / "state"
        self.state.mkdir()
        (self.root / "bin").mkdir()
        for name in COMMANDS:
            (self.root / "bin" / name).symlink_to(HERE / "slurm.py")

    def tearDown(self):
        pid = self.state / "server.pid"
        server = int(pid.read_text()) if pid.exists() else None
        if server and is_alive(server):
            os.kill(server, signal.SIGTERM)
        self.wait("the scheduler's end", lambda: not server or not is_alive(server))
        shutil.rmtree(self.root)

    def behave(self, **values):
        new = self.state / "behavior.new"
        new.write_text(json.dumps(values))
        new.rename(self.state / "behavior.json")

    def call(self, command, *words, script=""):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM")}
        environment |= {"FAKE_SLURM": str(self.state), "FAKE_SLURM_OWNER": str(os.getpid())}
        return subprocess.run(
            [str(self.root / "bin" / command), *map(str, words)], input=script, env=environment,
            capture_output=True, text=True, check=False, timeout=300)

    def submit(self, script="exit 0", *words):
        log = self.root / "%A_%a.log"
        result = self.call(
            "sbatch", "--parsable", f"--chdir={self.root}", f"--output={log}", *words,
            script=f"#!/bin/sh\n{script}\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def queue(self, job, layout="%i|%T|%r"):
        return self.call("squeue", "-h", "-t", "all", "-j", job, "-o", layout).stdout.splitlines()

    def records(self, job):
        result = self.call("sacct", "-X", "-n", "-P", "-j", job, "--format=JobID,State,ExitCode,NodeList")
        return sorted(result.stdout.splitlines())

    def wait(self, what, condition):
        for _ in range(10000):
            if condition():
                return
            time.sleep(0.02)
        self.fail(f"waited for {what}")

    def wait_end(self, *jobs):
        for job in jobs:
            self.wait(f"the end of {job}", lambda job=job: not self.call("squeue", "-h", "-j", job).stdout)

    def log(self, name):
        return (self.root / f"{name}.log").read_text()


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Running(Case):
    def test_elements_run_with_the_environment_of_slurm(self):
        job = self.submit("env; pwd", "--array=0-1", "--cpus-per-task=3", "--mem=400M", "--job-name=t")
        self.wait_end(job)
        text = self.log(f"{job}_1")
        for line in (f"SLURM_ARRAY_JOB_ID={job}", "SLURM_ARRAY_TASK_ID=1", "SLURM_CPUS_PER_TASK=3",
                     "SLURM_MEM_PER_NODE=400", str(self.root)):
            self.assertIn(line + "\n", text)
        self.assertIn("SLURMD_NODENAME=node", text)
        rows = self.queue(job, "%i|%A|%T")
        self.assertEqual(rows, [f"{job}_1|{job}|COMPLETED", f"{job}_0|{int(job) + 1}|COMPLETED"])

    def test_what_waits_is_folded_and_throttled(self):
        job = self.submit("sleep 1000", "--array=0-9%2")
        self.wait("two", lambda: len(self.queue(job)) == 3)
        self.assertEqual(self.queue(job)[0], f"{job}_[2-9%2]|PENDING|JobArrayTaskLimit")
        self.assertEqual(self.records(job)[2], f"{job}_[2-9%2]|PENDING|0:0|None assigned")
        apart = self.call("squeue", "-h", "-r", "-j", job, "-o", "%i").stdout.split()
        self.assertEqual(len(apart), 10)
        self.assertEqual(self.call("scontrol", "update", f"JobId={job}", "ArrayTaskThrottle=3").returncode, 0)
        self.wait("three", lambda: self.queue(job)[0].startswith(f"{job}_[3-9%3]"))
        self.call("scancel", job)
        self.wait_end(job)
        self.assertEqual(self.records(job)[0], f"{job}_0|CANCELLED by {os.getuid()}|0:0|node1")
        self.assertEqual(self.records(job)[3], f"{job}_[0-9%3]|CANCELLED by {os.getuid()}|0:0|None assigned")

    def test_how_programs_end(self):
        table = {"exit 0": "COMPLETED|0:0", "exit 3": "FAILED|3:0", "kill -9 $$": "FAILED|0:9",
                 "exec /nowhere/x": "FAILED|127:0"}
        jobs = {self.submit(script, "--array=0-0"): end for script, end in table.items()}
        lost = self.submit("exit 0", "--array=0-0", f"--output={self.root}/absent/x")
        self.wait_end(*jobs, lost)
        for job, end in (jobs | {lost: "FAILED|0:53"}).items():
            self.assertEqual([row.rsplit("|", 1)[0] for row in self.records(job)], [f"{job}_0|{end}"])
        self.assertEqual(self.queue(lost), [f"{lost}_0|FAILED|JobLaunchFailure"])

    def test_an_absent_working_folder_is_tmp(self):
        job = self.submit("pwd", "--array=0-0", "--chdir=/nowhere")
        self.wait_end(job)
        self.assertEqual(self.log(f"{job}_0"), "/tmp\n")

    def test_a_dependent_job_runs_after_any_end(self):
        first = self.submit("while ! [ -e go ]; do sleep 0.05; done; exit 1", "--array=0-1")
        second = self.submit(f"cat {self.root}/{first}_1.log; date", f"--dependency=afterany:{first}")
        self.assertEqual(self.queue(second), [f"{second}|PENDING|Dependency"])
        (self.root / "go").touch()
        self.wait_end(first, second)
        unknown = self.submit("exit 0", "--dependency=afterany:999")
        self.wait_end(unknown)
        self.assertEqual(self.queue(unknown), [f"{unknown}|COMPLETED|None"])

    def test_holding_excluding_and_cancelling_what_never_ran(self):
        held = self.submit("exit 0", "--hold", "--array=1,3,7-9")
        self.assertEqual(self.queue(held), [f"{held}_[1,3,7-9]|PENDING|JobHeldUser"])
        self.call("scancel", held)
        self.assertEqual(self.queue(held), [f"{held}_[1,3,7-9]|CANCELLED|None"])
        self.assertEqual(self.records(held), [f"{held}|CANCELLED by {os.getuid()}|0:0|None assigned"])
        job = self.submit("exit 0", "--array=0-3", "--exclude=node1")
        self.wait_end(job)
        self.assertTrue(all(row.endswith("|node2") for row in self.records(job)))
        self.assertEqual(self.call("scancel", "999").returncode, 0)
        self.assertEqual(self.call("scancel").stderr, "scancel: error: No job identification provided\n")

    def test_warning_and_limit(self):
        self.behave(killWait=2, elements=[{"limit": 3, "signalBefore": 1.5}])
        script = "trap 'echo soon' USR2; trap 'echo told' TERM; while :; do sleep 0.05; done"
        job = self.submit(script, "--array=0-0", "--time=1", "--signal=B:USR2@30")
        self.wait_end(job)
        text = self.log(f"{job}_0")
        self.assertLess(text.index("soon"), text.index("DUE TO TIME LIMIT"))
        self.assertIn("told", text)
        self.assertEqual(self.records(job), [f"{job}_0|TIMEOUT|0:0|node1"])

    def test_a_cancelled_program_is_told_then_killed_with_all_it_started(self):
        self.behave(killWait=0.5)
        script = "setsid sleep 1000 & echo $! > child; trap 'echo told' TERM; while :; do sleep 0.05; done"
        job = self.submit(script, "--array=0-0")
        self.wait("its child", lambda: (self.root / "child").exists() and (self.root / "child").read_text())
        child = int((self.root / "child").read_text())
        self.call("scancel", job)
        self.assertIn(f"{job}_0|COMPLETING|None", self.queue(job))
        self.wait_end(job)
        self.assertIn("told", self.log(f"{job}_0"))
        self.wait("its end", lambda: not is_alive(child))

    def test_a_kill_of_the_batch_shell_does_not_wait(self):
        job = self.submit("trap '' TERM; touch up; while :; do sleep 0.05; done", "--array=0-9%1")
        self.wait("its start", lambda: (self.root / "up").exists())
        self.call("scancel", "--batch", "--signal=KILL", job)
        self.wait_end(job)
        self.assertIn(f"{job}_0|CANCELLED by {os.getuid()}|0:0|node1", self.records(job))

    def test_nothing_outlives_the_folder(self):
        self.submit("echo $$ > pid; sleep 1000", "--array=0-0")
        self.wait("its number", lambda: (self.root / "pid").exists() and (self.root / "pid").read_text())
        pid = int((self.root / "pid").read_text())
        os.rename(self.state, self.root / "gone")
        self.wait("its end", lambda: not is_alive(pid))
        os.rename(self.root / "gone", self.state)


class Misbehaving(Case):
    def test_refusals(self):
        self.behave(nodeMemory=4000, maxSubmit=5)
        head = "sbatch: error: Batch job submission failed: "
        table = [
            (["--array=0-1001"], 1, head + "Invalid job array specification"),
            (["--time=abc"], 255, "sbatch: error: Invalid --time specification"),
            (["--partition=none"], 1, head + "Invalid partition name specified"),
            (["--mem=9000M"], 1, head + "Requested node configuration is not available"),
            (["--exclude=node9"], 1, head + "Invalid node name specified"),
            (["--dependency=garbage"], 1, head + "Job dependency problem"),
            (["--array=0-9"], 1, "AssocMaxSubmitJobLimit"),
            (["--what"], 255, "sbatch: unrecognized option '--what'"),
        ]
        for words, code, text in table:
            result = self.call("sbatch", "--parsable", *words, script="#!/bin/sh\n")
            self.assertEqual((result.returncode, result.stdout), (code, ""), words)
            self.assertIn(text, result.stderr)
        self.assertEqual(self.submit("exit 0", "--mem=9000M", "--hold"), "1")
        self.assertIn("script is empty", self.call("sbatch").stderr)

    def test_first_calls_refused_then_deaths_then_an_answer_with_a_cluster(self):
        self.behave(refuse={"first": 1, "text": "sbatch: error: Socket timed out"}, dies=1, cluster="lab")
        self.assertEqual(self.call("sbatch", script="#!/bin/sh\n").stderr, "sbatch: error: Socket timed out\n")
        died = self.call("sbatch", "--parsable", "--job-name=x", f"--chdir={self.root}", script="#!/bin/sh\n")
        self.assertEqual((died.returncode, died.stdout), (-signal.SIGKILL, ""))
        found = self.call("squeue", "-h", "-t", "all", "--name", "x", "-o", "%A").stdout
        self.assertEqual(found, "1\n")
        self.assertEqual(self.submit(), "2;lab")

    def test_accounting_off_or_late(self):
        self.behave(sacctLag=1000)
        job = self.submit("sleep 1000", "--array=0-1")
        self.wait("both", lambda: self.queue(job, "%T") == ["RUNNING", "RUNNING"])
        self.assertEqual(self.records(job), [])
        self.behave(accounting=False)
        result = self.call("sacct", "-j", job)
        self.assertEqual((result.returncode, result.stderr), (1, "Slurm accounting storage is disabled\n"))
        self.assertIn("accounting_storage/none", self.call("scontrol", "show", "config").stdout)

    def test_the_queue_forgets(self):
        self.behave(forget=0)
        job = self.submit("exit 0", "--array=0-0")
        self.wait_end(job)
        result = self.call("squeue", "-h", "-t", "all", "-j", job)
        self.assertEqual(
            (result.returncode, result.stderr), (1, "slurm_load_jobs error: Invalid job id specified\n"))

    def test_a_controller_that_is_away(self):
        self.behave(down={"seconds": 0.1})
        for command in ("sbatch", "squeue", "scancel", "sinfo"):
            result = self.call(command, *(["1"] if command == "scancel" else []))
            self.assertIn(DOWN, result.stderr)
            self.assertEqual(result.returncode, 8 if command == "scancel" else 1)
        self.assertIn("is DOWN", self.call("scontrol", "ping").stdout)
        self.assertEqual(self.call("sacct", "-n", "-j", "1").returncode, 0)

    def test_garbage_failure_and_silence(self):
        self.behave(garbage={"squeue": "@#!\n"}, fails={"sacct": {"text": "no"}}, silent={"sinfo": 0.1})
        self.assertEqual(self.call("squeue").stdout, "@#!\n")
        self.assertEqual(self.call("sacct").returncode, 1)
        self.assertIn("timed out", self.call("sinfo").stderr)

    def test_ends_that_a_rule_says(self):
        self.behave(nodes={"node1": 9}, elements=[
            {"match": {"index": 0}, "end": "OUT_OF_MEMORY"},
            {"match": {"index": 1}, "end": "BOOT_FAIL", "when": "start"},
            {"match": {"index": 2}, "end": "PREEMPTED", "when": 0.1},
            {"match": {"index": 3}, "end": "CANCELLED by 1000", "when": {"path": "flag"}},
            {"match": {"index": 4}, "end": "OUT_OF_MEMORY", "when": 0.1, "program": "largest"},
            {"match": {"index": 5}, "pending": "BadConstraints"},
        ])
        script = """case $SLURM_ARRAY_TASK_ID in
            0) echo ran;; 3) touch flag; sleep 1000;; 4) sh -c 'sleep 1000'; echo still here;; *) sleep 1000;; esac"""
        job = self.submit(script, "--array=0-5")
        ends = ["OUT_OF_MEMORY|0:125", "BOOT_FAIL|0:0", "PREEMPTED|0:0", "CANCELLED by 1000|0:0",
                "OUT_OF_MEMORY|0:125"]
        wanted = [f"{job}_{index}|{end}|node1" for index, end in enumerate(ends)]
        wanted.append(f"{job}_[5]|PENDING|0:0|None assigned")
        self.wait("those ends", lambda: self.records(job) == wanted)
        self.assertEqual(self.log(f"{job}_0"), "ran\n")
        self.assertFalse((self.root / f"{job}_1.log").exists())
        self.assertIn("still here", self.log(f"{job}_4"))
        self.assertIn(f"{job}_[5]|PENDING|BadConstraints", self.queue(job))
        self.behave()
        self.wait("its start", lambda: f"{job}_5|RUNNING|0:0|node1" in self.records(job) or not self.behave())
        self.call("scancel", job)

    def test_a_ghost_works_on_after_its_node_was_lost(self):
        self.behave(elements=[{"match": {"order": "lost"}, "times": 1, "end": "NODE_FAIL", "when": 0.1, "program": "leave"}])
        orders = self.root / "run/slurm/orders/000"
        orders.mkdir(parents=True)
        (orders / "000007.json").write_text("lost")
        program = self.root / "program"
        program.write_text("#!/bin/sh\nwhile [ ! -e flag ]; do sleep 0.02; done; date > done\n")
        program.chmod(0o755)
        job = self.submit(f"exec '{program}' element '{self.root}/run' 5", "--array=0-2")
        self.wait("the loss", lambda: f"{job}_2|NODE_FAIL|0:0|node1" in self.records(job))
        (self.root / "flag").touch()
        self.wait("its work", lambda: (self.root / "done").exists())
        self.wait_end(job)
        self.assertEqual([row.split("|")[1] for row in self.records(job)], ["COMPLETED", "COMPLETED", "NODE_FAIL"])

    def test_every_call_is_noted(self):
        self.submit("exit 0", "--array=0-1")
        self.call("squeue", "-h")
        lines = [json.loads(line) for line in (self.state / "calls.jsonl").read_text().splitlines()]
        self.assertEqual([line["command"] for line in lines], ["sbatch", "squeue"])
        self.assertEqual(lines[1]["arguments"], ["-h"])

    def test_a_thousand_elements_are_one_line(self):
        job = self.submit("sleep 1000", "--array=0-999%1", "--hold")
        self.assertEqual(self.queue(job), [f"{job}_[0-999%1]|PENDING|JobHeldUser"])
        self.assertLess(len(os.listdir(self.state)), 12)

    def test_a_stand_in_is_called_with_folder_and_number(self):
        program = self.root / "stand-in"
        program.write_text("#!/bin/sh\necho $1 $2\n")
        program.chmod(0o755)
        self.behave(element=str(program))
        job = self.submit("exec '/x/scanmill' element '/out/runs/R' 40", "--array=0-2")
        self.wait_end(job)
        self.assertEqual(self.log(f"{job}_2"), "/out/runs/R 42\n")


if __name__ == "__main__":
    unittest.main()
