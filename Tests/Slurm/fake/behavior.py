"""How the fake scheduler misbehaves: `behavior.json`, read again at every call. Every key is optional.

    nodes            {"node1": 2, "node2": 2}   elements that each node takes at a time
    partitions       ["debug"]                  others are refused
    accounts         ["lab"]                    others are refused; absent: any
    nodeMemory       4000                       MB; more is refused
    maxArraySize     1001
    maxSubmit        100                        elements queued or running; more is refused for now
    killWait         30                         seconds between TERM and KILL
    accounting       true
    sacctLag         0                          seconds that records are behind
    forget           300                        seconds after which the queue forgets what has ended
    cluster          "lab"                      sbatch answers `ID;lab`
    refuse           {"first": 3, "text": "…", "code": 1}      that many calls of sbatch
    dies             2                          that many calls of sbatch take the job and die without an answer
    down             {"seconds": 9}             the controller is away; accounting goes on
    garbage          {"squeue": "…"}            what these print instead
    fails            {"sacct": {"text": "…", "code": 1}}
    silent           {"sbatch": 100}            seconds that these take, having done nothing before and nothing after
    slow             {"sbatch": 2}              seconds that these take to answer, having done it
    element          "/path/program"            called with the run's folder and number instead of the script
    elements         [RULE, …]

A RULE says what becomes of elements:

    match            {"job": "regex of the job's name", "array": nth accepted sbatch from 1, "index": i or [i, …],
                      "element": number, "order": "text in the order file", "memoryBelow": MB, "timeBelow": seconds,
                      "node": "node1"}          all that are given must hold
    times            2                          for so many starts; absent: for all
    pending          "BadConstraints"           never starts while this rule is there
    startDelay       5                          seconds after submission
    end              "OUT_OF_MEMORY"            the state; `CANCELLED by 1000`
    exit             "0:125"                    absent: what Slurm says with that state
    when             "ended"                    the program has ended (default); "start": it never runs; seconds after the
                                                start; {"path": "a/color"}: when that is there, from `--chdir`
    program          "kill"                     at a `when` that is not "ended": killed (default); "leave": lives on, a
                                                ghost; "largest": its largest descendant is killed, the end is said later
    limit            20                         seconds instead of `--time`
    signalBefore     5                          seconds before the limit, instead of those of `--signal`
"""

import json
import os
import re
import shlex

DEFAULT_EXITS = {"OUT_OF_MEMORY": "0:125", "FAILED": "1:0", "COMPLETED": "0:0"}


class Behavior:
    """The file, read again when it has changed."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "behavior.json")
        self.stamp = None
        self.values = {}
        self.used = {}

    def refresh(self):
        try:
            info = os.stat(self.path)
            stamp = (info.st_mtime_ns, info.st_size, info.st_ino)
            if stamp != self.stamp:
                with open(self.path, encoding="utf-8") as file:
                    self.values = json.load(file)
                self.stamp = stamp
        except FileNotFoundError:
            self.values = {}
        except ValueError:
            # Being written; the next look sees it whole.
            pass

    def get(self, key, default=None):
        return self.values.get(key, default)

    @property
    def nodes(self):
        return self.get("nodes", {"node1": 2, "node2": 2})

    def rule(self, array, index, key, node=None):
        """The first rule for an element that says something about `key`."""
        for rule in self.get("elements", []):
            if key in rule and self.is_left(rule) and matches(rule.get("match", {}), array, index, node):
                return rule
        return None

    def is_left(self, rule):
        return "times" not in rule or self.used.get(json.dumps(rule, sort_keys=True), 0) < rule["times"]

    def use(self, rule):
        key = json.dumps(rule, sort_keys=True)
        self.used[key] = self.used.get(key, 0) + 1


def matches(match, array, index, node):
    """Whether everything that a rule asks for holds."""
    number = array.offset + (index or 0)
    wanted = match.get("index", index)
    checks = [
        "job" not in match or re.search(match["job"], array.name),
        match.get("array", array.number) == array.number,
        index in wanted if isinstance(wanted, list) else index == wanted,
        match.get("element", number) == number,
        "memoryBelow" not in match or array.memory < match["memoryBelow"],
        "timeBelow" not in match or (array.limit or 1 << 60) < match["timeBelow"],
        match.get("node", node) == node,
    ]
    return all(checks) and ("order" not in match or match["order"] in order_text(array, number))


def order_text(array, number):
    """What the element is to do, as its order file says; empty: no such file."""
    if not array.run_folder:
        return ""
    path = os.path.join(array.run_folder, "slurm", "orders", f"{number // 1000:03}", f"{number:06}.json")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def element_words(script):
    """(run folder, offset) of a script that ends in `PROGRAM element RUNFOLDER OFFSET`; else (None, 0)."""
    for line in reversed(script.splitlines()):
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        if "element" in words and len(words) > words.index("element") + 2:
            place = words.index("element")
            return words[place + 1], int(words[place + 2]) if words[place + 2].isdigit() else 0
    return None, 0
