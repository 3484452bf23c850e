"""`export-kitti` through pykitti: the odometry benchmark's layout, one sequence.

Its poses lead to the first camera and its times begin there, so both are carried back by the capture's own first
row; depth, which the layout lacks, is that of the capture, so that poses and camera meet the walls of the room.
"""

import cv2
import numpy as np
import pykitti

import room as shared
from room import Frame, Reading


def read(folder):
    endings = {path.suffix[1:] for path in (folder / "sequences/00/image_2").iterdir()}
    if len(endings) != 1:
        raise ValueError(f"pictures end with {endings}")
    data = pykitti.odometry(str(folder), "00", imtype=endings.pop())
    if not len(data.cam2_files) == len(data.timestamps) == len(data.poses):
        raise ValueError("other numbers of pictures, times and poses")
    k = data.calib.K_cam2
    if data.calib.b_rgb != 0 or not np.allclose(data.calib.T_cam2_velo, np.eye(4)):
        raise ValueError("cameras beside the one")
    reading = Reading(has_one_camera=True, pose_tolerance=1e-7)
    reading.color_is_exact = data.imtype == "png"
    reading.relative = [np.array(pose) for pose in data.poses]
    reading.seconds = [time.total_seconds() for time in data.timestamps]
    for index in range(len(data)):
        reading.frames.append(
            Frame(
                camera=(k[0, 0], k[1, 1], k[0, 2], k[1, 2]),
                color=lambda index=index: np.array(data.get_cam2(index)),
            )
        )
    return reading


def check_more(reading, folder, tables, room, checker):
    first = tables.exported[0]
    checker.that(np.array_equal(reading.relative[0], np.eye(4)), "the first pose is not the identity")
    for frame, index, relative, seconds in zip(
        reading.frames, tables.exported, reading.relative, reading.seconds
    ):
        frame.pose = tables.poses[first] @ relative
        # A timedelta has microseconds.
        off = abs(tables.time_ns(index) - tables.time_ns(first) - seconds * 1e9)
        checker.that(off <= 1000, f"frame {index}: the time is off by {off} ns")
        aligned = tables.frames[index].get("aligned")
        if aligned:
            path = tables.capture / aligned
            frame.depth = lambda path=path: cv2.imread(str(path), -1).astype(np.float64) / 1000
    shared.check(reading, tables, room, checker)


def _poses(folder, change):
    path = folder / "poses/00.txt"
    rows = [np.array(line.split(), float).reshape(3, 4) for line in path.read_text().splitlines()]
    full = [np.vstack([row, [0, 0, 0, 1]]) for row in rows]
    lines = [" ".join(repr(float(x)) for x in m[:3].ravel()) for m in change(full)]
    path.write_text("\n".join(lines) + "\n")


def _times(folder, change):
    path = folder / "sequences/00/times.txt"
    path.write_text("\n".join(change(path.read_text().split())) + "\n")


def _camera(folder):
    path = folder / "sequences/00/calib.txt"
    lines = path.read_text().splitlines()
    words = lines[2].split()
    words[3], words[7] = words[7], words[3]
    lines[2] = " ".join(words)
    path.write_text("\n".join(lines) + "\n")


def _lost(folder):
    sorted((folder / "sequences/00/image_2").iterdir())[-1].unlink()


MISTAKES = {
    "absolute poses": lambda f: _poses(f, lambda m: [m[0] @ np.diag([1, -1, -1, 1]) @ x for x in m]),
    "inverted poses": lambda f: _poses(f, lambda m: [np.linalg.inv(x) for x in m]),
    "OpenGL axes": lambda f: _poses(
        f, lambda m: [np.diag([1, -1, -1, 1]) @ x @ np.diag([1, -1, -1, 1]) for x in m]
    ),
    "poses shifted by one frame": lambda f: _poses(f, lambda m: m[1:] + m[:1]),
    "times in milliseconds": lambda f: _times(f, lambda t: [str(float(x) * 1000) for x in t]),
    "principal point exchanged": _camera,
    "a picture is missing": _lost,
}
