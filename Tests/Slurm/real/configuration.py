"""The files that a Slurm of two nodes on one machine is configured by."""

import os
import socket

# Counted from the list that `cluster.py` makes: controller, unused, one per node, database.
NODE_PORT = 2


def slurm_configuration(root, ports, full):
    """The text of `slurm.conf`. `ports`: five free ones."""
    host = socket.gethostname().split(".")[0]
    lines = [
        "ClusterName=test",
        "SlurmctldHost=localhost(127.0.0.1)",
        f"SlurmctldPort={ports[0]}",
        f"SlurmdPort={ports[1]}",
        "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
        "SlurmUser=root",
        "SlurmdUser=root",
        f"SlurmctldPidFile={root}/run/slurmctld.own.pid",
        f"SlurmdPidFile={root}/run/slurmd.own.%n.pid",
        f"StateSaveLocation={root}/state",
        f"SlurmdSpoolDir={root}/spool/%n",
        f"SlurmctldLogFile={root}/log/slurmctld.log",
        f"SlurmdLogFile={root}/log/slurmd.%n.log",
        "MpiDefault=none",
        "ReturnToService=2",
        "KillWait=5",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core_Memory",
        "DefMemPerCPU=500",
        "EnforcePartLimits=ALL",
        "SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=0",
    ]
    if full:
        lines += [
            "AuthType=auth/munge",
            "CredType=cred/munge",
            f"AuthInfo=socket={root}/run/munge.socket",
            "JobAcctGatherType=jobacct_gather/linux",
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=localhost",
            f"AccountingStoragePort={ports[4]}",
            f"AccountingStoragePass={root}/run/munge.socket",
            "AccountingStoreFlags=job_comment",
            # What `sacctmgr` says of users is kept to: limits of submitted elements.
            "AccountingStorageEnforce=associations,limits",
        ]
    else:
        lines += [
            "AuthType=auth/none",
            "CredType=cred/none",
            "AccountingStorageType=accounting_storage/none",
            "JobAcctGatherType=jobacct_gather/none",
        ]
    if full and has_control_groups():
        lines += ["ProctrackType=proctrack/cgroup", "TaskPlugin=task/cgroup"]
    else:
        lines += ["ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none"]
    for index, node in enumerate(["node1", "node2"]):
        lines.append(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 "
            f"Port={ports[NODE_PORT + index]} CPUs=2 RealMemory=4000")
    lines.append("PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    return "\n".join(lines) + "\n"


def has_control_groups():
    """Version 1: version 2 needs systemd."""
    return os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes") and os.path.ismount(
        "/sys/fs/cgroup/freezer")


def write_full_configuration(root, port):
    """`slurmdbd.conf` and, where they can be used, `cgroup.conf`."""
    database = root / "etc/slurmdbd.conf"
    database.write_text("\n".join([
        "AuthType=auth/munge",
        f"AuthInfo=socket={root}/run/munge.socket",
        "DbdHost=localhost",
        "DbdAddr=127.0.0.1",
        f"DbdPort={port}",
        "SlurmUser=root",
        f"PidFile={root}/run/slurmdbd.own.pid",
        f"LogFile={root}/log/slurmdbd.log",
        "StorageType=accounting_storage/mysql",
        "StorageHost=localhost",
        "StorageUser=slurm",
        "StoragePass=slurm",
        "StorageLoc=slurm_acct_db",
    ]) + "\n")
    database.chmod(0o600)
    if has_control_groups():
        (root / "etc/cgroup.conf").write_text("\n".join([
            "CgroupPlugin=cgroup/v1",
            "CgroupAutomount=yes",
            "ConstrainRAMSpace=yes",
            "AllowedSwapSpace=0",
        ]) + "\n")
