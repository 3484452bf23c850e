#!/usr/bin/env python3
"""A real Slurm of two nodes on this machine, everything below one folder.

    cluster.py start FOLDER [--full] [--while PID]
    cluster.py node FOLDER NAME
    cluster.py stop FOLDER

`start` prints `SLURM_CONF=…` once both nodes are idle. `--full`: with munge, accounting on MariaDB and, where version 1
of control groups is mounted, control groups. `--while PID`: a process of its own stops the cluster when that process is
gone. `node` starts the daemon of a node again that was killed. Needs root and Debian's slurmctld slurmd slurm-client (full: munge slurmdbd mariadb-server). Ports are free ones,
on the loopback only. `stop` ends what `start` started, by process id, and removes the folder.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from configuration import slurm_configuration, write_full_configuration  # noqa: E402

SMALL = ["slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo"]
FULL = ["munged", "slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb-install-db", "mariadb"]
NODES = ["node1", "node2"]
# Nodes first, what they talk to after them.
DAEMONS = [f"slurmd.{node}" for node in NODES] + ["slurmctld", "slurmdbd", "munged", "mariadbd"]


class Problem(Exception):
    """Something to tell the user; no traceback."""


def free_ports(count):
    """Ports that nobody listens on now, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def clean_environment(root):
    """Nothing of a job or a cluster around us."""
    kept = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("SLURM", "SBATCH", "SQUEUE", "SACCT", "MYSQL", "LD_PRELOAD"))
    }
    kept["SLURM_CONF"] = str(root / "etc/slurm.conf")
    kept["MYSQL_UNIX_PORT"] = str(root / "run/mariadb.socket")
    kept["PATH"] = kept.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    return kept


def call(root, words, seconds=60):
    """Runs to the end; what it printed."""
    done = subprocess.run(
        words, env=clean_environment(root), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=seconds,
    )
    if done.returncode != 0:
        raise Problem(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def wait_for(what, condition, seconds=120):
    """Asks until it holds; how long it took is not of interest, that it never comes is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise Problem(f"{what} did not come within {seconds} s")


def daemon(root, name, words):
    """A program that stays, in a session of its own; its words go to `log/NAME.out`."""
    with open(root / "log" / f"{name}.out", "ab") as log:
        process = subprocess.Popen(
            words, env=clean_environment(root), cwd="/", stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, start_new_session=True,
        )
    (root / "run" / f"{name}.pid").write_text(f"{process.pid}\n")
    return process


def absent(full):
    """What is missing; empty: nothing."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if os.geteuid() != 0:
        return "not root"
    missing = [name for name in SMALL + (FULL if full else []) if not shutil.which(name, path=path)]
    return f"not installed: {', '.join(missing)}" if missing else ""


def start_database(root, port):
    """munge, MariaDB and slurmdbd, in the order in which they need each other."""
    run = root / "run"
    key = root / "etc/munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    daemon(root, "munged", [
        "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={run}/munge.socket",
        f"--log-file={root}/log/munged.log", f"--pid-file={run}/munged.own.pid",
        f"--seed-file={run}/munged.seed",
    ])
    call(root, [
        "mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={root}/database",
        "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
    ], seconds=300)
    database = f"{run}/mariadb.socket"
    daemon(root, "mariadbd", [
        "mariadbd", "--no-defaults", "--user=root", f"--datadir={root}/database",
        f"--socket={database}", "--skip-networking", f"--pid-file={run}/mariadbd.own.pid",
        "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0",
    ])
    wait_for("MariaDB", lambda: os.path.exists(database))
    wait_for("munge", lambda: (run / "munge.socket").exists())
    call(root, [
        "mariadb", "--no-defaults", f"--socket={database}", "--user=root", "-e",
        "create database slurm_acct_db; create user slurm@localhost identified by 'slurm';"
        "grant all on slurm_acct_db.* to slurm@localhost",
    ])
    process = daemon(root, "slurmdbd", ["slurmdbd", "-D"])

    def answers():
        if process.poll() is not None:
            raise Problem(f"slurmdbd ended: {tail(root / 'log/slurmdbd.log')}")
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    wait_for("slurmdbd", answers)
    call(root, ["sacctmgr", "-i", "add", "cluster", "test"])
    call(root, ["sacctmgr", "-i", "add", "account", "lab"])
    call(root, ["sacctmgr", "-i", "add", "user", "root", "account=lab"])


def start_node(root, node):
    daemon(root, f"slurmd.{node}", ["slurmd", "-D", "-N", node])


def tail(path):
    return "".join(path.read_text(errors="replace").splitlines(True)[-5:]) if path.exists() else ""


def start(root, full, parent):
    missing = absent(full)
    if missing:
        raise Problem(missing)
    if " " in str(root):
        raise Problem(f"{root}: Slurm takes no blanks in paths")
    for folder in ["etc", "run", "state", "log"] + [f"spool/{node}" for node in NODES]:
        (root / folder).mkdir(parents=True, exist_ok=True)
    ports = free_ports(5)
    (root / "etc/slurm.conf").write_text(slurm_configuration(root, ports, full))
    try:
        if parent:
            watch(root, parent)
        if full:
            write_full_configuration(root, ports[4])
            start_database(root, ports[4])
        daemon(root, "slurmctld", ["slurmctld", "-D", "-c", "-i"])
        for node in NODES:
            start_node(root, node)

        def idle():
            words = ["sinfo", "-h", "-N", "-t", "idle"]
            answer = subprocess.run(
                words, env=clean_environment(root), capture_output=True, text=True, check=False)
            return len(answer.stdout.splitlines()) == len(NODES)

        wait_for("idle nodes", idle)
    except (Problem, OSError, subprocess.SubprocessError):
        for log in sorted((root / "log").iterdir()):
            sys.stderr.write(f"{log.name}:\n{tail(log)}")
        stop(root)
        raise
    print(f"SLURM_CONF={root}/etc/slurm.conf", flush=True)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def end(pid, seconds=10):
    """In order, then by force."""
    for number, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, 5)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        limit = time.monotonic() + patience
        while time.monotonic() < limit:
            if not is_alive(pid):
                return
            time.sleep(0.02)


def of_jobs(root):
    """Processes of this cluster's jobs and what watches over them, by their environment."""
    mark = b"SLURM_CONF=" + os.fsencode(root / "etc/slurm.conf") + b"\0"
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
            with open(f"/proc/{name}/comm", "rb") as file:
                program = file.read().strip()
        except OSError:
            continue
        if mark in environment + b"\0" and (
                b"SLURM_JOB_ID=" in environment or program == b"slurmstepd"):
            found.append(int(name))
    return found


def daemons(root):
    """The ids of what `start` started and is alive, nodes first. A number that is somebody else's now is not."""
    found = []
    for name in DAEMONS:
        try:
            pid = int((root / "run" / f"{name}.pid").read_text())
            with open(f"/proc/{pid}/environ", "rb") as file:
                if os.fsencode(root) in file.read() and is_alive(pid):
                    found.append((name, pid))
        except (OSError, ValueError):
            continue
    return found


def stop(root):
    """Ends jobs, nodes, controller, database; removes the folder."""
    running = dict(daemons(root))
    if "slurmctld" in running and shutil.which("scancel"):
        quiet = {"env": clean_environment(root), "capture_output": True, "text": True}
        try:
            subprocess.run(["scancel", "-u", "root"], timeout=15, check=False, **quiet)
            limit = time.monotonic() + 10
            while time.monotonic() < limit:
                answer = subprocess.run(["squeue", "-h"], timeout=15, check=False, **quiet)
                if answer.returncode != 0 or not answer.stdout.strip():
                    break
                time.sleep(0.1)
        except subprocess.TimeoutExpired:
            pass
    for pid in running.values():
        end(pid)
    for _ in range(3):
        for pid in of_jobs(root):
            end(pid, seconds=1)
    remove_control_groups(root)
    shutil.rmtree(root, ignore_errors=True)


def remove_control_groups(root):
    """Empty groups that nodes leave behind, only when this cluster made any."""
    if not (root / "etc/cgroup.conf").exists():
        return
    for node in NODES:
        for group in Path("/sys/fs/cgroup").glob(f"*/slurm_{node}"):
            for folder, _, _ in os.walk(group, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass


def watch(root, parent):
    """A process that stops the cluster once `parent` is gone."""
    if os.fork() != 0:
        return
    os.setsid()
    # Whoever waits for the end of `start` must not find one of its descriptors open here.
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                pass  # that of the listing itself
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    while root.exists():
        if not is_alive(parent):
            stop(root)
            break
        time.sleep(0.5)
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["start", "stop", "node", "check"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("node", choices=NODES, nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--while", dest="parent", type=int, metavar="PID")
    arguments = parser.parse_args()
    try:
        if arguments.verb == "check":
            print(absent(arguments.full))
            return
        if not arguments.folder:
            parser.error("which folder?")
        root = arguments.folder.resolve()
        if arguments.verb == "start":
            start(root, arguments.full, arguments.parent)
        elif arguments.verb == "node":
            if not arguments.node:
                parser.error("which node?")
            start_node(root, arguments.node)
        else:
            stop(root)
    except (Problem, OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
