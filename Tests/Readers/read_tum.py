"""`export-tum`: the trajectory through evo, the rest by the rules of ORB-SLAM3's TUM examples."""

from decimal import Decimal

import cv2
import numpy as np
import yaml
from evo.tools import file_interface

import changes
from room import Frame, Problem, Reading, matrix


def _ns(text):
    if len(text.partition(".")[2]) != 9:
        raise Problem(f"{text} has not 9 decimals")
    return int(Decimal(text) * 1_000_000_000)


def read(folder):
    # mono_tum skips three lines without looking at them.
    lines = (folder / "rgb.txt").read_text().splitlines()
    if any(not line.startswith("#") for line in lines[:3]):
        raise Problem("mono_tum loses a frame in the first three lines of rgb.txt")
    colors = [line.split(" ") for line in lines[3:]]
    pairs = {}
    if (folder / "associations.txt").exists():
        # rgbd_tum reads every line as t rgb t depth.
        for line in (folder / "associations.txt").read_text().splitlines():
            t, rgb, t_depth, depth = line.split(" ")
            pairs[rgb] = (_ns(t), _ns(t_depth), depth)
        listed = [
            line.split(" ") for line in (folder / "depth.txt").read_text().splitlines()
            if not line.startswith("#")
        ]
        if sorted(d for _, d in listed) != sorted(p[2] for p in pairs.values()):
            raise Problem("depth.txt and associations.txt list other pictures")
        if any(f"depth/{t}.png" != d for t, d in listed):
            raise Problem("a depth picture is not named by its time")
    poses = {}
    truth = folder / "groundtruth.txt"
    if truth.exists():
        trajectory = file_interface.read_tum_trajectory_file(str(truth))
        texts = [
            line.split(" ")[0] for line in truth.read_text().splitlines()
            if not line.startswith("#")
        ]
        for text, position, q in zip(
            texts, trajectory.positions_xyz, trajectory.orientations_quat_wxyz
        ):
            poses[_ns(text)] = matrix(position, [q[1], q[2], q[3], q[0]])
    camera = None
    if (folder / "camera.yaml").exists():
        values = yaml.safe_load((folder / "camera.yaml").read_text())
        camera = tuple(values[k] for k in ("fx", "fy", "cx", "cy"))
        if values["depth_factor"] != 5000:
            raise Problem("depth_factor")
    reading = Reading(has_one_camera=camera is not None)
    for text, name in colors:
        time = _ns(text)
        pair = pairs.pop(name, None)
        if pair is not None and pair[0] != time:
            raise Problem(f"{name} has other times in rgb.txt and associations.txt")

        def color(name=name):
            return cv2.cvtColor(cv2.imread(str(folder / name)), cv2.COLOR_BGR2RGB)

        def depth(pair=pair):
            picture = cv2.imread(str(folder / pair[2]), cv2.IMREAD_UNCHANGED)
            if picture.dtype != np.uint16:
                raise Problem("depth is not of 16 bits")
            return picture.astype(float) / 5000

        reading.frames.append(
            Frame(
                time_ns=time, pose=poses.pop(time, None), camera=camera, color=color,
                depth=depth if pair else None, depth_time_ns=pair[1] if pair else None,
            )
        )
    if pairs or poses:
        raise Problem("associations.txt or groundtruth.txt have rows of no picture")
    return reading


def check_more(reading, folder, tables, room, checker):
    for name in ("rgb.txt", "depth.txt", "associations.txt", "groundtruth.txt"):
        if not (folder / name).exists():
            continue
        text = (folder / name).read_bytes()
        checker.that(b"\r" not in text and b"  " not in text and b" \n" not in text, f"{name}: blanks")
        checker.that(text.endswith(b"\n"), f"{name}: no line end at the end")
    for kind, expected in (("pose", tables.poses),):
        count = sum(f.pose is not None for f in reading.frames)
        wanted = sum(f in expected for f in tables.exported)
        checker.that(count == wanted, f"{count} rows of {kind}, not {wanted}")
    count = sum(f.depth is not None for f in reading.frames)
    wanted = sum(bool(tables.frames[f]["aligned"]) for f in tables.exported)
    wanted -= tables.export.get("depthLeftOut", 0)
    checker.that(count == wanted, f"{count} pairs, not {wanted}")


def _poses(change):
    def make(folder):
        from scipy.spatial.transform import Rotation

        def row(parts):
            m = change(matrix([float(x) for x in parts[1:4]], [float(x) for x in parts[4:8]]))
            q = Rotation.from_matrix(m[:3, :3]).as_quat()
            return [parts[0], *(repr(float(v)) for v in [*m[:3, 3], *q])]

        return changes.cells(folder / "groundtruth.txt", row, " ")

    return make


def _depth(change):
    def make(folder):
        if not (folder / "depth").exists():
            return False
        for path in (folder / "depth").iterdir():
            picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
            path.unlink()
            cv2.imwrite(str(path), change(picture.astype(float)).astype(np.uint16))
        return None

    return make


def _bgr(folder):
    for path in (folder / "rgb").iterdir():
        picture = cv2.imread(str(path))
        path.unlink()
        cv2.imwrite(str(path), picture[..., ::-1])


def _shifted_pairs(lines):
    parts = [line.split(" ") for line in lines]
    return [" ".join(a[:2] + b[2:]) for a, b in zip(parts, parts[1:] + parts[:1])]


def _half_pixel(folder):
    path = folder / "camera.yaml"
    if not path.exists():
        return False
    values = yaml.safe_load(path.read_text())
    values["cx"] += 0.5
    path.write_text(yaml.safe_dump(values))
    return None


MISTAKES = {
    "inverted pose": _poses(np.linalg.inv),
    "OpenGL axes": _poses(lambda m: m @ np.diag([1, -1, -1, 1])),
    "transposed rotation": _poses(
        lambda m: np.block([[m[:3, :3].T, m[:3, 3:]], [np.array([[0, 0, 0, 1.0]])]])
    ),
    "quaternion w x y z": lambda f: changes.cells(
        f / "groundtruth.txt", lambda p: p[:4] + p[7:8] + p[4:7], " "
    ),
    "poses shifted by one frame": lambda f: changes.lines(
        f / "groundtruth.txt",
        lambda lines: lines[:1]
        + [
            a.split(" ")[0] + b[b.index(" ") :]
            for a, b in zip(lines[1:], lines[2:] + lines[1:2])
        ],
    ),
    "a blank at the end": lambda f: changes.cells(
        f / "groundtruth.txt", lambda p: p[:-1] + [p[-1] + " "], " "
    ),
    "two blanks": lambda f: changes.cells(f / "groundtruth.txt", lambda p: p[:1] + [""] + p[1:], " "),
    "commas": lambda f: changes.lines(
        f / "groundtruth.txt", lambda lines: [line.replace(" ", ",") for line in lines]
    ),
    "times of 8 decimals": lambda f: changes.cells(
        f / "rgb.txt", lambda p: [p[0][:-1]] + p[1:], " "
    ),
    "times off by 200 ns": lambda f: changes.cells(
        f / "rgb.txt", lambda p: [f"{float(p[0]) + 2e-7:.9f}"] + p[1:], " "
    ),
    "times in milliseconds": lambda f: changes.cells(
        f / "rgb.txt", lambda p: [f"{Decimal(p[0]) * 1000:.9f}"] + p[1:], " "
    ),
    "one line of comment in rgb.txt": lambda f: changes.lines(
        f / "rgb.txt", lambda lines: lines[:1] + lines[3:]
    ),
    "a comment in associations.txt": lambda f: changes.lines(
        f / "associations.txt", lambda lines: ["# t rgb t depth"] + lines
    ),
    "pairs shifted by one frame": lambda f: changes.lines(f / "associations.txt", _shifted_pairs),
    "depth shifted by one frame": lambda f: changes.shifted((f / "depth").iterdir())
    if (f / "depth").exists()
    else False,
    "color shifted by one frame": lambda f: changes.shifted((f / "rgb").iterdir()),
    "depth in millimeters": _depth(lambda d: d / 5),
    "depth in meters": _depth(lambda d: d / 5000),
    "BGR": _bgr,
    "half a pixel": _half_pixel,
    "depth_factor of 1000": lambda f: changes.lines(
        f / "camera.yaml", lambda lines: [x.replace("5000", "1000") for x in lines]
    ),
}
