#!/usr/bin/env -S python3 -S -E
"""Slurm's commands for tests: sbatch squeue sacct scancel scontrol sinfo, whichever name this file is called by.

The words go to a scheduler process of the folder `FAKE_SLURM` (server.py), which really runs the elements; it is
started by the first call and ends when that folder or the process `FAKE_SLURM_OWNER` is gone. How it misbehaves is
said in `behavior.json` of that folder (behavior.py); every call is written to `calls.jsonl`.
"""

# Modules that Python has built in: a call of these commands should take as little as Python itself.
import marshal
import os
import sys
import time
from _socket import AF_UNIX, SHUT_WR, socket


def connected(folder):
    """The scheduler's socket; starts it when there is none. The current folder is `folder`: paths of sockets are short."""
    os.chdir(folder)
    started = False
    for _ in range(6000):
        one = socket(AF_UNIX)
        try:
            one.connect("socket")
            return one
        except OSError:
            one.close()
        if not started:
            # Only the first call needs it.
            import fcntl
            with open("server.lock", "w", encoding="utf-8") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    # Somebody else is starting it.
                    time.sleep(0.005)
                    continue
                start()
                started = True
        time.sleep(0.005)
    sys.exit("fake slurm: the scheduler did not start")


def start():
    import subprocess
    server = os.path.join(os.path.dirname(os.path.realpath(__file__)), "server.py")
    with open("server.log", "ab") as log:
        subprocess.Popen(
            [sys.executable, "-S", "-E", "-B", server, os.getcwd()], stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, start_new_session=True,
        )


def ask(folder, request):
    one = connected(folder)
    one.sendall(marshal.dumps(request))
    one.shutdown(SHUT_WR)
    parts = []
    while part := one.recv(1 << 16):
        parts.append(part)
    one.close()
    return marshal.loads(b"".join(parts)) if parts else {"code": 1, "errors": "fake slurm: no answer\n"}


def main():
    name = os.path.basename(sys.argv[0])
    folder = os.environ.get("FAKE_SLURM")
    if not folder or not os.path.isdir(folder):
        sys.exit(f"{name}: FAKE_SLURM names no folder")
    request = {
        "command": name, "arguments": sys.argv[1:], "folder": os.getcwd(), "uid": os.getuid(),
        "environment": dict(os.environ),
    }
    if name == "sbatch":
        request["script"] = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    answer = ask(folder, request)
    if answer.get("seconds"):
        time.sleep(answer["seconds"])
    if answer.get("dies"):
        os.kill(os.getpid(), 9)
    sys.stdout.write(answer.get("output", ""))
    sys.stdout.flush()
    sys.stderr.write(answer.get("errors", ""))
    sys.exit(answer.get("code", 0))


if __name__ == "__main__":
    main()
