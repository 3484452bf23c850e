"""`export-sens` through a reader of its own, written after ScanNet's SensorData.py: version 4, zlib depth, JPEG or
PNG color. As that one it ignores what follows the frames; `check_more` looks at the IMU and the length."""

import struct
import zlib

import cv2
import numpy as np

import rgbd
from room import Frame, Reading

COLOR = {1: "png", 2: "jpeg"}
DEPTH = {1: "zlib_ushort"}


class SensorData:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.offset = 0
        if self.take("I") != 4:
            raise ValueError("not version 4")
        self.sensor_name = self.bytes(self.take("Q")).decode("utf-8")
        self.intrinsic_color = self.matrix()
        self.extrinsic_color = self.matrix()
        self.intrinsic_depth = self.matrix()
        self.extrinsic_depth = self.matrix()
        self.color_compression = COLOR[self.take("i")]
        self.depth_compression = DEPTH[self.take("i")]
        self.color_width, self.color_height = self.take("I"), self.take("I")
        self.depth_width, self.depth_height = self.take("I"), self.take("I")
        self.depth_shift = self.take("f")
        self.frames = []
        self.places = []
        for _ in range(self.take("Q")):
            self.places.append(self.offset)
            pose = self.matrix()
            times = (self.take("Q"), self.take("Q"))
            color, depth = self.take("Q"), self.take("Q")
            self.frames.append((pose, times, self.bytes(color), self.bytes(depth)))
        self.imu_place = self.offset
        self.imu = [
            (struct.unpack("<15d", self.bytes(120)), self.take("Q")) for _ in range(self.take("Q"))
        ]

    def take(self, kind):
        return struct.unpack("<" + kind, self.bytes(struct.calcsize("<" + kind)))[0]

    def bytes(self, count):
        piece = self.data[self.offset : self.offset + count]
        if len(piece) != count:
            raise ValueError("the file ends early")
        self.offset += count
        return piece

    def matrix(self):
        return np.frombuffer(self.bytes(64), "<f4").reshape(4, 4).astype(np.float64)

    def color(self, index):
        picture = cv2.imdecode(np.frombuffer(self.frames[index][2], np.uint8), cv2.IMREAD_COLOR)
        if picture.shape[:2] != (self.color_height, self.color_width):
            raise ValueError(f"color of frame {index} has another size than the header says")
        return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)

    def depth(self, index):
        data = zlib.decompress(self.frames[index][3])
        if len(data) != 2 * self.depth_width * self.depth_height:
            raise ValueError(f"depth of frame {index} has {len(data)} bytes")
        values = np.frombuffer(data, "<u2").reshape(self.depth_height, self.depth_width)
        return values.astype(np.float64) / self.depth_shift


def _camera(m):
    return (m[0, 0], m[1, 1], m[0, 2], m[1, 2])


def _file(folder):
    paths = list(folder.glob("*.sens"))
    if len(paths) != 1:
        raise ValueError(f"{len(paths)} .sens files")
    return paths[0]


def read(folder):
    data = SensorData(_file(folder))
    reading = Reading(has_one_camera=True, color_is_exact=data.color_compression == "png")
    # Numbers of the format are 32-bit floats: half a step at ten meters and at 2,000 pixels.
    reading.pose_tolerance = 5e-7
    reading.camera_tolerance = 1e-4
    reading.color_from_depth = data.extrinsic_depth
    for index, (pose, _, _, _) in enumerate(data.frames):
        # What readers of the format test for: -infinity is a lost pose, the identity none computed.
        known = np.isfinite(pose).all() and not (pose == np.eye(4)).all()
        if not known and not np.isneginf(pose).all() and not (pose == np.eye(4)).all():
            raise ValueError(f"frame {index} has a pose that readers take for one")
        reading.frames.append(
            Frame(
                pose=pose if known else None, camera=_camera(data.intrinsic_color),
                color=lambda index=index: data.color(index),
                depth=lambda index=index: data.depth(index),
                depth_camera=_camera(data.intrinsic_depth),
            )
        )
    return reading


def check_more(reading, folder, tables, room, checker):
    """Times, lost poses, the IMU, and that nothing follows."""
    data = SensorData(_file(folder))
    checker.that(data.offset == len(data.data), f"{len(data.data) - data.offset} bytes too many")
    checker.that((data.extrinsic_color == np.eye(4)).all(), "the color extrinsic is not the identity")
    checker.that(data.depth_shift == 1000, f"depth shift {data.depth_shift}")
    for (pose, times, _, _), index in zip(data.frames, tables.exported):
        row = tables.frames[index]
        for time, column in zip(times, ("color_timestamp_ns", "depth_timestamp_ns")):
            expected = 0 if is_stale(row, tables) or not row[column] else int(row[column]) // 1000
            checker.that(time == expected, f"frame {index}: {column} {time} µs, not {expected}")
        if index in tables.poses:
            checker.that(np.isfinite(pose).all(), f"frame {index} has a pose, the file says lost")
            checker.that(
                abs(pose - tables.poses[index]).max() < 5e-6, f"frame {index} has another pose"
            )
        elif tables.poses:
            checker.that(np.isneginf(pose).all(), f"frame {index} has no pose, the file has one")
        else:
            checker.that((pose == np.eye(4)).all() or np.isneginf(pose).all(), "a pose from nowhere")
    rgbd.check_own_colors(reading, tables, checker)
    rgbd.check_depth_camera(reading, tables, room, checker)
    check_imu(data, tables, checker)


def is_stale(row, tables):
    """Times of an earlier scan: the frame has lost its own, or no frame of the capture has one."""
    if row["timestamp_ns"]:
        return False
    return bool(row["depth_timestamp_ns"]) or not any(
        r["timestamp_ns"] for r in tables.frames.values()
    )


FIELDS = {
    "rotationRate": (0, 1.0), "gyroscope": (0, 1.0), "userAcceleration": (3, 9.80665),
    "magnetometer": (6, 1.0), "attitude": (9, 1.0), "gravity": (12, 9.80665),
}


def check_imu(data, tables, checker):
    rows = tables.imu()
    names = {r["sensor_type"] for r in rows}
    rate = "rotationRate" if "rotationRate" in names else "gyroscope"
    frames = {}
    for r in rows:
        if r["sensor_type"] not in FIELDS or (r["sensor_type"] == "gyroscope" and rate != "gyroscope"):
            continue
        place, unit = FIELDS[r["sensor_type"]]
        values, has_rate = frames.setdefault(int(r["timestamp_ns"]), ([0.0] * 15, []))
        values[place : place + 3] = [float(r[axis]) / unit for axis in "xyz"]
        if r["sensor_type"] == rate:
            has_rate.append(True)
    expected = [(values, time // 1000) for time, (values, has) in sorted(frames.items()) if has]
    if len(expected) == 1:
        expected = []
    checker.that(len(data.imu) != 1, "exactly one IMU frame makes a usual reader read past its end")
    checker.that(
        len(data.imu) == len(expected), f"{len(data.imu)} IMU frames, the tables have {len(expected)}"
    )
    for number, ((values, time), (wanted, wanted_time)) in enumerate(zip(data.imu, expected)):
        checker.that(time == wanted_time, f"IMU frame {number}: {time} µs, not {wanted_time}")
        off = abs(np.array(values) - np.array(wanted)).max()
        checker.that(off < 1e-12, f"IMU frame {number} is off by {off}")


def _edit(folder, change):
    """Changes the bytes of the file through a new one: the old may share its blocks."""
    path = _file(folder)
    data = SensorData(path)
    content = bytearray(data.data)
    if change(data, content) is False:
        return False
    path.unlink()
    path.write_bytes(bytes(content))


def _poses(change):
    def make(data, content):
        if all((f[0] == np.eye(4)).all() for f in data.frames):
            return False
        poses = change([f[0] for f in data.frames])
        for place, pose in zip(data.places, poses):
            content[place : place + 64] = pose.astype("<f4").tobytes()

    return lambda folder: _edit(folder, make)


def _finite(turn):
    return lambda poses: [turn(p) if np.isfinite(p).all() else p for p in poses]


def _numbers(offset, kind, change, needs=lambda data: True):
    """Changes the number at `offset` in every frame."""

    def make(data, content):
        if not needs(data):
            return False
        for place in data.places:
            value = struct.unpack_from("<" + kind, content, place + offset)[0]
            struct.pack_into("<" + kind, content, place + offset, change(value))

    return lambda folder: _edit(folder, make)


def _matrix(number, change):
    """Changes a matrix of the header."""

    def make(data, content):
        place = 12 + len(data.sensor_name.encode()) + 64 * number
        before = np.frombuffer(bytes(content[place : place + 64]), "<f4").reshape(4, 4)
        after = change(before.copy())
        if (after == before).all():
            return False
        content[place : place + 64] = after.astype("<f4").tobytes()

    return lambda folder: _edit(folder, make)


def _rebuilt(change):
    """Writes the frames anew, `change` giving (pose, times, color, depth) of each."""

    def make(data, content):
        frames = change(data)
        if frames is False:
            return False
        head = bytes(content[: data.places[0]])
        tail = bytes(content[data.imu_place :])
        content.clear()
        content += head
        for pose, times, color, depth in frames:
            content += pose.astype("<f4").tobytes()
            content += struct.pack("<4Q", *times, len(color), len(depth)) + color + depth
        content += tail

    return lambda folder: _edit(folder, make)


def _bgr(data):
    frames = []
    for index, (pose, times, color, depth) in enumerate(data.frames):
        ending = ".png" if data.color_compression == "png" else ".jpg"
        color = cv2.imencode(ending, data.color(index))[1].tobytes()
        frames.append((pose, times, color, depth))
    return frames


def _depths(change):
    def make(data):
        frames = []
        for pose, times, color, depth in data.frames:
            values = np.frombuffer(zlib.decompress(depth), "<u2")
            values = values.reshape(data.depth_height, data.depth_width)
            frames.append((pose, times, color, zlib.compress(change(values).tobytes())))
        return frames

    return make


def _shifted(position):
    def make(data):
        if len(data.frames) < 2:
            return False
        frames = [list(f) for f in data.frames]
        values = [f[position] for f in frames]
        for frame, value in zip(frames, values[1:] + values[:1]):
            frame[position] = value
        return frames

    return make


def _imu(change):
    def make(data, content):
        if not data.imu:
            return False
        for number in range(len(data.imu)):
            place = data.imu_place + 8 + 128 * number
            values = list(struct.unpack_from("<15dQ", content, place))
            struct.pack_into("<15dQ", content, place, *change(values))

    return lambda folder: _edit(folder, make)


def _cut(count):
    def make(data, content):
        del content[len(content) - count :]

    return lambda folder: _edit(folder, make)


def _scaled(m, factor):
    m[:2, :3] *= factor
    return m


def _half_pixel(m):
    m[:2, 2] += 0.5
    return m


def _translated_back(m):
    m[:3, 3] = -(m[:3, :3].T @ m[:3, 3])
    m[:3, :3] = m[:3, :3].T.copy()
    return m


MISTAKES = {
    "inverted pose": _poses(_finite(np.linalg.inv)),
    "OpenGL axes": _poses(_finite(lambda p: p @ np.diag([1, -1, -1, 1]))),
    "transposed rotation": _poses(
        _finite(lambda p: np.block([[p[:3, :3].T, p[:3, 3:]], [p[3:, :]]]))
    ),
    "column-major pose": _poses(_finite(lambda p: p.T)),
    "pose shifted by one frame": _poses(lambda p: p[1:] + p[:1]),
    "lost poses as NaN": _poses(lambda p: [np.full((4, 4), np.nan) for _ in p]),
    "lost poses as the identity": _poses(lambda p: [np.eye(4) for _ in p]),
    "milliseconds": _numbers(64, "Q", lambda t: t // 1000, lambda d: any(f[1][0] for f in d.frames)),
    "nanoseconds": _numbers(72, "Q", lambda t: t * 1000, lambda d: any(f[1][1] for f in d.frames)),
    "half a pixel added": _matrix(0, _half_pixel),
    "depth intrinsics of another size": _matrix(2, lambda m: _scaled(m, 2)),
    "color intrinsics transposed": _matrix(0, lambda m: m.T),
    "depth extrinsic inverted": _matrix(3, _translated_back),
    "BGR": _rebuilt(_bgr),
    "depth in big-endian": _rebuilt(_depths(lambda v: v.astype(">u2"))),
    "depth in tenths of millimeters": _rebuilt(_depths(lambda v: (v * 10).astype("<u2"))),
    "depth upside down": _rebuilt(_depths(lambda v: np.ascontiguousarray(v[::-1]))),
    "depth cut by a row": _rebuilt(_depths(lambda v: v[:-1])),
    "depth without the zlib header": _rebuilt(
        lambda d: [(p, t, c, z[2:-4]) for p, t, c, z in d.frames]
    ),
    "depth shifted by one frame": _rebuilt(_shifted(3)),
    "color shifted by one frame": _rebuilt(_shifted(2)),
    "a frame dropped": _rebuilt(lambda d: False if len(d.frames) < 2 else d.frames[:-1]),
    "IMU time first": _imu(lambda v: v[15:16] * 0 + [float(v[15])] + v[:14] + [0]),
    "IMU acceleration in m/s²": _imu(lambda v: v[:3] + [x * 9.80665 for x in v[3:6]] + v[6:]),
    "IMU gravity turned around": _imu(lambda v: v[:12] + [-x for x in v[12:15]] + v[15:]),
    "IMU count missing": lambda folder: _edit(
        folder, lambda d, c: c.__delitem__(slice(d.imu_place, d.imu_place + 8))
    ),
    "cut by one byte": _cut(1),
}
