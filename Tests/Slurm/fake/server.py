#!/usr/bin/env python3
"""The scheduler process of a fake Slurm: one per state folder, ends with it, takes its elements along."""

import fcntl
import json
import marshal
import os
import selectors
import signal
import socket
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from answers import TABLE, answer  # noqa: E402
from scheduler import Scheduler  # noqa: E402


class Server:
    def __init__(self, folder, owner):
        self.folder, self.owner = folder, owner
        self.scheduler = Scheduler(folder)
        self.counts = dict.fromkeys(TABLE, 0)
        self.selector = selectors.DefaultSelector()
        self.calls = open("calls.jsonl", "a", encoding="utf-8")
        self.requests = {}

    def listen(self):
        one = socket.socket(socket.AF_UNIX)
        one.bind("socket.new")
        one.listen(128)
        os.rename("socket.new", "socket")
        self.selector.register(one, selectors.EVENT_READ, self.accept)
        wake, self.wake = socket.socketpair()
        for end in (wake, self.wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self.wake.fileno())
        self.selector.register(wake, selectors.EVENT_READ, lambda: wake.recv(4096))
        self.listener = one

    def accept(self):
        one, _ = self.listener.accept()
        self.requests[one] = []
        self.selector.register(one, selectors.EVENT_READ, lambda: self.receive(one))

    def receive(self, one):
        try:
            part = one.recv(1 << 20)
        except OSError:
            part = None
        if part:
            self.requests[one].append(part)
            return
        self.selector.unregister(one)
        text = b"".join(self.requests.pop(one))
        with one:
            try:
                request = marshal.loads(text)
            except (ValueError, EOFError, TypeError):
                # Its asker was killed in the middle.
                return
            try:
                one.sendall(marshal.dumps(self.handle(request)))
            except OSError:
                return

    def handle(self, request):
        command = request["command"]
        if command not in TABLE:
            return {"errors": f"fake slurm: no such command: {command}\n", "code": 127}
        self.counts[command] += 1
        result = answer(self.scheduler, request, self.counts)
        self.calls.write(json.dumps({
            "time": round(time.time(), 3), "command": command, "arguments": request["arguments"],
            "code": result.get("code", 0), "output": result.get("output", "")[:200],
        }) + "\n")
        self.calls.flush()
        return result

    def is_wanted(self):
        try:
            here = os.stat(self.folder).st_ino == os.stat(".").st_ino
        except OSError:
            return False
        return here and (self.owner is None or os.path.exists(f"/proc/{self.owner}"))

    def run(self):
        while not self.stopped and self.is_wanted():
            try:
                self.scheduler.tick()
            except Exception:  # One bad rule must not leave a test waiting.
                traceback.print_exc()
            for key, _ in self.selector.select(self.scheduler.haste):
                key.data()
        self.scheduler.finish()

    stopped = False

    def stop(self, *_):
        self.stopped = True


def main():
    folder = os.path.abspath(sys.argv[1])
    os.chdir(folder)
    lock = open("server.running", "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    owner = os.environ.get("FAKE_SLURM_OWNER", "")
    server = Server(folder, int(owner) if owner.isdigit() else None)
    signal.signal(signal.SIGTERM, server.stop)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with open("server.pid", "w", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    server.listen()
    server.run()


if __name__ == "__main__":
    main()
