"""How many cores a program and all that it started keep busy, over time."""

import os
import time
from pathlib import Path

STEP = 0.01
# Of two cores, over one step: the second one works.
BUSY = 1.5


def alone(process):
    """Seconds until a second core is busy, and from then on at the end with one core at most. Looks every 10 ms at
    the kernel's nanosecond accounts of all threads until the program has ended, without waiting for it. `None`: a
    second core never was, the program being short or the machine busy."""
    start = time.monotonic()
    samples = [(0.0, 0)]
    known = {}
    while True:
        time.sleep(STEP)
        if not is_running(process):
            break
        for thread, used in times(process):
            known[thread] = max(used, known.get(thread, 0))
        samples.append((time.monotonic() - start, sum(known.values())))
    return spans(samples, time.monotonic() - start)


def spans(samples, end):
    """The same from samples of (seconds, nanoseconds of CPU)."""
    first = last = None
    for (earlier, before), (later, after) in zip(samples, samples[1:]):
        if later > earlier and (after - before) / 1e9 / (later - earlier) >= BUSY:
            first = earlier if first is None else first
            last = later
    if first is None:
        return {"head": None, "tail": None}
    return {"head": first, "tail": max(0.0, end - last)}


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def times(process):
    """Of every thread of the process and of those below it."""
    for place in tasks(process):
        try:
            yield place, int(Path(place, "schedstat").read_text().split()[0])
            children = Path(place, "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from times(child)


def tasks(process):
    try:
        return [entry.path for entry in os.scandir(f"/proc/{process}/task")]
    except OSError:
        return []
