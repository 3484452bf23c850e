"""A data set of `scanmill pack --to hdf5`, opened by h5py and compared with what was published; then deliberate
mistakes in copies of a file, each of which must be noticed.

    packed_hdf5.py DATASET OUTPUT"""

import csv
import json
import shutil
import sys
import tempfile
from pathlib import Path

import cv2
import h5py
import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation

PICTURES = ("color", "depth", "confidence", "aligned", "mask")


def table(path):
    return {int(r["frame"]): r for r in csv.DictReader(open(path))} if path.exists() else {}


def check_capture(group, output):
    capture = output / group.attrs["capture"]
    frames = table(capture / "tables/frames.csv")
    poses = table(capture / "tables/poses.csv")
    cameras = table(capture / "tables/intrinsics.csv")
    assert group.name == "/" + group.attrs["capture"]
    for i, frame in enumerate(group["frame"][:]):
        row = frames[frame]
        assert group["timestamp_ns"][i] == int(row["timestamp_ns"] or np.iinfo(np.int64).min), "time"
        assert json.loads(group["json"].asstr()[i])["frame"] == frame, "json"
        for name in PICTURES:
            if name == "mask":
                path = capture / f"masks/{frame:06}.png"
                row[name] = str(path.relative_to(capture)) if path.exists() else ""
            has = name in group and group[f"has_{name}"][i] == 1
            assert has == bool(row[name]), f"{name} of frame {frame}"
            if not has:
                continue
            if name == "color":
                assert group[name][i].tobytes() == (capture / row[name]).read_bytes(), "color"
                assert cv2.imdecode(group[name][i], cv2.IMREAD_UNCHANGED) is not None
            else:
                published = np.asarray(Image.open(capture / row[name]))
                own = group[name][i]
                assert own.dtype == published.dtype and (own == published).all(), name
        pose = np.full((4, 4), np.nan)
        if frame in poses:
            p = {k: float(v) for k, v in poses[frame].items() if k != "timestamp_ns"}
            pose = np.eye(4)
            pose[:3, :3] = Rotation.from_quat([p["qx"], p["qy"], p["qz"], p["qw"]]).as_matrix()
            pose[:3, 3] = p["tx"], p["ty"], p["tz"]
        assert np.allclose(group["poses"][i], pose, rtol=0, atol=1e-9, equal_nan=True), "pose"
        camera = np.full((3, 3), np.nan)
        if frame in cameras:
            k = {key: float(value) for key, value in cameras[frame].items() if value}
            camera = [[k["fx"], 0, k["cx"]], [0, k["fy"], k["cy"]], [0, 0, 1]]
        assert np.allclose(group["intrinsics"][i], camera, rtol=1e-12, equal_nan=True), "intrinsics"
    for name in ("depth", "aligned"):
        if name in group:
            found = group[name]
            assert found.dtype == np.uint16 and found.compression == "gzip" and found.shuffle, name
            assert found.chunks == (1, *found.shape[1:]), name
            assert found.attrs["units"] == "mm"
    assert group["poses"].attrs["units"] == "m" and group["intrinsics"].attrs["units"] == "px"
    samples = {}
    if (capture / "imu/imu.csv").exists():
        for row in csv.DictReader(open(capture / "imu/imu.csv")):
            samples.setdefault(row["sensor_type"], []).append(row)
        stated = json.loads((capture / "capture.json").read_text())["streams"]["imu"].get("convention")
        assert group["imu"].attrs.get("convention") == stated
    assert set(group.get("imu", {})) == set(samples), "sensors"
    for name, rows in samples.items():
        sensor = group["imu"][name]
        assert [int(r["timestamp_ns"]) for r in rows] == sensor["timestamp_ns"][:].tolist(), name
        assert [[float(r[a]) for a in "xyz"] for r in rows] == sensor["values"][:].tolist(), name
    return len(group["frame"])


def check(dataset, output):
    index = json.loads((dataset / "index.json").read_text())
    count = 0
    for shard in index["shardlist"]:
        with h5py.File(dataset / shard["url"]) as file:
            held = sum(check_capture(group, output) for group in file.values())
        assert held == shard["nsamples"], shard["url"]
        count += held
    assert {p.name for p in dataset.glob("*.h5")} == {s["url"] for s in index["shardlist"]}
    return count


def change(name, edit):
    def make(group):
        group[name][...] = edit(group[name][...])

    return make


def swapped(values):
    values[[0, -1]] = values[[-1, 0]]
    return values


def first_sensor(group):
    name = sorted(group["imu"])[0]
    group["imu"][name]["values"][0, 0] += 0.001


def without_rows(group):
    frames = group["frame"][:-1]
    del group["frame"]
    group["frame"] = frames


MISTAKES = {
    "depth a millimeter off": change("depth", lambda d: d + 1),
    "depth of another frame": change("depth", swapped),
    "color of another frame": change("color", swapped),
    "poses inverted": change("poses", np.linalg.inv),
    "poses transposed": change("poses", lambda p: p.transpose(0, 2, 1)),
    "principal point from the corner": change("intrinsics", lambda k: k + [[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]]),
    "times in microseconds": change("timestamp_ns", lambda t: t // 1000),
    "a picture said to be missing": change("has_color", lambda h: h * 0),
    "a sample of the IMU changed": first_sensor,
    "a row missing": without_rows,
}


def whole(group):
    """Whether every mistake can be made of it."""
    return all(n in group for n in ("color", "depth", "imu")) and not np.isnan(group["poses"]).any()


def main(dataset, output):
    count = check(dataset, output)
    for path in sorted(dataset.glob("*.h5")):
        with h5py.File(path) as file:
            names = [name for name, group in file.items() if len(group["frame"]) > 1 and whole(group)]
        if names:
            break
    else:
        sys.exit("no capture with color, depth, poses and samples of motion sensors")
    for mistake, make in MISTAKES.items():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "set"
            shutil.copytree(dataset, copy)
            with h5py.File(copy / path.name, "r+") as file:
                make(file[names[0]])
            try:
                check(copy, output)
            except AssertionError:
                continue
        sys.exit(f"not noticed: {mistake}")
    print(f"{len(MISTAKES)} mistakes noticed")
    print(f"{count} samples")


main(Path(sys.argv[1]), Path(sys.argv[2]))
