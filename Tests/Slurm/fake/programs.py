"""Processes of elements: started, told, ended."""

import os
import re
import signal
import subprocess

SHELL = "/bin/sh"


def log_path(array, task):
    """`--output` with its patterns filled in."""
    pattern = array.output or ("slurm-%A_%a.out" if array.is_array else "slurm-%j.out")
    values = {
        "%A": str(array.id), "%a": str(task.index if task.index is not None else 4294967294),
        "%j": str(task.job_id), "%x": array.name, "%N": task.node, "%%": "%",
    }
    # In one pass: `%%A` is a percent sign and a letter.
    name = re.sub("%.", lambda found: values.get(found[0], found[0]), pattern)
    return os.path.join(array.folder, name)


def environment(array, task, state):
    kept = {k: v for k, v in array.environment.items() if not k.startswith(("SLURM_", "SBATCH_"))}
    kept.update({
        "SLURM_JOB_ID": str(task.job_id), "SLURM_JOBID": str(task.job_id), "SLURM_JOB_NAME": array.name,
        "SLURM_CPUS_PER_TASK": str(array.cpus), "SLURM_CPUS_ON_NODE": str(array.cpus),
        "SLURM_JOB_CPUS_PER_NODE": str(array.cpus), "SLURMD_NODENAME": task.node,
        "SLURM_JOB_NODELIST": task.node, "SLURM_NODELIST": task.node, "SLURM_JOB_NUM_NODES": "1",
        "SLURM_CLUSTER_NAME": "test", "SLURM_JOB_PARTITION": "debug", "SLURM_PROCID": "0",
        "SLURM_SUBMIT_DIR": array.folder, "FAKE_SLURM_ELEMENT_OF": state,
    })
    if array.memory:
        kept["SLURM_MEM_PER_NODE"] = str(array.memory)
    if task.index is not None:
        kept["SLURM_ARRAY_JOB_ID"] = str(array.id)
        kept["SLURM_ARRAY_TASK_ID"] = str(task.index)
        kept["SLURM_ARRAY_TASK_COUNT"] = str(len(array.indices))
        kept["SLURM_ARRAY_TASK_MIN"] = str(array.indices[0])
        kept["SLURM_ARRAY_TASK_MAX"] = str(array.indices[-1])
    return kept


def start(array, task, state, stand_in):
    """Runs an element in a session of its own. `None`: its log cannot be made, so it never runs."""
    try:
        log = open(log_path(array, task), "ab" if array.append else "wb")
    except OSError:
        return None
    folder = array.folder if os.path.isdir(array.folder) else "/tmp"
    words = [SHELL, script_path(state, array.id)]
    if stand_in:
        words = [stand_in, array.run_folder or "", str(array.offset + (task.index or 0))]
    with log:
        return subprocess.Popen(
            words, cwd=folder, env=environment(array, task, state), stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, start_new_session=True,
        )


def script_path(state, job):
    return os.path.join(state, "scripts", f"{job}.sh")


def say(array, task, text):
    """A line of Slurm's in the element's log."""
    try:
        with open(log_path(array, task), "a", encoding="utf-8") as log:
            log.write(text + "\n")
    except OSError:
        pass


def tell(task, number):
    """A signal for the element's first process only, as Slurm does."""
    if task.process and task.process.poll() is None:
        os.kill(task.process.pid, number)


def environ(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"\0" + file.read()
    except OSError:
        return b""


def belonging(state, job_id=None):
    """Processes of one element, or of all."""
    mark = b"\0FAKE_SLURM_ELEMENT_OF=" + os.fsencode(state) + b"\0"
    job = b"\0SLURM_JOB_ID=%d\0" % job_id if job_id else b""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            text = environ(name)
            if mark in text and job in text:
                found.append(int(name))
    return found


def kill_all(state, task=None):
    """Everything that an element, or all of them, started; in whatever session it is."""
    if task and task.process:
        kill_group(task.process.pid)
    for _ in range(20):
        found = [pid for pid in belonging(state, task.job_id if task else None) if pid != os.getpid()]
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def kill_largest(state, task):
    """What a kernel short of memory does: the largest process of the element, never its first one. False: there is
    no other yet."""
    others = [pid for pid in belonging(state, task.job_id) if not task.process or pid != task.process.pid]
    if not others:
        return False
    os.kill(max(others, key=resident), signal.SIGKILL)
    return True
