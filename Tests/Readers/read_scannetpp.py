"""`export-scannetpp` as the toolbox's `iphone/arkit_pcl.py` reads it: members sorted by name, pictures by Pillow,
intrinsics scaled by depth width / color width on both axes."""

import json

import cv2
import numpy as np
from PIL import Image

import rgbd
from room import Frame, Reading

DOCUMENT = "iphone/pose_intrinsic_imu.json"


def _load(folder):
    # Numbers keep their digits: times go through no double.
    return json.loads((folder / DOCUMENT).read_text(), parse_float=str, parse_int=str)


def _nanoseconds(text):
    whole, decimals = text.split(".")
    if len(decimals) != 9:
        raise ValueError(f"a time of {text}")
    return int(whole) * 1_000_000_000 + int(decimals)


def _array(rows, shape):
    m = np.array([[float(x) for x in row] for row in rows])
    if m.shape != shape:
        raise ValueError(f"a matrix of {m.shape}")
    return m


def _image(path):
    with Image.open(path) as picture:
        return np.asarray(picture)


def read(folder):
    data = _load(folder)
    if list(data) != sorted(data):
        raise ValueError("the frames are not in order")
    stems = {p.stem for p in (folder / "iphone/rgb").iterdir()}
    if stems != set(data) or {p.stem for p in (folder / "iphone/depth").iterdir()} != set(data):
        raise ValueError("pictures and frames have other names")
    reading = Reading(color_is_exact=False)
    for name, frame in sorted(data.items()):
        pose = _array(frame["aligned_pose"], (4, 4))
        k = _array(frame["intrinsic"], (3, 3))
        color = folder / f"iphone/rgb/{name}.jpg"
        depth = folder / f"iphone/depth/{name}.png"
        scale = _image(depth).shape[1] / _image(color).shape[1]
        scaled = (k[0, 0] * scale, k[1, 1] * scale, k[0, 2] * scale, k[1, 2] * scale)
        reading.frames.append(
            Frame(
                frame=int(name.removeprefix("frame_")),
                time_ns=_nanoseconds(frame["timestamp"]) if "timestamp" in frame else None,
                pose=pose, camera=(k[0, 0], k[1, 1], k[0, 2], k[1, 2]), depth_camera=scaled,
                color=lambda path=color: _image(path),
                depth=lambda path=depth: _image(path).astype(float) / 1000,
            )
        )
    return reading


SENSORS = {
    "rotate_rate": (("rotationRate", "gyroscope"), 1.0),
    "acceleration": (("userAcceleration",), 9.80665),
    "gravity": (("gravity",), 9.80665),
}


def check_more(reading, folder, tables, room, checker):
    """Inertial samples against imu.csv: the nearest within 50 ms."""
    rgbd.check_own_colors(reading, tables, checker)
    samples = {}
    for r in tables.imu():
        samples.setdefault(r["sensor_type"], []).append(
            (int(r["timestamp_ns"]), [float(r[axis]) for axis in "xyz"])
        )
    for (name, frame), index in zip(sorted(_load(folder).items()), tables.exported):
        checker.that("pose" not in frame, f"{name} has a pose whose axes are not settled")
        checker.that(
            ("timestamp" in frame) == (tables.time_ns(index) is not None), f"{name}: time or none"
        )
        imu = frame.get("imu", {})
        for key, (names, unit) in SENSORS.items():
            known = next((samples[n] for n in names if n in samples), [])
            time = tables.time_ns(index)
            near = None
            if time is not None:
                near = min(known, key=lambda s: abs(s[0] - time), default=None)
            if near is not None and abs(near[0] - time) > 50_000_000:
                near = None
            checker.that((key in imu) == (near is not None), f"{name}: {key} or none")
            if near is not None:
                off = max(abs(float(a) - b / unit) for a, b in zip(imu[key], near[1]))
                checker.that(off < 1e-12, f"{name}: {key} is off by {off}")


def _edit(change):
    def make(folder):
        path = folder / DOCUMENT
        data = _load(folder)
        if change(data) is False:
            return False
        path.unlink()
        # Back to numbers with the digits that they had.
        path.write_text(json.dumps(data).replace('"', "\0"))
        text = path.read_text()
        import re

        text = re.sub("\0(-?[0-9][0-9.e+-]*)\0", r"\1", text).replace("\0", '"')
        path.write_text(text)

    return make


def _poses(change):
    def make(data):
        names = list(data)
        poses = change([_array(data[n]["aligned_pose"], (4, 4)) for n in names])
        for name, pose in zip(names, poses):
            data[name]["aligned_pose"] = [[repr(float(x)) for x in row] for row in pose]

    return _edit(make)


def _intrinsics(change):
    def make(data):
        for frame in data.values():
            k = change(_array(frame["intrinsic"], (3, 3)))
            frame["intrinsic"] = [[repr(float(x)) for x in row] for row in k]

    return _edit(make)


def _half_pixel(k):
    k[:2, 2] += 0.5
    return k


def _times(change):
    def make(data):
        for frame in data.values():
            if "timestamp" not in frame:
                return False
            frame["timestamp"] = change(frame["timestamp"])

    return _edit(make)


def _imu(key, change):
    def make(data):
        found = [f["imu"] for f in data.values() if key in f.get("imu", {})]
        if not found:
            return False
        for imu in found:
            imu[key] = [repr(change(float(x))) for x in imu[key]]

    return _edit(make)


def _shifted(name):
    def make(folder):
        paths = sorted((folder / name).iterdir())
        if len(paths) < 2:
            return False
        contents = [p.read_bytes() for p in paths]
        for path, content in zip(paths, contents[1:] + contents[:1]):
            path.unlink()
            path.write_bytes(content)

    return make


def _bgr(folder):
    for path in (folder / "iphone/rgb").iterdir():
        picture = cv2.imread(str(path))
        path.unlink()
        cv2.imwrite(str(path), picture[..., ::-1])


def _milliseconds(text):
    whole, decimals = text.split(".")
    return whole + decimals[:3] + "." + decimals[3:] + "000"


def _through_a_float(text):
    return f"{np.float32(text):.9f}"


def _renumbered(folder):
    data = _load(folder)
    for kind in ("rgb", "depth"):
        for path in sorted((folder / "iphone" / kind).iterdir(), reverse=True):
            path.rename(path.with_name(f"frame_{int(path.stem[6:]) + 1:06d}{path.suffix}"))
    _edit(
        lambda d: (d.clear(), d.update({f"frame_{int(n[6:]) + 1:06d}": f for n, f in data.items()}))
        and None
    )(folder)


MISTAKES = {
    "inverted pose": _poses(lambda m: [np.linalg.inv(x) for x in m]),
    "OpenGL axes": _poses(lambda m: [x @ np.diag([1, -1, -1, 1]) for x in m]),
    "transposed rotation": _poses(
        lambda m: [np.block([[x[:3, :3].T, x[:3, 3:]], [x[3:, :]]]) for x in m]
    ),
    "column-major pose": _poses(lambda m: [x.T for x in m]),
    "pose shifted by one frame": _poses(lambda m: m[1:] + m[:1]),
    "half a pixel added": _intrinsics(_half_pixel),
    "transposed intrinsics": _intrinsics(lambda k: k.T),
    "intrinsics of the depth picture": _intrinsics(lambda k: np.diag([0.5, 0.5, 1]) @ k),
    "milliseconds": _times(_milliseconds),
    "times through a float": _times(_through_a_float),
    "8-digit nanoseconds": _times(lambda t: t[:-1]),
    "rates in degrees": _imu("rotate_rate", lambda x: x * 57.29577951308232),
    "acceleration in m/s²": _imu("acceleration", lambda x: x * 9.80665),
    "gravity turned around": _imu("gravity", lambda x: -x),
    "depth shifted by one frame": _shifted("iphone/depth"),
    "color shifted by one frame": _shifted("iphone/rgb"),
    "BGR": _bgr,
    "frames numbered from 1": _renumbered,
}
