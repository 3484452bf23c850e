"""The words of sbatch: what is asked, and why it is refused."""

import re

from jobs import numbers

DEPENDENCY = re.compile(r"afterany:\d+(_\d+)?(:\d+(_\d+)?)*$")
VALUED = {
    "job-name": "J", "comment": None, "array": "a", "nodes": "N", "ntasks": "n", "cpus-per-task": "c",
    "mem": None, "time": "t", "open-mode": None, "signal": None, "chdir": "D", "output": "o", "error": "e",
    "export": None, "partition": "p", "account": "A", "qos": "q", "dependency": "d", "exclude": "x",
    "constraint": "C", "kill-on-invalid-dep": None, "gres": None, "mail-type": None, "nice": None,
    "reservation": None, "licenses": "L", "begin": "b",
}
FLAGS = {"parsable": None, "no-requeue": None, "requeue": None, "hold": "H", "exclusive": None, "quiet": "Q"}


class Refusal(Exception):
    """What sbatch says, and its exit code."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


def failed(text):
    return Refusal(f"sbatch: error: Batch job submission failed: {text}\n")


def words(arguments):
    """Options by long name; a value of `True` for flags."""
    short = {letter: name for table in (VALUED, FLAGS) for name, letter in table.items() if letter}
    found = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        elif word.startswith("-") and len(word) > 1:
            name, value, equals = short.get(word[1], word[1:]), word[2:], len(word) > 2
        else:
            raise Refusal(f"sbatch: error: Unable to open file {word}\n")
        if name in FLAGS:
            found[name] = True
        elif name in VALUED:
            if not equals and rest:
                value = rest.pop(0)
            found[name] = value
        else:
            raise Refusal(f"sbatch: unrecognized option '{word}'\nTry \"sbatch --help\" for more information\n", 255)
    return found


def seconds(text):
    """`--time`: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S."""
    try:
        days, dash, rest = text.partition("-") if "-" in text else ("0", "", text)
        parts = [int(part) for part in rest.split(":")]
        if dash:
            parts = (parts + [0, 0])[:3]
            return ((int(days) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]
        if len(parts) == 1:
            return parts[0] * 60
        if len(parts) == 2:
            return parts[0] * 60 + parts[1]
        return (parts[0] * 60 + parts[1]) * 60 + parts[2]
    except ValueError:
        raise Refusal("sbatch: error: Invalid --time specification\n", 255) from None


def megabytes(text):
    found = re.fullmatch(r"(\d+)([KMGT]?)B?", text or "0", re.IGNORECASE)
    if not found:
        raise Refusal("sbatch: error: Invalid --mem specification\n", 255)
    factor = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024 * 1024}[found[2].upper()]
    return int(int(found[1]) * factor)


class Options:
    """What a submission asks for."""

    def __init__(self, arguments, behavior):
        given = words(arguments)
        self.parsable = "parsable" in given
        self.name = given.get("job-name", "sbatch")
        self.cpus = int(given.get("cpus-per-task", "1"))
        self.memory = megabytes(given.get("mem"))
        self.limit = seconds(given["time"]) if "time" in given else None
        self.output = given.get("output")
        self.append = given.get("open-mode") == "append"
        self.folder = given.get("chdir")
        self.held = "hold" in given
        self.signal = self.read_signal(given.get("signal", ""))
        self.indices, self.throttle = self.read_array(given.get("array"), behavior)
        self.excluded = self.read_nodes(given.get("exclude", ""), behavior)
        self.after = self.read_dependency(given.get("dependency", ""))
        self.check(given, behavior)

    def check(self, given, behavior):
        if given.get("partition", "debug") not in behavior.get("partitions", ["debug"]):
            raise Refusal(
                f"sbatch: error: invalid partition specified: {given['partition']}\n"
                "sbatch: error: Batch job submission failed: Invalid partition name specified\n")
        accounts = behavior.get("accounts")
        if accounts is not None and given.get("account", accounts[0]) not in accounts:
            raise failed("Invalid account or account/partition combination specified")
        if self.memory > behavior.get("nodeMemory", 1 << 40) and not self.held:
            raise Refusal(
                "sbatch: error: Memory specification can not be satisfied\n"
                "sbatch: error: Batch job submission failed: Requested node configuration is not available\n")
        if "constraint" in given:
            raise failed("Invalid feature specification")
        if len(self.excluded) == len(behavior.nodes):
            raise failed("Requested node configuration is not available")

    @staticmethod
    def read_signal(text):
        """(signal, seconds before the limit) of `B:USR2@120`."""
        found = re.fullmatch(r"(?:B:)?(?:SIG)?(\w+)(?:@(\d+))?", text)
        return (found[1], int(found[2] or 60)) if found else None

    @staticmethod
    def read_array(text, behavior):
        if text is None:
            return None, None
        text, _, throttle = text.partition("%")
        try:
            indices = sorted(set(numbers(text)))
        except ValueError:
            raise failed("Invalid job array specification") from None
        if not indices or indices[-1] >= behavior.get("maxArraySize", 1001):
            raise failed("Invalid job array specification")
        return indices, int(throttle) if throttle else None

    @staticmethod
    def read_nodes(text, behavior):
        found = set()
        for name in re.findall(r"[^,\[\]]+(?:\[[^\]]*\])?", text):
            head, bracket, tail = name.partition("[")
            found |= {f"{head}{n}" for n in numbers(tail[:-1])} if bracket else {name}
        if not found <= set(behavior.nodes):
            raise failed("Invalid node name specified")
        return found

    @staticmethod
    def read_dependency(text):
        if not text:
            return []
        if not DEPENDENCY.match(text):
            raise failed("Job dependency problem")
        return [int(part.split("_")[0]) for part in text.split(":")[1:]]
