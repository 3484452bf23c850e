#!/usr/bin/env python3
"""What programs of others made in the shipped pipelines, against the truth. Status 1: it is not that.

handoff.py mesh FOLDER TRUTH          the walls of the synthetic room, and the floor at z = 0
handoff.py video FILE CAPTURE         pictures and times of the preview video, against color/, aligned/ and tables/
handoff.py paste-face MOVIE           puts a face (public domain, of scikit-image) into a video, at the same times
handoff.py faces BLURRED MASKS COLOR  the face is found in every picture and gone from it, and the rest untouched
handoff.py parquet SET OUTPUT         all cells of all tables, with their types
handoff.py lerobot SET OUTPUT         a LeRobot data set as its documentation describes it, against the tables
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np

FACE = (40, 60, 160)  # left and top at first, and side


def check(holds, text):
    if not holds:
        sys.exit(f"wrong: {text}")


def pictures(movie):
    reader = cv2.VideoCapture(str(movie))
    while True:
        ok, picture = reader.read()
        if not ok:
            return
        yield picture, reader.get(cv2.CAP_PROP_POS_MSEC)


def table(file):
    return {int(row["frame"]): row for row in csv.DictReader(open(file))}


def mesh(folder, truth):
    from plyfile import PlyData

    data = PlyData.read(f"{folder}/mesh.ply")
    points = np.stack([data["vertex"][axis] for axis in "xyz"], 1).astype(float)
    room = json.loads(Path(truth, "truth.json").read_text())["room"]
    meshed = np.loadtxt(f"{folder}/mesh_from_world.txt")
    # The truth is y up; the mesh is z up with the floor at 0, whatever the transform says.
    (x0, y0, z0), (x1, y1, z1) = room["low"], room["high"]
    low, high = np.array([x0, -z1, 0]), np.array([x1, -z0, y1 - y0])
    corner = (meshed @ [x0, y0, z1, 1])[:3]
    check(np.abs(corner - low).max() < 0.02, f"the corner of the room lies at {corner}, not {low}")
    away = np.minimum(np.abs(points - low), np.abs(points - high)).min(1)
    check(np.percentile(away, 99) < 0.02, f"points are {np.percentile(away, 99):.3f} m from the walls")
    floor = points[np.abs(points[:, 2]) < 0.1, 2]
    check(len(floor) > 500 and abs(np.median(floor)) < 0.01, f"the floor lies at {np.median(floor)}")
    seen = [np.count_nonzero(np.abs(points[:, axis] - side[axis]) < 0.02) > 500
            for axis in range(3) for side in (low, high)]
    check(sum(seen) >= 3, f"only {sum(seen)} sides of the room are there")
    check(len(data["face"].data) > 1000 and "red" in data["vertex"].data.dtype.names, "no colored triangles")
    print(f"{len(points)} points, median {np.median(away) * 1000:.0f} mm from the walls")


def video(file, capture):
    capture = Path(capture)
    rows = table(capture / "tables/frames.csv")
    frames = [frame for frame, row in rows.items() if row["color"] and row["aligned"]]
    shown = list(pictures(file))
    check(len(shown) == len(frames) > 2, f"{len(shown)} pictures, {len(frames)} frames have color and depth")
    start = int(rows[frames[0]]["timestamp_ns"])
    for frame, (picture, time) in zip(frames, shown):
        expected = (int(rows[frame]["timestamp_ns"]) - start) / 1e6
        check(abs(time - expected) < 2, f"frame {frame} is shown at {time} ms, it is of {expected}")
        half = picture.shape[1] // 2
        color = cv2.imread(str(capture / rows[frame]["color"]))
        depth = cv2.imread(str(capture / rows[frame]["aligned"]), -1)
        color = cv2.resize(color, (half, picture.shape[0]), interpolation=cv2.INTER_AREA)
        depth = cv2.resize(depth, (half, picture.shape[0]), interpolation=cv2.INTER_NEAREST)
        difference = np.abs(picture[:, :half].astype(int) - color).mean()
        check(difference < 6, f"frame {frame}: color differs by {difference}")
        turbo = cv2.applyColorMap(np.minimum(depth / 5000 * 255, 255).astype(np.uint8), cv2.COLORMAP_TURBO)
        difference = np.abs(picture[:, half:].astype(int) - turbo)[depth > 0].mean()
        check(difference < 12, f"frame {frame}: depth differs by {difference}")
    print(f"{len(shown)} pictures of {shown[0][0].shape[1]}x{shown[0][0].shape[0]}")


def paste_face(movie):
    from skimage import data

    left, top, side = FACE
    face = cv2.resize(data.astronaut()[:256, 96:352, ::-1], (side, side), interpolation=cv2.INTER_AREA)
    whole = list(pictures(movie))
    rate, (height, width) = cv2.VideoCapture(movie).get(cv2.CAP_PROP_FPS), whole[0][0].shape[:2]
    program = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr24", "-s", f"{width}x{height}", "-r",
         str(rate), "-i", "-", "-c:v", "libx264", "-bf", "0", "-crf", "12", "-pix_fmt", "yuv420p", f"{movie}.new.mp4"],
        stdin=subprocess.PIPE)
    for number, (picture, _) in enumerate(whole):
        at = left + 4 * number
        picture[top:top + side, at:at + side] = face
        program.stdin.write(picture.tobytes())
    program.stdin.close()
    check(program.wait() == 0, "ffmpeg failed")
    Path(f"{movie}.new.mp4").rename(movie)


def faces(blurred, masks, color):
    def sharpness(picture):
        return cv2.Laplacian(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.CV_64F).var()

    files = sorted(Path(blurred).glob("*.png"))
    check([file.name for file in files] == [file.name for file in sorted(Path(color).glob("*.png"))], "pictures lack")
    left, top, side = FACE
    for file in files:
        after, before = cv2.imread(str(file)), cv2.imread(str(Path(color, file.name)))
        mask = cv2.imread(str(Path(masks, file.name)), -1)
        check(np.array_equal(after[mask > 0], before[mask > 0]), f"{file.name} differs where no face is")
        check(0.005 < (mask == 0).mean() < 0.2, f"{file.name}: {np.mean(mask == 0):.3f} of it are masked")
        x, y = round(left + 4 * int(file.stem) + side / 2), round(top + 0.45 * side)
        eyes = slice(y - 15, y + 15), slice(x - 15, x + 15)
        check(not mask[eyes].any(), f"{file.name}: the face is not masked")
        check(sharpness(after[eyes]) < 0.02 * sharpness(before[eyes]), f"{file.name}: the face can be recognized")
    print(f"{len(files)} pictures")


def parquet(target, output):
    import pyarrow.parquet as pq

    cells = 0
    for file in sorted(Path(target).glob("*.parquet")):
        rows = iter(pq.read_table(file).to_pylist())
        folder = "imu" if file.stem == "imu" else "tables"
        for source in sorted(Path(output).glob(f"*/{folder}/{file.stem}.csv")):
            for line in csv.DictReader(open(source)):
                row = next(rows)
                check(row.pop("capture") == source.parts[-3] and set(line) <= set(row), f"{source}: columns")
                for name in row:
                    text = line.get(name)
                    same = row[name] is None if not text else type(row[name])(text) == row[name]
                    check(same, f"{source}, {name}: {text} became {row[name]}")
                    cells += 1
        check(next(rows, None) is None, f"{file} has more rows")
    check(cells > 1000, f"{cells} cells")
    print(f"{cells} cells")


def lerobot(target, output):
    import pandas as pd
    import pyarrow.parquet as pq

    target = Path(target)
    info = json.loads((target / "meta/info.json").read_text())
    check(info["codebase_version"] == "v3.0", "version")
    tasks = pd.read_parquet(target / "meta/tasks.parquet")
    episodes = pd.concat(pd.read_parquet(file) for file in sorted(target.glob("meta/episodes/*/*.parquet")))
    data = pd.concat(pq.read_table(file).to_pandas() for file in sorted(target.glob("data/*/*.parquet")))
    names = set(info["features"]) - {key for key, kind in info["features"].items() if kind["dtype"] == "video"}
    check(names == set(data.columns), f"columns {set(data.columns)}, features {names}")
    check(list(data["index"]) == list(range(info["total_frames"])), "index")
    check(len(episodes) == info["total_episodes"] > 0 and set(tasks.task_index) == set(data.task_index), "totals")
    for _, episode in episodes.iterrows():
        part = data[episode["dataset_from_index"]:episode["dataset_to_index"]]
        check(len(part) == episode["length"] and set(part.episode_index) == {episode["episode_index"]}, "rows")
        check(np.abs(part.timestamp - part.frame_index / info["fps"]).max() < 1e-4, "timestamps")
        key = "observation.images.color"
        movie = target / info["video_path"].format(
            video_key=key, chunk_index=episode[f"videos/{key}/chunk_index"],
            file_index=episode[f"videos/{key}/file_index"])
        shown = list(pictures(movie))
        check(len(shown) == len(part), f"{len(shown)} pictures, {len(part)} steps")
        capture = Path(output, episode["capture"])
        rows, poses = table(capture / "tables/frames.csv"), table(capture / "tables/poses.csv")
        usable = [frame for frame in poses if rows[frame]["color"]]
        times = np.array([int(rows[frame]["timestamp_ns"]) for frame in usable])
        for step, (picture, _) in enumerate(shown):
            frame = usable[np.abs((times - times[0]) / 1e9 - step / info["fps"]).argmin()]
            state = [float(poses[frame][name]) for name in info["features"]["observation.state"]["names"]]
            check(np.abs(part["observation.state"].iloc[step] - state).max() < 1e-6, f"step {step} has another pose")
            color = cv2.imread(str(capture / rows[frame]["color"]))
            height = round(color.shape[0] * picture.shape[1] / color.shape[1])
            top = (picture.shape[0] - height) // 2
            check(top >= 0, "pictures are wider than high")
            color = cv2.resize(color, (picture.shape[1], height), interpolation=cv2.INTER_AREA)
            check(np.abs(picture[top:top + height].astype(int) - color).mean() < 6, f"step {step}: another picture")
    print(f"{len(episodes)} episodes, {len(data)} steps")


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
