"""Arrays and their elements, as the fake scheduler keeps them."""

import time


class Task:
    """One element that has been started, or has ended without."""

    def __init__(self, index, job_id):
        self.index = index
        self.job_id = job_id
        self.state = "RUNNING"
        self.exit = "0:0"
        self.reason = "None"
        self.node = ""
        self.started = time.time()
        self.ended = None
        self.process = None
        # What a rule wants: (state, exit) that replaces the program's own.
        self.verdict = None
        self.rule = None
        self.cancelled_by = None
        self.limit = None
        self.warning = None
        self.kill_at = None

    @property
    def is_active(self):
        return self.ended is None

    def end(self, state, code):
        self.state, self.exit, self.ended = state, code, time.time()
        word = state.split()[0]
        if word == "FAILED":
            self.reason = "JobLaunchFailure" if code.startswith("0:") else "NonZeroExitCode"
        elif word in ("OUT_OF_MEMORY", "TIMEOUT"):
            self.reason = {"OUT_OF_MEMORY": "OutOfMemory", "TIMEOUT": "TimeLimit"}[word]


class Array:
    """What one sbatch handed over. `indices` is `None` for a job without an array."""

    def __init__(self, job_id, number, options, script, request):
        self.id = job_id
        self.number = number
        self.name = options.name
        self.memory = options.memory
        self.cpus = options.cpus
        self.limit = options.limit
        self.signal = options.signal
        self.output = options.output
        self.append = options.append
        self.folder = options.folder or request["folder"]
        self.excluded = options.excluded
        self.after = options.after
        self.held = options.held
        self.throttle = options.throttle
        self.is_array = options.indices is not None
        self.indices = options.indices if self.is_array else [None]
        self.pending = list(self.indices)
        self.tasks = {}
        self.cancelled = []
        self.cancelled_by = None
        self.cancelled_running = []
        self.cancelled_at = None
        self.script = script
        self.environment = request["environment"]
        self.submitted = time.time()
        self.run_folder, self.offset = None, 0

    @property
    def running(self):
        return [task for task in self.tasks.values() if task.is_active]

    @property
    def is_over(self):
        return not self.pending and not self.running

    def name_of(self, index):
        return str(self.id) if index is None else f"{self.id}_{index}"

    def folded(self, indices):
        """`34_[2-9%2]`, `34`."""
        if not self.is_array:
            return str(self.id)
        return f"{self.id}_[{self.index_text(indices)}]"

    def index_text(self, indices):
        return ranges(indices) + (f"%{self.throttle}" if self.throttle else "")


def ranges(indices):
    """`1,3,7-9`."""
    parts = []
    for index in sorted(indices):
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def numbers(text):
    """`1,3,7-9` and `0-10:2` as a list; raises ValueError."""
    found = []
    for part in text.split(","):
        part, _, step = part.partition(":")
        low, dash, high = part.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise ValueError(text)
        found += range(int(low), int(high or low) + 1, int(step or 1))
    return found
