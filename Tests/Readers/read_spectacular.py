"""`export-spectacular`: lines of JSON, and the video through OpenCV."""

import json
from decimal import Decimal

import cv2
import numpy as np
import yaml

from room import Frame, Reading, matrix

# Of phones, as the specification says: the stored picture's camera to the IMU, and one clockwise quarter turn.
STORED = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -1.0]])
QUARTER_TURN = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]])


def _lines(folder):
    with open(folder / "data.jsonl", newline="") as file:
        return [json.loads(line, parse_float=Decimal) for line in file]


def _video(folder):
    files = [p for p in folder.iterdir() if p.name in ("data.mp4", "data.mkv")]
    if len(files) != 1:
        raise ValueError(f"videos: {files}")
    capture = cv2.VideoCapture(str(files[0]))
    pictures = []
    while True:
        found, picture = capture.read()
        if not found:
            return files[0], pictures
        pictures.append(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))


def read(folder):
    export = json.loads((folder / "export.json").read_text())
    shift = export["timeShift"]

    def nanoseconds(seconds):
        value = Decimal(seconds) * 1_000_000_000
        if value != int(value):
            raise ValueError(f"{seconds} s is not a whole number of nanoseconds")
        return int(value) + shift

    lines = _lines(folder)
    file, pictures = _video(folder)
    camera = json.loads((folder / "calibration.json").read_text())["cameras"][0]
    intrinsics = None
    if "focalLengthX" in camera:
        intrinsics = tuple(
            camera[k] for k in ("focalLengthX", "focalLengthY", "principalPointX", "principalPointY")
        )
    reading = Reading(color_is_exact=export["video"] == "data.mkv", has_one_camera=intrinsics is not None)
    poses = {}
    for line in lines:
        if "groundTruth" in line:
            truth = line["groundTruth"]
            poses[nanoseconds(line["time"])] = matrix(
                [float(truth["position"][c]) for c in "xyz"],
                [float(truth["orientation"][c]) for c in "xyzw"],
            )
    reading.samples = {"gyroscope": [], "accelerometer": []}
    for line in lines:
        if "sensor" in line:
            values = [float(v) for v in line["sensor"]["values"]]
            reading.samples[line["sensor"]["type"]].append((nanoseconds(line["time"]), values))
        elif "frames" in line:
            number, time = line["number"], nanoseconds(line["time"])
            if nanoseconds(line["frames"][0]["time"]) != time or line["frames"][0]["cameraInd"] != 0:
                raise ValueError(f"picture {number}: two times")
            reading.frames.append(
                Frame(
                    time_ns=time, pose=poses.get(time), camera=intrinsics,
                    color=lambda n=number: pictures[n],
                )
            )
    if len(pictures) != len(reading.frames):
        raise ValueError(f"{len(pictures)} pictures in the video, {len(reading.frames)} lines")
    reading.lines = lines
    reading.camera = camera
    reading.pictures = pictures
    return reading


def check_more(reading, folder, tables, room, checker):
    times = [Decimal(line["time"]) for line in reading.lines]
    checker.that(min(times) == 0, "the smallest time is not 0")
    checker.that(
        all((b, _rank(y)) >= (a, _rank(x)) for a, b, x, y in zip(
            times, times[1:], reading.lines, reading.lines[1:])),
        "lines are not in the order of time, sensors first",
    )
    numbers = [line["number"] for line in reading.lines if "number" in line]
    checker.that(numbers == list(range(len(numbers))), "pictures are not numbered from 0")
    poses = [f for f in tables.exported if f in tables.poses]
    checker.that(
        sum("groundTruth" in line for line in reading.lines) == len(poses), "poses are missing"
    )
    if poses:
        checker.that(all(f.pose is not None for f, i in zip(reading.frames, tables.exported)
                         if i in tables.poses), "a pose is not at its picture's time")
    settings = yaml.safe_load((folder / "vio_config.yaml").read_text())
    checker.that(settings == {"useStereo": False}, f"vio_config.yaml: {settings}")
    shape = reading.pictures[0].shape
    camera = reading.camera
    checker.that(
        (camera["imageHeight"], camera["imageWidth"]) == shape[:2], "the size of the pictures"
    )
    terms = {"pinhole": None, "brown-conrady": 8}[camera["model"]]
    checker.that(
        (len(camera["distortionCoefficients"]) if "distortionCoefficients" in camera else None)
        == terms, "distortion coefficients",
    )
    capture = json.loads((tables.capture / "capture.json").read_text())
    turns = capture["streams"]["color"].get("clockwiseQuarterTurns") or 0
    expected = np.eye(4)
    expected[:3, :3] = np.linalg.inv(STORED @ np.linalg.matrix_power(QUARTER_TURN, turns))
    off = abs(np.array(camera["imuToCamera"]) - expected).max()
    checker.that(off == 0, f"imuToCamera is off by {off}")
    check_samples(reading, tables, capture, checker)
    check_force(reading, tables, room, checker)
    check_order(reading, tables, checker)


def _rank(line):
    return 0 if "sensor" in line else 1


def check_samples(reading, tables, capture, checker):
    """All samples of the table, each by itself, acceleration as specific force."""
    recorded = {}
    for row in tables.imu():
        recorded.setdefault(row["sensor_type"], {})[int(row["timestamp_ns"])] = np.array(
            [float(row[c]) for c in "xyz"]
        )
    sign = {"coremotion": -1, "android": 1}[capture["streams"]["imu"]["convention"]]
    angular = recorded.get("gyroscope", recorded.get("rotationRate"))
    force = recorded.get("accelerometer")
    if force is None:
        user, gravity = recorded["userAcceleration"], recorded["gravity"]
        force = {time: user[time] + gravity[time] for time in user if time in gravity}
    expected = {"gyroscope": angular, "accelerometer": {t: sign * v for t, v in force.items()}}
    for kind, samples in reading.samples.items():
        checker.that(
            [t for t, _ in samples] == sorted(expected[kind]), f"{kind}: other samples than recorded"
        )
        for time, values in samples:
            checker.that(np.array_equal(values, expected[kind][time]), f"{kind} at {time}")
    total = sum(len(s) for s in reading.samples.values())
    checker.that(total == tables.export["imu"]["samples"], f"{total} samples")


def check_force(reading, tables, room, checker):
    """Specific force, turned into the world by the format's own map, points up."""
    if room is None:
        return
    turn = np.linalg.inv(np.array(reading.camera["imuToCamera"]))[:3, :3]
    order = [f for f in sorted(room.poses) if tables.time_ns(f) is not None]
    stamps = np.array([tables.time_ns(f) for f in order])
    forces = []
    for time, values in reading.samples["accelerometer"]:
        nearest = order[int(np.argmin(abs(stamps - time)))]
        if abs(tables.time_ns(nearest) - time) <= 50_000_000:
            forces.append(room.poses[nearest][:3, :3] @ turn.T @ values)
    if len(forces) >= 5:
        mean = np.mean(forces, axis=0)
        checker.that(abs(mean - [0, 9.80665, 0]).max() < 1.2, f"force in the world is {mean.round(2)}")


def check_order(reading, tables, checker):
    """Picture n of the video looks like exported frame n, and less like any other."""
    small = lambda picture: cv2.resize(picture, (160, 120), interpolation=cv2.INTER_AREA).astype(int)
    colors = [small(tables.color(f)) for f in tables.exported]
    for number, picture in enumerate(reading.pictures):
        seen = small(picture)
        off = [abs(seen - other).mean() for other in colors]
        checker.that(
            off[number] <= min(off) + 0.02,
            f"picture {number} of the video looks like frame {int(np.argmin(off))}",
        )


def _lines_changed(change):
    """`change(line) -> line` on every line; True when any differs."""

    def make(folder):
        path = folder / "data.jsonl"
        lines = [json.loads(line, parse_float=Decimal) for line in path.read_text().splitlines()]
        before = [json.dumps(line, default=str) for line in lines]
        after = [change(line) for line in lines]
        text = "".join(json.dumps(_plain(line)) + "\n" for line in after)
        path.write_text(text)
        return before != [json.dumps(line, default=str) for line in after]

    return make


class _Digits(float):
    """Writes a decimal number as it is."""

    def __new__(cls, value):
        self = super().__new__(cls, value)
        self.text = str(value)
        return self

    def __repr__(self):
        return self.text


def _plain(value):
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return _Digits(format(value, "f")) if isinstance(value, Decimal) else value


def _pose(change):
    def make(line):
        if "groundTruth" not in line:
            return line
        from scipy.spatial.transform import Rotation

        truth = line["groundTruth"]
        m = change(
            matrix(
                [float(truth["position"][c]) for c in "xyz"],
                [float(truth["orientation"][c]) for c in "xyzw"],
            )
        )
        q = Rotation.from_matrix(m[:3, :3]).as_quat()
        return {
            "groundTruth": {
                "position": dict(zip("xyz", map(float, m[:3, 3]))),
                "orientation": dict(zip("xyzw", map(float, q))),
            },
            "time": line["time"],
        }

    return _lines_changed(make)


def _w_first(line):
    if "groundTruth" not in line:
        return line
    q = line["groundTruth"]["orientation"]
    turned = {"w": q["x"], "x": q["y"], "y": q["z"], "z": q["w"]}
    return {**line, "groundTruth": {**line["groundTruth"], "orientation": turned}}


def _sensor(kind, change):
    def make(line):
        if line.get("sensor", {}).get("type") != kind:
            return line
        return {**line, "sensor": {"type": kind, "values": change(line["sensor"]["values"])}}

    return _lines_changed(make)


def _time(change):
    def make(line):
        line = {**line, "time": change(line["time"])}
        if "frames" in line:
            line["frames"] = [{"cameraInd": 0, "time": line["time"]}]
        return line

    return _lines_changed(make)


def _calibration(change):
    def make(folder):
        path = folder / "calibration.json"
        document = json.loads(path.read_text())
        before = json.dumps(document)
        change(document["cameras"][0])
        path.write_text(json.dumps(document))
        return before != json.dumps(document)

    return make


def _half_pixel(camera):
    for key in ("principalPointX", "principalPointY"):
        if key in camera:
            camera[key] += 0.5


def _other_axes(camera):
    camera["imuToCamera"] = (np.diag([1, -1, -1, 1]) @ np.array(camera["imuToCamera"])).tolist()


def _re_encoded(change):
    """The video anew, without loss, after `change` of the list of pictures."""

    def make(folder):
        file, pictures = _video(folder)
        file.unlink()
        height, width = pictures[0].shape[:2]
        writer = cv2.VideoWriter(
            str(folder / "data.mkv"), cv2.VideoWriter_fourcc(*"FFV1"), 30, (width, height)
        )
        for picture in change(pictures):
            writer.write(np.ascontiguousarray(cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)))
        writer.release()

    return make


def _frames_first(folder):
    path = folder / "data.jsonl"
    lines = path.read_text().splitlines()
    times = [json.loads(line)["time"] for line in lines]
    order = sorted(range(len(lines)), key=lambda i: (times[i], "sensor" in lines[i]))
    path.write_text("".join(lines[i] + "\n" for i in order))
    return order != list(range(len(lines)))


MISTAKES = {
    "inverted pose": _pose(np.linalg.inv),
    "OpenGL axes": _pose(lambda m: m @ np.diag([1, -1, -1, 1.0])),
    "transposed rotation": _pose(
        lambda m: np.block([[m[:3, :3].T, m[:3, 3:]], [m[3:, :]]])
    ),
    "w first": _lines_changed(_w_first),
    "half pixel": _calibration(_half_pixel),
    "IMU with OpenGL's camera axes": _calibration(_other_axes),
    "acceleration upside down": _sensor("accelerometer", lambda v: [-x for x in v]),
    "acceleration in g": _sensor("accelerometer", lambda v: [x / Decimal("9.80665") for x in v]),
    "angular velocity in degrees": _sensor("gyroscope", lambda v: [x * Decimal(57.29578) for x in v]),
    "milliseconds": _time(lambda t: t * 1000),
    "float seconds": _time(lambda t: Decimal(repr(float(np.float32(float(t)))))),
    "microseconds only": _time(lambda t: round(Decimal(t), 6)),
    "pictures numbered from 1": _lines_changed(
        lambda line: {**line, "number": line["number"] + 1} if "number" in line else line
    ),
    "pictures before sensors": _frames_first,
    "video shifted by one picture": _re_encoded(lambda p: p[1:] + p[:1]),
    "video in decoding order": _re_encoded(
        lambda p: [q for i in range(0, len(p), 2) for q in p[i : i + 2][::-1]]
    ),
    "a picture too few": _re_encoded(lambda p: p[:-1]),
    "BGR": _re_encoded(lambda p: [q[..., ::-1] for q in p]),
}
