"""`export-euroc`: the trajectory through evo, the rest by the rules of ORB-SLAM3's EuRoC example."""

import cv2
import numpy as np
import yaml
from evo.tools import file_interface

import changes
import inertial
from room import Frame, Problem, Reading, matrix

TRUTH = "mav0/state_groundtruth_estimate0/data.csv"
IMU = "mav0/imu0/data.csv"


def _imu(folder):
    """As ORB-SLAM3's LoadIMU: the last cell of a line is a_z, whatever its place."""
    times, rows = [], []
    for line in (folder / IMU).read_bytes().decode().split("\n"):
        if not line or line.startswith("#"):
            continue
        items = line.split(",")
        data = [0.0] * 7
        for count, item in enumerate(items[:-1]):
            data[min(count, 6)] = float(item)
        data[6] = float(items[-1])
        times.append(int(items[0]))
        rows.append(data)
    return times, np.array(rows)


def read(folder):
    sensor = yaml.safe_load((folder / "mav0/cam0/sensor.yaml").read_text())
    body_from_camera = np.array(sensor["T_BS"]["data"], dtype=float).reshape(4, 4)
    identity = yaml.safe_load((folder / "mav0/imu0/sensor.yaml").read_text())["T_BS"]["data"]
    if identity != np.eye(4).ravel().tolist():
        raise Problem("T_BS of the IMU is no identity")
    poses = {}
    if (folder / TRUTH).exists():
        trajectory = file_interface.read_euroc_csv_trajectory(str(folder / TRUTH))
        stamps = [
            int(line.split(",")[0]) for line in (folder / TRUTH).read_text().splitlines()[1:]
        ]
        if np.abs(np.array(stamps) / 1e9 - trajectory.timestamps).max() > 1e-6:
            raise Problem("times of the ground truth")
        for time, position, q in zip(
            stamps, trajectory.positions_xyz, trajectory.orientations_quat_wxyz
        ):
            # Body to world; the camera's pose is that times T_BS.
            poses[time] = matrix(position, [q[1], q[2], q[3], q[0]]) @ body_from_camera
    camera = None
    if "intrinsics" in sensor:
        if sensor["camera_model"] != "pinhole" or len(sensor["distortion_coefficients"]) != 4:
            raise Problem("camera model")
        camera = tuple(sensor["intrinsics"])
    reading = Reading(has_one_camera=camera is not None)
    for line in (folder / "times.txt").read_bytes().decode().split("\n"):
        if not line:
            continue
        path = folder / "mav0/cam0/data" / (line + ".png")
        if not path.exists():
            raise Problem(f"no picture {path.name!r} for a line of times.txt")

        def color(path=path):
            return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)

        time = int(line)
        reading.frames.append(
            Frame(time_ns=time, pose=poses.pop(time, None), camera=camera, color=color)
        )
    if poses:
        raise Problem(f"{len(poses)} rows of the ground truth belong to no picture")
    reading.imu_times_ns, reading.imu = _imu(folder)
    reading.imu_from_camera = body_from_camera
    return reading


def check_more(reading, folder, tables, room, checker):
    times = [f.time_ns for f in reading.frames]
    listed = (folder / "mav0/cam0/data.csv").read_text().splitlines()
    checker.that(listed[0] == "#timestamp [ns],filename", "header of cam0/data.csv")
    checker.that(listed[1:] == [f"{t},{t}.png" for t in times], "rows of cam0/data.csv")
    checker.that(
        len(list((folder / "mav0/cam0/data").iterdir())) == len(times), "pictures that nothing lists"
    )
    lines = (folder / IMU).read_text().splitlines()
    checker.that(
        lines[0]
        == "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
        "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]",
        "header of imu0/data.csv",
    )
    checker.that(all(line.count(",") == 6 for line in lines), "imu0/data.csv has not 7 columns")
    inertial.check_rows(reading, tables, checker)
    inertial.check_coverage(times, reading, checker)
    size = reading.frames[0].color().shape[:2]
    sensor = yaml.safe_load((folder / "mav0/cam0/sensor.yaml").read_text())
    checker.that(sensor["resolution"] == [size[1], size[0]], "resolution")
    turn = sensor["T_BS"]
    checker.that((turn["cols"], turn["rows"]) == (4, 4), "T_BS")
    rotation = np.array(turn["data"], dtype=float).reshape(4, 4)[:3, :3]
    checker.that((rotation == inertial.imu_from_camera(tables)).all(), "rotation of T_BS")
    with_poses = sum(f.pose is not None for f in reading.frames)
    expected = sum(f in tables.poses for f in tables.exported)
    checker.that(with_poses == expected, f"{with_poses} poses, not {expected}")


def _poses(change):
    def make(folder):
        def row(parts):
            q = [float(x) for x in parts[4:8]]
            m = change(matrix([float(x) for x in parts[1:4]], [q[1], q[2], q[3], q[0]]))
            from scipy.spatial.transform import Rotation

            x, y, z, w = Rotation.from_matrix(m[:3, :3]).as_quat()
            return [parts[0], *(repr(float(v)) for v in [*m[:3, 3], w, x, y, z]), *parts[8:]]

        return changes.cells(folder / TRUTH, row)

    return make


_BODY_FROM_CAMERA = np.array([[0, -1, 0, 0], [-1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1.0]])


def _imu_rows(change):
    return lambda folder: changes.cells(folder / IMU, change)


def _without_gravity(folder):
    times, rows = _imu(folder)
    mean = rows[:, 4:7].mean(axis=0)
    return changes.cells(
        folder / IMU,
        lambda p: p[:4] + [repr(float(float(x) - m)) for x, m in zip(p[4:7], mean)],
    )


def _one_axis(folder):
    _, rows = _imu(folder)
    axis = 4 + int(np.argmax(abs(rows[:, 4:7].mean(axis=0))))
    return changes.cells(folder / IMU, lambda p: changes.scaled(p, (axis,), -1))


def _cr(folder):
    path = folder / "times.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _seconds(folder):
    changes.lines(folder / "times.txt", lambda lines: [repr(int(x) / 1e9) for x in lines])


def _milliseconds(folder):
    changes.cells(folder / IMU, lambda p: [str(int(p[0]) // 1_000_000)] + p[1:])


def _color_order(folder):
    """Gray of BGR pictures: weights of red and blue exchanged."""
    for path in (folder / "mav0/cam0/data").iterdir():
        picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED).astype(float)
        path.unlink()
        cv2.imwrite(str(path), np.clip(picture * 0.9 + 5, 0, 255).astype(np.uint8))


MISTAKES = {
    "inverted pose": _poses(np.linalg.inv),
    "camera pose instead of body pose": _poses(lambda m: m @ _BODY_FROM_CAMERA),
    "OpenGL axes": _poses(lambda m: m @ np.diag([1, -1, -1, 1])),
    "quaternion x y z w": lambda f: changes.cells(
        f / TRUTH, lambda p: p[:4] + p[5:8] + p[4:5] + p[8:]
    ),
    "poses shifted by one frame": lambda f: changes.lines(
        f / TRUTH,
        lambda lines: lines[:1]
        + [a.split(",")[0] + b[b.index(",") :] for a, b in zip(lines[1:], lines[2:] + lines[1:2])],
    ),
    "poses in millimeters": lambda f: changes.cells(
        f / TRUTH, lambda p: changes.scaled(p, (1, 2, 3), 1000)
    ),
    "ground truth of 7 columns less": lambda f: changes.cells(f / TRUTH, lambda p: p[:6]),
    "T_BS is identity": lambda f: changes.lines(
        f / "mav0/cam0/sensor.yaml",
        lambda lines: [
            "  data: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]" if "data:" in line else line
            for line in lines
        ],
    ),
    "half a pixel": lambda f: changes.lines(
        f / "mav0/cam0/sensor.yaml",
        lambda lines: [
            "intrinsics: " + str([v + (0.5 if i > 1 else 0) for i, v in enumerate(yaml.safe_load(line)["intrinsics"])])
            if line.startswith("intrinsics")
            else line
            for line in lines
        ],
    )
    if "intrinsics" in (f / "mav0/cam0/sensor.yaml").read_text()
    else False,
    "IMU times in milliseconds": _milliseconds,
    "IMU times of 8 digits below the second": _imu_rows(lambda p: [p[0][:-1]] + p[1:]),
    "float seconds in times.txt": _seconds,
    "times.txt with CR": _cr,
    "eighth IMU column": _imu_rows(lambda p: p + ["25.0"]),
    "IMU header without #": lambda f: changes.lines(
        f / IMU, lambda lines: [lines[0][1:]] + lines[1:]
    ),
    "accelerometer before gyroscope": _imu_rows(lambda p: p[:1] + p[4:7] + p[1:4]),
    "sign of acceleration": _imu_rows(lambda p: changes.scaled(p, (4, 5, 6), -1)),
    "sign of the strongest axis of acceleration": _one_axis,
    "acceleration in g": _imu_rows(lambda p: changes.scaled(p, (4, 5, 6), 1 / 9.80665)),
    "angular velocity in degrees": _imu_rows(lambda p: changes.scaled(p, (1, 2, 3), 57.29578)),
    "gravity missing": _without_gravity,
    "IMU ends before the pictures": lambda f: changes.lines(
        f / IMU, lambda lines: lines[: 1 + len(lines) // 2]
    ),
    "pictures shifted by one frame": lambda f: changes.shifted((f / "mav0/cam0/data").iterdir()),
    "other gray": _color_order,
    "a picture that nothing lists": lambda f: (f / "mav0/cam0/data/1.png").write_bytes(b"") and None,
}
