"""What the scripts of this folder share: programs and what the kernel says of them, medians, captures around
movies, tables. Python's own library alone."""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Problem(Exception):
    """Something that cannot be measured, in one sentence."""


class Used:
    """Wall, user and system seconds of a program and of all that it started and waited for; its peak memory in
    bytes; when it began and ended, nanoseconds since 1970."""

    def __init__(self, wall, usage, began, ended, output):
        self.wall = wall
        self.user = usage.ru_utime
        self.system = usage.ru_stime
        self.peak = usage.ru_maxrss * 1024
        self.began = began
        self.ended = ended
        self.output = output

    @property
    def cpu(self):
        return self.user + self.system

    def seconds(self):
        return {"wall": self.wall, "user": self.user, "system": self.system, "cpu": self.cpu}


def run(words, accepted=(0,), while_running=None):
    """Runs a program to its end. `while_running` gets its process number and returns when it likes.

    Words go to files, so that nothing waits for us.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.time_ns()
        start = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        try:
            if while_running:
                while_running(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        wall = time.monotonic() - start
        ended = time.time_ns()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
        if process.returncode not in accepted:
            errors.seek(0)
            words_of_it = errors.read().decode(errors="replace")[-1000:]
            raise Problem(f"{' '.join(map(str, words))}: ended with {process.returncode}: {words_of_it}")
        return Used(wall, usage, began, ended, text)


def settle(folder):
    """Writes back what lies in the page cache: the next program would wait for it."""
    subprocess.run(["sync", "-f", str(folder)], check=False)


def bytes_in(folder, ending=""):
    return sum(path.stat().st_size for path in Path(folder).rglob("*" + ending) if path.is_file())


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def machine():
    """What figures were measured on, and how busy it was."""
    name = "unknown processor"
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "processor": name,
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": os.getloadavg()[0],
    }


def capture_of(path, folder):
    """The capture at `path`; around a movie the smallest one that holds it: a Strabo capture of one file."""
    path = Path(path)
    if path.is_dir():
        return path
    if not path.is_file():
        raise Problem(f"{path}: neither a capture nor a movie")
    place = Path(folder) / "captures" / path.stem
    place.mkdir(parents=True, exist_ok=True)
    movie = place / path.name
    if not movie.exists():
        shutil.copyfile(path, movie)
    (place / "capture-info.json").write_text(
        json.dumps({"media_type": "video", "media_file": path.name})
    )
    return place


def check_room(folder, needed):
    """Refuses what has no room, keeping 1 GB."""
    free = shutil.disk_usage(folder).free
    if free - 10**9 < needed:
        raise Problem(
            f"{folder}: about {needed / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are free: "
            "fewer --times, or another --folder"
        )


def number(value, digits=None):
    """About three digits that count, `–` for what was not measured."""
    if value is None:
        return "–"
    if digits is None:
        digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


def table(heads, rows):
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def stop(problem):
    sys.exit(f"error: {problem}")
