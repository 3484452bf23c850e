"""`export-kalibr` by the rules of Kalibr's bag creator."""

import os

import cv2
import numpy as np

import changes
import inertial
from room import Frame, Problem, Reading


def _ros_time(stem):
    """As `kalibr_bagcreater`: the last nine characters are nanoseconds, what stands before is seconds."""
    return int(stem[:-9]) * 1_000_000_000 + int(stem[-9:])


def _images(folder):
    """Folders that begin with `cam` anywhere in the tree, names sorted as text."""
    found = []
    for root, folders, _ in os.walk(folder):
        for name in folders:
            if name.startswith("cam"):
                path = os.path.join(root, name)
                found.append([os.path.join(path, x) for x in os.listdir(path)])
    if len(found) != 1:
        raise Problem(f"{len(found)} cameras")
    return sorted(found[0], key=lambda p: os.path.splitext(os.path.basename(p))[0])


def _imus(folder):
    found = []
    for root, _, files in os.walk(folder):
        found += [os.path.join(root, f) for f in files if f.startswith("imu") and f.endswith(".csv")]
    return found


def read(folder):
    reading = Reading()
    previous = -1
    for path in _images(folder):
        time = _ros_time(os.path.splitext(os.path.basename(path))[0])
        if time <= previous:
            raise Problem("names sorted as text are not in time order")
        previous = time

        def color(path=path):
            picture = cv2.imread(path, cv2.IMREAD_UNCHANGED)
            if picture.ndim != 2 or picture.dtype != np.uint8:
                raise Problem("no 8-bit gray picture")
            return picture

        reading.frames.append(Frame(time_ns=time, color=color))
    imus = _imus(folder)
    if len(imus) > 1:
        raise Problem("more than one IMU")
    if imus:
        with open(imus[0]) as file:
            rows = [line.rstrip("\n").split(",") for line in file][1:]
        reading.imu_times_ns = [_ros_time(row[0]) for row in rows]
        reading.imu = np.array([[float(x) for x in row] for row in rows])
    return reading


def check_more(reading, folder, tables, room, checker):
    stems = [p.stem for p in (folder / "cam0").iterdir()]
    if reading.imu is not None:
        lines = (folder / "imu0.csv").read_text().splitlines()
        checker.that(
            lines[0] == "timestamp,omega_x,omega_y,omega_z,alpha_x,alpha_y,alpha_z", "header of imu0.csv"
        )
        checker.that(all(line.count(",") == 6 for line in lines), "imu0.csv has not 7 columns")
        stems += [line.split(",")[0] for line in lines[1:]]
        inertial.check_rows(reading, tables, checker)
        inertial.check_coverage([f.time_ns for f in reading.frames], reading, checker)
        inertial.check_gravity(reading, tables, room, checker)
    checker.that(len({len(s) for s in stems}) == 1, "times have not the same number of digits")
    checker.that(min(len(s) for s in stems) >= 10, "times of less than 10 digits")


def _imu(change):
    return lambda folder: changes.cells(folder / "imu0.csv", change)


def _renamed(folder, change):
    for path in sorted((folder / "cam0").iterdir()):
        path.rename(path.with_name(change(path.stem) + path.suffix))


def _second_imu(folder):
    if not (folder / "imu0.csv").exists():
        return False
    (folder / "imu0-raw.csv").write_bytes((folder / "imu0.csv").read_bytes())
    return None


def _unpadded(folder):
    return changes.cells(folder / "imu0.csv", lambda p: ["0" + p[0]] + p[1:])


MISTAKES = {
    "names in milliseconds": lambda f: _renamed(f, lambda s: str(int(s) // 1_000_000)),
    "names of 8 digits below the second": lambda f: _renamed(f, lambda s: s[:-1]),
    "names in float seconds": lambda f: _renamed(f, lambda s: repr(int(s) / 1e9)),
    "IMU times of 8 digits below the second": _imu(lambda p: [p[0][:-1]] + p[1:]),
    "times of unequal digits": _unpadded,
    "a second file that begins with imu": _second_imu,
    "a second folder that begins with cam": lambda f: (f / "camera").mkdir(),
    "accelerometer before gyroscope": _imu(lambda p: p[:1] + p[4:7] + p[1:4]),
    "sign of acceleration": _imu(lambda p: changes.scaled(p, (4, 5, 6), -1)),
    "acceleration in g": _imu(lambda p: changes.scaled(p, (4, 5, 6), 1 / 9.80665)),
    "gravity missing": _imu(lambda p: changes.scaled(p, (4, 5, 6), 0.01)),
    "without header": lambda f: changes.lines(f / "imu0.csv", lambda lines: lines[1:]),
    "pictures shifted by one frame": lambda f: changes.shifted((f / "cam0").iterdir()),
}
