"""The room, the tables of a capture, and the comparisons that all formats share.

Everything here is in one convention: camera to world, OpenCV camera axes (x right, y down, z forward), pixel
centers at integers, meters, y up, nanoseconds. A reader converts from its format's own convention.
"""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import cv2
import numpy as np


@dataclass
class Frame:
    """One frame as a reader returned it. None: the format does not say."""

    frame: Optional[int] = None
    """Canonical index."""
    time_ns: Optional[int] = None
    pose: Optional[np.ndarray] = None
    """4x4."""
    camera: Optional[tuple] = None
    """fx fy cx cy of the color picture."""
    color: Optional[Callable[[], np.ndarray]] = None
    """H x W x 3, RGB; H x W for gray."""
    depth: Optional[Callable[[], np.ndarray]] = None
    """Meters along the optical axis, 0 = none."""
    depth_camera: Optional[tuple] = None
    """fx fy cx cy of the depth picture; None: that of color."""
    depth_time_ns: Optional[int] = None


@dataclass
class Reading:
    """An export as a foreign loader returned it."""

    frames: list = field(default_factory=list)
    imu: Optional[np.ndarray] = None
    """Rows of time_ns (as float), wx wy wz rad/s, ax ay az m/s² (specific force)."""
    imu_times_ns: Optional[list] = None
    imu_from_camera: Optional[np.ndarray] = None
    """3x3 or 4x4."""
    points: Optional[np.ndarray] = None
    """N x 3, the app's world."""
    colors: Optional[np.ndarray] = None
    """N x 3, 0…255."""
    color_from_depth: Optional[np.ndarray] = None
    pose_tolerance: float = 1e-9
    camera_tolerance: float = 1e-9
    color_is_exact: bool = True
    """False where pictures were encoded with loss."""
    depth_scale_tolerance_m: float = 0.0
    has_one_camera: bool = False
    """The camera is the median of all frames."""


class Problem(Exception):
    """What a comparison found wrong."""


class Checker:
    """Counts comparisons; the first that fails is raised."""

    def __init__(self):
        self.count = 0

    def that(self, condition, text):
        self.count += 1
        if not bool(condition):
            raise Problem(text)


def rows(path):
    if not Path(path).exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def rotation(x, y, z, w):
    n = x * x + y * y + z * z + w * w
    s = 2 / n
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )


def matrix(position, quaternion_xyzw):
    m = np.eye(4)
    m[:3, :3] = rotation(*quaternion_xyzw)
    m[:3, 3] = position
    return m


class Tables:
    """The CSV tables beside an export, and its `frames.csv`."""

    def __init__(self, capture, export):
        capture = Path(capture)
        self.capture = capture
        self.frames = {int(r["frame"]): r for r in rows(capture / "tables/frames.csv")}
        self.poses = {}
        for r in rows(capture / "tables/poses.csv"):
            self.poses[int(r["frame"])] = matrix(
                [float(r[k]) for k in ("tx", "ty", "tz")],
                [float(r[k]) for k in ("qx", "qy", "qz", "qw")],
            )
        self.cameras = {
            int(r["frame"]): tuple(float(r[k]) for k in ("fx", "fy", "cx", "cy"))
            for r in rows(capture / "tables/intrinsics.csv")
        }
        self.exported = [int(r["frame"]) for r in rows(Path(export) / "frames.csv")]
        self.export = json.loads((Path(export) / "export.json").read_text())
        self.offset_ns = 0
        """Added to the times of pictures: what was measured, in exports that say so."""
        if "timeOffset" in self.export:
            measured = json.loads((capture / "capture.json").read_text())["timeOffset"]
            self.offset_ns = measured["offsetNs"]
            if self.export["timeOffset"]["offsetNs"] != self.offset_ns:
                raise Problem("export.json and capture.json have other time offsets")

    def time_ns(self, frame):
        r = self.frames[frame]
        text = r["color_timestamp_ns"] or r["timestamp_ns"]
        return int(text) + self.offset_ns if text else None

    def depth_time_ns(self, frame):
        text = self.frames[frame]["depth_timestamp_ns"]
        return int(text) + self.offset_ns if text else self.time_ns(frame)

    def color(self, frame):
        path = self.capture / self.frames[frame]["color"]
        picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB) if picture.ndim == 3 else picture

    def depths(self, frame):
        """What the capture has of this frame: native, aligned."""
        for column in ("depth", "aligned"):
            if self.frames[frame][column]:
                path = self.capture / self.frames[frame][column]
                yield cv2.imread(str(path), cv2.IMREAD_UNCHANGED).astype(np.float64)

    def median_camera(self, frames):
        return tuple(np.median(np.array([self.cameras[f] for f in frames if f in self.cameras]), axis=0))

    def imu(self):
        return rows(self.capture / "imu/imu.csv")


class Room:
    """Six walls."""

    def __init__(self, truth):
        document = json.loads((Path(truth) / "truth.json").read_text())
        self.low = np.array(document["room"]["low"])
        self.high = np.array(document["room"]["high"])
        self.is_empty = document["room"]["isEmpty"]
        self.poses = {
            int(r["frame"]): matrix(
                [float(r[k]) for k in ("tx", "ty", "tz")],
                [float(r[k]) for k in ("qx", "qy", "qz", "qw")],
            )
            for r in rows(Path(truth) / "color_poses.csv")
        }
        self.depth_poses = {
            int(r["frame"]): matrix(
                [float(r[k]) for k in ("tx", "ty", "tz")],
                [float(r[k]) for k in ("qx", "qy", "qz", "qw")],
            )
            for r in rows(Path(truth) / "depth_poses.csv")
        }

    def distance(self, points):
        """From the nearest wall, meters."""
        return np.minimum(abs(points - self.low), abs(points - self.high)).min(axis=1)


def unproject(depth, camera):
    """Points in camera axes, and where they come from (v, u)."""
    fx, fy, cx, cy = camera
    v, u = np.nonzero(depth > 0)
    z = depth[v, u].astype(np.float64)
    return np.stack([(u - cx) / fx * z, (v - cy) / fy * z, z], axis=1), v, u


def to_world(pose, points):
    return points @ pose[:3, :3].T + pose[:3, 3]


def check(reading, tables, room, checker):
    """All comparisons that apply to what a reading holds."""
    frames = reading.frames
    if frames:
        checker.that(
            len(frames) == len(tables.exported),
            f"{len(frames)} frames were read, frames.csv lists {len(tables.exported)}",
        )
        total = tables.export["frames"] + sum(tables.export["leftOut"].values())
        checker.that(
            total == len(tables.frames),
            f"export.json accounts for {total} frames of {len(tables.frames)}",
        )
    median = None
    if reading.has_one_camera and frames:
        median = tables.median_camera(tables.exported)
    for number, (frame, index) in enumerate(zip(frames, tables.exported)):
        compare_frame(number, frame, index, reading, tables, median, checker)
    if frames and room is not None and room.is_empty:
        check_walls(reading, room, checker)
        check_neighbors(reading, checker)
    if reading.imu is not None:
        check_imu(reading, tables, room, checker)
    if reading.points is not None and room is not None and room.is_empty and len(reading.points):
        distance = np.median(room.distance(reading.points))
        checker.that(distance < 0.05, f"points are {distance:.3f} m off the walls")


def compare_frame(number, frame, index, reading, tables, median, checker):
    where = f"frame {index} (number {number})"
    if frame.frame is not None:
        checker.that(frame.frame == index, f"{where}: the reader says frame {frame.frame}")
    if frame.time_ns is not None:
        expected = tables.time_ns(index)
        checker.that(frame.time_ns == expected, f"{where}: time {frame.time_ns}, not {expected}")
    if frame.depth_time_ns is not None:
        expected = tables.depth_time_ns(index)
        checker.that(
            frame.depth_time_ns == expected,
            f"{where}: depth time {frame.depth_time_ns}, not {expected}",
        )
    if frame.pose is not None:
        checker.that(index in tables.poses, f"{where}: a pose that the capture does not have")
        off = abs(frame.pose - tables.poses[index]).max()
        checker.that(off <= reading.pose_tolerance, f"{where}: the pose is off by {off}")
        turn = frame.pose[:3, :3]
        off = abs(turn @ turn.T - np.eye(3)).max()
        checker.that(off < 1e-5, f"{where}: the rotation is none, off by {off}")
    if frame.camera is not None:
        expected = median if median is not None else tables.cameras[index]
        off = abs(np.array(frame.camera) - np.array(expected)).max()
        checker.that(off <= reading.camera_tolerance, f"{where}: the camera is off by {off} px")
    if frame.color is not None and number % 4 == 0:
        compare_color(where, frame.color(), tables.color(index), reading, checker)
    if frame.depth is not None and number % 4 == 0:
        off = min(
            abs(frame.depth() * 1000 - expected).max() if frame.depth().shape == expected.shape else 1e9
            for expected in tables.depths(index)
        )
        checker.that(off < 0.51, f"{where}: depth differs by up to {off} mm")


def compare_color(where, picture, expected, reading, checker):
    checker.that(
        picture.shape[:2] == expected.shape[:2],
        f"{where}: the picture has {picture.shape}, not {expected.shape}",
    )
    if picture.ndim == 2:
        wide = expected.astype(np.int64)
        expected = (299 * wide[..., 0] + 587 * wide[..., 1] + 114 * wide[..., 2] + 500) // 1000
    off = abs(picture.astype(np.int64) - expected.astype(np.int64))
    if reading.color_is_exact:
        checker.that(off.max() == 0, f"{where}: pixels differ by up to {off.max()}")
    else:
        checker.that(off.mean() < 4, f"{where}: pixels differ by {off.mean():.1f} on average")


def check_walls(reading, room, checker):
    """Depth, carried into the world as the format says, lies on the walls."""
    errors = []
    for frame in reading.frames[::3]:
        if frame.depth is None or frame.pose is None or frame.camera is None:
            continue
        depth = frame.depth()
        points, _, _ = unproject(depth, frame.depth_camera or frame.camera)
        if not len(points):
            continue
        if reading.color_from_depth is not None:
            points = to_world(reading.color_from_depth, points)
        world = to_world(frame.pose, points)
        errors.append(np.median(room.distance(world) / points[:, 2]))
        inside = ((world > room.low - 0.3) & (world < room.high + 0.3)).all(axis=1).mean()
        checker.that(inside > 0.98, f"only {100 * inside:.0f} % of the points are in the room")
    if errors:
        worst = max(errors)
        checker.that(worst < 0.02, f"points are {100 * worst:.1f} % of their depth off the walls")


def check_neighbors(reading, checker):
    """Depth and colors of one frame agree with those of another that sees the same wall."""
    frames = [f for f in reading.frames if f.depth is not None and f.pose is not None]
    if not frames or frames[0].camera is None:
        return
    step = max(1, len(frames) // 4)
    for a, b in zip(frames[:-step:step], frames[step::step]):
        camera = a.depth_camera or a.camera
        depth_a, depth_b = a.depth(), b.depth()
        points, v, u = unproject(depth_a, camera)
        inverse = np.linalg.inv(b.pose)
        if reading.color_from_depth is not None:
            inverse = np.linalg.inv(reading.color_from_depth) @ inverse
            points = to_world(reading.color_from_depth, points)
        seen = to_world(inverse, to_world(a.pose, points))
        fx, fy, cx, cy = b.depth_camera or b.camera
        front = seen[:, 2] > 0.1
        x = np.full(len(seen), -1)
        y = np.full(len(seen), -1)
        x[front] = np.rint(seen[front, 0] / seen[front, 2] * fx + cx).astype(int)
        y[front] = np.rint(seen[front, 1] / seen[front, 2] * fy + cy).astype(int)
        height, width = depth_b.shape
        common = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        common[common] &= depth_b[y[common], x[common]] > 0
        checker.that(common.mean() > 0.3, f"frames share only {100 * common.mean():.0f} % of depth")
        found = depth_b[y[common], x[common]]
        off = np.median(abs(found - seen[common, 2]) / seen[common, 2])
        checker.that(off < 0.02, f"depth of two frames differs by {100 * off:.1f} %")
        if a.color is None or b.color is None or a.depth_camera not in (None, a.camera):
            continue
        color_a, color_b = a.color().astype(float), b.color().astype(float)
        if color_a.shape[:2] != depth_a.shape:
            continue
        blurred_a, blurred_b = (cv2.blur(c, (9, 9)) for c in (color_a, color_b))
        off = abs(blurred_a[v[common], u[common]] - blurred_b[y[common], x[common]])
        checker.that(np.median(off) < 12, f"colors of one wall differ by {np.median(off):.0f}")


def check_imu(reading, tables, room, checker):
    """Times increase, and gravity is where it belongs once turned into the world."""
    times = reading.imu_times_ns
    if times is not None:
        checker.that(
            all(b > a for a, b in zip(times, times[1:])), "IMU times do not strictly increase"
        )
        checker.that(
            len(times) == tables.export["imu"]["samples"],
            f"{len(times)} IMU samples, export.json says {tables.export['imu']['samples']}",
        )
    size = np.linalg.norm(reading.imu[:, 4:7].mean(axis=0))
    checker.that(8 < size < 12, f"the mean specific force is {size:.1f} m/s²")
    if room is None or reading.imu_from_camera is None:
        return
    # Truth's poses: also for formats and families without poses of their own.
    poses = room.poses
    stamps = np.array([tables.time_ns(f) for f in sorted(poses) if tables.time_ns(f) is not None])
    order = [f for f in sorted(poses) if tables.time_ns(f) is not None]
    forces = []
    for row, time in zip(reading.imu, times):
        nearest = order[int(np.argmin(abs(stamps - time)))]
        if abs(tables.time_ns(nearest) - time) > 50_000_000:
            continue
        turn = poses[nearest][:3, :3] @ reading.imu_from_camera[:3, :3].T
        forces.append(turn @ row[4:7])
    if len(forces) > 10:
        mean = np.mean(forces, axis=0)
        off = abs(mean - [0, 9.80665, 0]).max()
        checker.that(off < 0.8, f"the mean specific force in the world is {mean.round(2)}")
