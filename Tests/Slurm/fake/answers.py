"""The commands in the literal words of Slurm 22.05."""

import re
import signal
import time

from jobs import numbers
from submitting import Options, Refusal, failed

AWAY = "Unable to contact slurm controller (connect failure)"
AWAY_TEXTS = {
    "sbatch": f"sbatch: error: Batch job submission failed: {AWAY}\n", "squeue": f"slurm_load_jobs error: {AWAY}\n",
    "scancel": f"scancel: error: Kill job error on job id 1: {AWAY}\n", "sinfo": f"slurm_load_partitions: {AWAY}\n",
    "scontrol": f"slurm_load_ctl_conf error: {AWAY}\n",
}
PING_DOWN = (
    "Slurmctld(primary) at localhost is DOWN\n*****************************************\n"
    "** RESTORE SLURMCTLD DAEMON TO SERVICE **\n*****************************************\n")
LIMIT = (
    "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates "
    "accounting/QOS policy (job submit limit, user's size and/or time limits)\n")


def answer(scheduler, request, counts):
    """What a call prints and how it ends; `counts`: calls so far by command, this one included."""
    command, words = request["command"], request["arguments"]
    behavior = scheduler.behavior
    behavior.refresh()
    silent = behavior.get("silent", {}).get(command)
    if silent:
        return {"seconds": silent, "code": 1, "errors": f"{command}: error: Socket timed out\n"}
    down = behavior.get("down")
    if down and command != "sacct":
        if words[:1] == ["ping"]:
            return {"output": PING_DOWN, "code": 1}
        return {"seconds": down.get("seconds", 9), "errors": AWAY_TEXTS[command], "code": 8 if command == "scancel" else 1}
    fails = behavior.get("fails", {}).get(command)
    if fails:
        return {"errors": fails.get("text", "") + "\n", "code": fails.get("code", 1)}
    if command in behavior.get("garbage", {}):
        return {"output": behavior.get("garbage")[command]}
    result = TABLE[command](scheduler, request, counts)
    slow = behavior.get("slow", {}).get(command)
    return {**result, "seconds": slow} if slow else result


def sbatch(scheduler, request, counts):
    behavior = scheduler.behavior
    refuse = behavior.get("refuse", {})
    if counts["sbatch"] <= refuse.get("first", 0):
        return {"errors": refuse["text"] + "\n", "code": refuse.get("code", 1)}
    try:
        options = Options(request["arguments"], behavior)
        script = request["script"]
        if not script:
            raise Refusal("sbatch: error: Batch script is empty!\n")
        if not script.startswith("#!"):
            raise Refusal(
                "sbatch: error: This does not look like a batch script.  The first\n"
                "sbatch: error: line must start with #! followed by the path to an interpreter.\n"
                "sbatch: error: For instance: #!/bin/sh\n")
        count = len(options.indices or [0])
        if scheduler.queued() + count > behavior.get("maxSubmit", 1 << 40):
            raise Refusal(LIMIT)
    except Refusal as refusal:
        return {"errors": str(refusal), "code": refusal.code}
    except ValueError:
        return {"errors": str(failed("Invalid numeric value")), "code": 1}
    array = scheduler.submit(options, request)
    cluster = behavior.get("cluster")
    text = f"{array.id};{cluster}" if cluster else str(array.id)
    if not options.parsable:
        text = f"Submitted batch job {array.id}"
    return {"output": text + "\n", "dies": scheduler.accepted <= behavior.get("dies", 0)}


def split(words, valued):
    """Options of squeue, sacct and scancel: {letter or name: value}, and the rest. `valued` take a value."""
    found, rest, words = {}, [], list(words)
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        elif word.startswith("-") and len(word) > 1:
            name, value = word[1], word[2:]
            equals = bool(value)
            if name not in valued and value:
                words.insert(0, "-" + value)
                value, equals = "", True
        else:
            rest.append(word)
            continue
        if name in valued and not equals:
            value = words.pop(0) if words else ""
        found[name] = value
    return found, rest


def option(found, *names):
    return next((found[name] for name in names if name in found), None)


def chosen(scheduler, found, letter=None):
    """Arrays by `-j` and by name; `letter` is the short form of `--name`."""
    ids, names = option(found, "j", "jobs", "job"), option(found, letter, "name")
    arrays = list(scheduler.arrays.values())
    if ids is not None:
        wanted = {int(part.split("_")[0]) for part in ids.split(",") if part.split("_")[0].isdigit()}
        arrays = [array for array in arrays if array.id in wanted]
    if names is not None:
        arrays = [array for array in arrays if array.name in names.split(",")]
    return arrays


def squeue(scheduler, request, counts):
    found, _ = split(request["arguments"], "j o n t u p S w jobs job format name states state user".split())
    states = option(found, "t", "states", "state") or "PENDING,RUNNING,COMPLETING"
    wanted = None if states.lower() == "all" else states.upper().split(",")
    layout = option(found, "o", "format") or "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
    apart = "r" in found or "array" in found
    lines = [] if "h" in found or "noheader" in found else [
        re.sub(r"%(?:\.?\d+)?(\w)", lambda m: HEADS.get(m[1], m[1]), layout)]
    arrays, any_known = chosen(scheduler, found, "n"), False
    oldest = time.time() - scheduler.behavior.get("forget", 300)
    for array in arrays:
        for values in queue_rows(scheduler, array, apart, oldest):
            any_known = True
            if wanted is None or values["T"] in wanted:
                lines.append(re.sub(r"%(?:\.?\d+)?(\w)", lambda m: values.get(m[1], ""), layout))
    ids = option(found, "j", "jobs", "job")
    if ids is not None and "," not in ids and not any_known:
        return {"errors": "slurm_load_jobs error: Invalid job id specified\n", "code": 1}
    return {"output": "".join(line + "\n" for line in lines)}


HEADS = {
    "i": "JOBID", "T": "STATE", "r": "REASON", "A": "JOBID", "N": "NODELIST", "j": "NAME", "P": "PARTITION",
    "u": "USER", "t": "ST", "M": "TIME", "D": "NODES", "R": "NODELIST(REASON)", "F": "ARRAY_JOB_ID", "K": "ARRAY_TASK_ID",
}


def queue_rows(scheduler, array, apart, oldest):
    """Rows of an array as squeue knows it: what waits folded by reason, then one per element."""
    waiting = {}
    for index in array.pending:
        waiting.setdefault(scheduler.reason(array, index), []).append(index)
    for reason, indices in waiting.items():
        yield from folded_rows(array, indices, "PENDING", reason, apart)
    if array.cancelled and array.cancelled_at >= oldest:
        yield from folded_rows(array, array.cancelled, "CANCELLED", "None", apart)
    for task in reversed(list(array.tasks.values())):
        if task.ended is None or task.ended >= oldest:
            key = array.index_text([task.index]).split("%")[0] if array.is_array else "N/A"
            yield row(array, array.name_of(task.index), key, task.state.split()[0], task.reason, task)


def folded_rows(array, indices, state, reason, apart):
    if apart or not array.is_array:
        for index in indices:
            yield row(array, array.name_of(index), str(index), state, reason)
    else:
        yield row(array, array.folded(indices), array.index_text(indices), state, reason)


def row(array, name, key, state, reason, task=None):
    node = task.node if task else ""
    return {
        "i": name, "T": state, "r": reason, "A": str(task.job_id if task else array.id), "N": node, "j": array.name,
        "P": "debug", "u": "root", "t": state[:2], "D": "1", "R": node or f"({reason})", "F": str(array.id), "K": key,
        "M": elapsed(task) if task else "0:00",
    }


def elapsed(task):
    seconds = int((task.ended or time.time()) - task.started)
    days, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def sacct(scheduler, request, counts):
    if not scheduler.behavior.get("accounting", True):
        return {"errors": "Slurm accounting storage is disabled\n", "code": 1}
    found, _ = split(request["arguments"], "j o S E s u format name starttime endtime jobs state user".split())
    fields = (option(found, "format", "o") or "JobID,JobName,State,ExitCode").split(",")
    lines = [] if "n" in found or "noheader" in found else ["|".join(fields)]
    ids = option(found, "j", "jobs")
    if ids is not None and not re.fullmatch(r"[\d_,.]+", ids):
        return {"errors": f"sacct: fatal: Bad job/step specified: {ids}\n", "code": 1}
    at = time.time() - scheduler.behavior.get("sacctLag", 0)
    for array in chosen(scheduler, found):
        for values in records(array, at):
            lines.append("|".join(values.get(name.split("%")[0].lower(), "") for name in fields))
    return {"output": "".join(line + "\n" for line in lines)}


def records(array, at):
    """Rows of an array as accounting had it at a time."""
    if array.submitted > at:
        return
    started = []
    for task in array.tasks.values():
        if task.started > at:
            continue
        started.append(task.index)
        is_over = task.ended is not None and task.ended <= at
        state = task.state if is_over else "RUNNING"
        yield record(array, array.name_of(task.index), state, task.exit if is_over else "0:0", task)
    waiting = [i for i in array.indices if i not in set(started)]
    if array.cancelled and array.cancelled_at <= at:
        # As seen: an array of which nothing ever started loses its indices; else those that ran then are in it too.
        gone = array.cancelled + array.cancelled_running
        name = array.folded(gone) if array.tasks else str(array.id)
        yield record(array, name, f"CANCELLED by {array.cancelled_by}", "0:0")
    elif waiting:
        yield record(array, array.folded(waiting), "PENDING", "0:0")


def record(array, name, state, code, task=None):
    return {
        "jobid": name, "jobidraw": str(task.job_id if task else array.id), "state": state, "exitcode": code,
        "elapsed": elapsed(task) if task else "00:00:00", "nodelist": (task.node if task else "") or "None assigned",
        "jobname": array.name, "reason": "None", "partition": "debug", "allocnodes": "1" if task else "0",
    }


def scancel(scheduler, request, counts):
    found, rest = split(request["arguments"], "s t u n j signal state user name".split())
    number = option(found, "s", "signal")
    if number is not None:
        name = number.upper().removeprefix("SIG")
        number = int(name) if name.isdigit() else getattr(signal, f"SIG{name}")
        if number == signal.SIGKILL and option(found, "b", "batch") is None:
            # As seen: without --batch this is what scancel does anyway, TERM first.
            number = None
    states = (option(found, "t", "state") or "PENDING,RUNNING").upper().split(",")
    user = option(found, "u", "user")
    if not rest and user is None and "n" not in found and "name" not in found:
        return {"errors": "scancel: error: No job identification provided\n", "code": 1}
    for word in rest:
        if not re.fullmatch(r"\d+(_(\d+|\[[\d,:-]+\]))?", word):
            return {"errors": f"scancel: error: Invalid job id {word}\n", "code": 1}
    if rest:
        for word in rest:
            head, _, tail = word.partition("_")
            array = scheduler.arrays.get(int(head))
            if array:
                indices = set(numbers(tail.strip("[]"))) if tail else None
                scheduler.cancel(array, indices, request["uid"], states, number)
    else:
        for array in chosen(scheduler, found, "n"):
            scheduler.cancel(array, None, request["uid"], states, number)
    return {}


def scontrol(scheduler, request, counts):
    words = request["arguments"]
    if words[:1] == ["ping"]:
        return {"output": "Slurmctld(primary) at localhost is UP\n"}
    if words[:2] == ["show", "config"]:
        behavior = scheduler.behavior
        storage = "slurmdbd" if behavior.get("accounting", True) else "none"
        values = {
            "AccountingStorageEnforce": "none", "AccountingStorageType": f"accounting_storage/{storage}",
            "ClusterName": "test", "KillWait": f"{behavior.get('killWait', 30)} sec",
            "MaxArraySize": behavior.get("maxArraySize", 1001), "MinJobAge": f"{behavior.get('forget', 300)} sec",
            "SLURM_VERSION": "22.05.8",
        }
        head = time.strftime("Configuration data as of %Y-%m-%dT%H:%M:%S\n")
        return {"output": head + "".join(f"{name:<23} = {value}\n" for name, value in values.items())}
    if words[:1] == ["update"]:
        return update(scheduler, dict(word.partition("=")[::2] for word in words[1:]))
    if words[:1] in (["release"], ["hold"]):
        for word in words[1:]:
            if word.isdigit() and int(word) in scheduler.arrays:
                scheduler.arrays[int(word)].held = words[0] == "hold"
        return {}
    return {"errors": f"invalid keyword: {' '.join(words)}\n", "code": 1}


def update(scheduler, values):
    given = {name.lower(): value for name, value in values.items()}
    word = given.get("jobid", "")
    array = scheduler.arrays.get(int(word)) if word.isdigit() else None
    if not array or array.is_over:
        return {"errors": f"Invalid job id specified for job {word}\n", "code": 1}
    array.throttle = int(given.get("arraytaskthrottle", array.throttle or 0)) or None
    ended = [task.index for task in array.tasks.values() if not task.is_active]
    if not ended:
        return {}
    rest = [i for i in array.indices if i not in set(ended)]
    text = f"{array.folded(ended)}: Job has already finished\n{array.folded(rest)}: No error\n"
    return {"errors": re.sub(r"\[([^\]%]*)(%\d+)?\]", r"\1", text), "code": 1}


def sinfo(scheduler, request, counts):
    busy = {task.node for _, task in scheduler.active}
    found, _ = split(request["arguments"], "t o n p states format".split())
    wanted = option(found, "t", "states") or "idle,alloc"
    lines = [] if "h" in found else ["NODELIST   NODES PARTITION STATE "]
    for node in scheduler.behavior.nodes:
        state = "alloc" if node in busy else "idle"
        if state in wanted:
            lines.append(f"{node:<10} 1    debug* {state:<5} ")
    return {"output": "".join(line + "\n" for line in lines)}


TABLE = {
    "sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel, "scontrol": scontrol, "sinfo": sinfo,
}
