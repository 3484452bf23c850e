"""What the fake scheduler does: takes arrays, starts elements, watches limits and rules, notes how they end."""

import os
import signal
import time

import programs
from behavior import DEFAULT_EXITS, Behavior, element_words
from jobs import Array, Task


class Scheduler:
    def __init__(self, folder):
        self.folder = folder
        self.behavior = Behavior(folder)
        self.arrays = {}
        self.next_id = 1
        self.accepted = 0
        self.active = []
        # Programs that live on although their element counts as lost.
        self.ghosts = []
        os.makedirs(os.path.join(folder, "scripts"), exist_ok=True)

    # Submission and cancellation.

    def submit(self, options, request):
        self.accepted += 1
        array = Array(self.next_id, self.accepted, options, request["script"], request)
        array.run_folder, array.offset = element_words(array.script)
        self.next_id += 1
        self.arrays[array.id] = array
        with open(programs.script_path(self.folder, array.id), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(array.script)
        return array

    def queued(self):
        """Elements that wait or run."""
        return sum(len(array.pending) for array in self.arrays.values()) + len(self.active)

    def cancel(self, array, indices, uid, states, number):
        """`indices`: `None` for all. `number`: a signal that running ones get instead of their end."""
        now = time.time()
        waiting = [i for i in array.pending if indices is None or i in indices]
        if waiting and "PENDING" in states and number in (None, signal.SIGKILL):
            array.pending = [i for i in array.pending if i not in set(waiting)]
            if indices is None:
                array.cancelled += waiting
                array.cancelled_at, array.cancelled_by = now, uid
                array.cancelled_running = [task.index for task in array.running]
            else:
                for index in waiting:
                    task = Task(index, array.id)
                    task.end(f"CANCELLED by {uid}", "0:0")
                    array.tasks[index] = task
        if "RUNNING" not in states:
            return
        for task in array.running:
            if indices is not None and task.index not in indices:
                continue
            if number not in (None, signal.SIGKILL):
                programs.tell(task, number)
            elif number == signal.SIGKILL:
                task.cancelled_by = uid
                programs.kill_all(self.folder, task)
            elif task.cancelled_by is None:
                task.cancelled_by, task.state = uid, "COMPLETING"
                self.say_end(array, task, "")
                programs.tell(task, signal.SIGTERM)
                task.kill_at = now + self.behavior.get("killWait", 30)

    @staticmethod
    def say_end(array, task, cause):
        at = time.strftime("%Y-%m-%dT%H:%M:%S")
        programs.say(array, task, f"slurmstepd: error: *** JOB {task.job_id} ON {task.node} CANCELLED AT {at}{cause} ***")

    # Time.

    def tick(self):
        """Everything that time or an end brings."""
        self.behavior.refresh()
        self.ghosts = [process for process in self.ghosts if process.poll() is None]
        for array, task in list(self.active):
            if task.process.poll() is not None:
                self.has_ended(array, task)
            else:
                self.look(array, task)
        if not self.behavior.get("down"):
            self.start_waiting()

    @property
    def haste(self):
        """Seconds until something may have to be done that no signal tells."""
        if any(task.rule for _, task in self.active):
            return 0.02
        return 0.1 if self.active or any(array.pending for array in self.arrays.values()) else 0.5

    def look(self, array, task):
        """Limits and rules of an element at work."""
        now = time.time()
        if task.kill_at and now >= task.kill_at:
            programs.kill_all(self.folder, task)
        elif task.warning and now >= task.warning:
            task.warning = None
            programs.tell(task, getattr(signal, f"SIG{array.signal[0]}"))
        elif task.limit and now >= task.limit and not task.verdict:
            task.verdict, task.limit = ("TIMEOUT", "0:0"), None
            self.say_end(array, task, " DUE TO TIME LIMIT")
            programs.tell(task, signal.SIGTERM)
            task.kill_at = now + self.behavior.get("killWait", 30)
        if task.rule and self.is_due(array, task):
            self.apply(array, task)

    @staticmethod
    def is_due(array, task):
        when = task.rule.get("when", "ended")
        if isinstance(when, dict):
            return os.path.exists(os.path.join(array.folder, when["path"]))
        return when != "ended" and time.time() >= task.started + when

    def apply(self, array, task):
        """A rule's moment has come while the program runs."""
        rule = task.rule
        way = rule.get("program", "kill")
        if way == "largest":
            if not programs.kill_largest(self.folder, task):
                return
            programs.say(
                array, task, f"slurmstepd-{task.node}: error: Detected 1 oom-kill event(s) in StepId={task.job_id}.batch. "
                "Some of your processes may have been killed by the cgroup out-of-memory handler.")
            task.rule, task.verdict = None, verdict(rule)
        elif way == "leave":
            self.ghosts.append(task.process)
            self.close(array, task, *verdict(rule))
        else:
            task.rule, task.verdict = None, verdict(rule)
            programs.kill_all(self.folder, task)

    def has_ended(self, array, task):
        code = task.process.returncode
        programs.kill_group(task.process.pid)
        if code != 0 or task.cancelled_by is not None:
            programs.kill_all(self.folder, task)
        if task.rule and task.rule.get("when", "ended") == "ended":
            task.verdict = verdict(task.rule)
        if task.verdict:
            self.close(array, task, *task.verdict)
        elif task.cancelled_by is not None:
            self.close(array, task, f"CANCELLED by {task.cancelled_by}", "0:0")
        elif code == 0:
            self.close(array, task, "COMPLETED", "0:0")
        else:
            self.close(array, task, "FAILED", f"{code}:0" if code > 0 else f"0:{-code}")

    def close(self, array, task, state, code):
        task.end(state, code)
        self.active.remove((array, task))

    # Starting.

    def start_waiting(self):
        free = dict(self.behavior.nodes)
        for _, task in self.active:
            free[task.node] = free.get(task.node, 0) - 1
        for array in self.arrays.values():
            if not array.pending or array.held or not self.is_free(array):
                continue
            running = len(array.running)
            for index in list(array.pending):
                nodes = [name for name in free if free[name] > 0 and name not in array.excluded]
                if not nodes or (array.throttle and running >= array.throttle):
                    break
                if self.is_kept(array, index):
                    continue
                node = max(nodes, key=lambda name: free[name])
                if self.start(array, index, node):
                    free[node] -= 1
                    running += 1

    def is_free(self, array):
        """Whether all that it depends on has ended; what nobody knows has."""
        return all(self.arrays[other].is_over for other in array.after if other in self.arrays)

    def is_kept(self, array, index):
        if self.behavior.rule(array, index, "pending"):
            return True
        delay = self.behavior.rule(array, index, "startDelay")
        return delay is not None and time.time() < array.submitted + delay["startDelay"]

    def start(self, array, index, node):
        """Whether it takes a place now."""
        array.pending.remove(index)
        if array.pending:
            job_id, self.next_id = self.next_id, self.next_id + 1
        else:
            job_id = array.id
        task = Task(index, job_id)
        task.node = node
        array.tasks[index] = task
        task.rule = self.behavior.rule(array, index, "end", node)
        if task.rule:
            self.behavior.use(task.rule)
            if task.rule.get("when") == "start":
                task.end(*verdict(task.rule))
                return False
        self.set_limits(array, task)
        task.process = programs.start(array, task, self.folder, self.behavior.get("element"))
        if not task.process:
            task.end("FAILED", "0:53")
            return False
        self.active.append((array, task))
        return True

    def set_limits(self, array, task):
        rule = self.behavior.rule(array, task.index, "limit", task.node) or {}
        if "limit" in rule:
            self.behavior.use(rule)
        limit = rule.get("limit", array.limit)
        if limit is None:
            return
        task.limit = task.started + limit
        if array.signal:
            task.warning = task.limit - rule.get("signalBefore", array.signal[1])

    def reason(self, array, index):
        """Why an element waits, in Slurm's word."""
        rule = self.behavior.rule(array, index, "pending")
        if rule:
            return rule["pending"]
        if array.held:
            return "JobHeldUser"
        if not self.is_free(array):
            return "Dependency"
        if array.throttle and len(array.running) >= array.throttle:
            return "JobArrayTaskLimit"
        if self.active:
            first = next(a for a in self.arrays.values() if a.pending)
            return "Resources" if array is first else "Priority"
        return "None"

    def finish(self):
        programs.kill_all(self.folder)


def verdict(rule):
    """(state, exit code) that a rule wants."""
    state = rule["end"]
    return state, rule.get("exit", DEFAULT_EXITS.get(state, "0:0"))
