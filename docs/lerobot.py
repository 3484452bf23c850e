#!/usr/bin/env python3
"""lerobot.py OUT SET [TASK]: the captures of an output with color and poses as one LeRobot data set (v3.0).

An episode is a capture, at 30 steps a second: of each step the frame nearest in time. observation.state is the pose
of the camera (worldFromCamera: tx ty tz in meters, quaternion qx qy qz qw), action the pose of the next step, as for
hand-held grippers. Steps with no frame within half a step repeat the nearest one; how many is printed.

Needs `pip install numpy pandas pyarrow` and ffmpeg.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

FPS, SIZE, CAMERA = 30, (480, 640), "observation.images.color"  # height, width; pictures are padded to it
POSE = ["tx", "ty", "tz", "qx", "qy", "qz", "qw"]
FILE = "chunk-000/file-{:03d}"


def episode(capture):
    """Picture and pose of each step, and how many repeat another."""
    if not (capture / "tables/poses.csv").exists():
        return None
    frames = pd.read_csv(capture / "tables/frames.csv", index_col="frame", dtype={"timestamp_ns": "Int64"})
    poses = pd.read_csv(capture / "tables/poses.csv", index_col="frame")[POSE]
    frames = frames.dropna(subset=["color", "timestamp_ns"]).join(poses, how="inner").sort_values("timestamp_ns")
    if len(frames) < 2:
        return None
    times = (frames.timestamp_ns - frames.timestamp_ns.iloc[0]).to_numpy(np.int64) / 1e9
    steps = np.arange(int(times[-1] * FPS) + 1) / FPS
    after = np.clip(np.searchsorted(times, steps), 1, len(times) - 1)
    nearest = np.where(steps - times[after - 1] <= times[after] - steps, after - 1, after)
    far = int((np.abs(times[nearest] - steps) > 0.5 / FPS).sum())
    pictures = [capture / name for name in frames.color.iloc[nearest]]
    return pictures, frames[POSE].to_numpy(np.float32)[nearest], far


def video(pictures, target):
    """Constant rate; every step is a picture of its own."""
    height, width = SIZE
    fit = (f"scale={width}:{height}:force_original_aspect_ratio=decrease,"
           f"pad={width}:{height}:-1:-1,setsar=1,format=yuv420p")
    target.parent.mkdir(parents=True, exist_ok=True)
    form = "png_pipe" if pictures[0].suffix == ".png" else "jpeg_pipe"
    program = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-y", "-f", form, "-framerate", str(FPS), "-i", "-",
         "-vf", fit, "-c:v", "libx264", "-g", "2", "-crf", "20", str(target)], stdin=subprocess.PIPE)
    with program.stdin:
        for picture in pictures:
            program.stdin.write(picture.read_bytes())
    if program.wait():
        sys.exit("ffmpeg failed")


def statistics(values):
    values = np.asarray(values, np.float64).reshape(len(values), -1)
    return {"min": values.min(0).tolist(), "max": values.max(0).tolist(), "mean": values.mean(0).tolist(),
            "std": values.std(0).tolist(), "count": [len(values)]}


def main(output, target, task="move the camera through the scene"):
    target = Path(target)
    rows, episodes, index = None, [], 0
    parts = {name: [] for name in ["observation.state", "action"]}
    (target / "data/chunk-000").mkdir(parents=True)
    for capture in sorted(Path(output).iterdir()):
        found = episode(capture)
        if found is None:
            continue
        pictures, state, far = found
        number, count = len(episodes), len(pictures)
        action = np.concatenate([state[1:], state[-1:]])
        table = pa.table({
            "observation.state": pa.FixedSizeListArray.from_arrays(pa.array(state.ravel()), 7),
            "action": pa.FixedSizeListArray.from_arrays(pa.array(action.ravel()), 7),
            "timestamp": pa.array(np.arange(count, dtype=np.float32) / np.float32(FPS)),
            "frame_index": pa.array(np.arange(count)), "episode_index": pa.array(np.full(count, number)),
            "index": pa.array(np.arange(index, index + count)), "task_index": pa.array(np.zeros(count, np.int64))})
        # One file for all episodes, a row group for each; a video file for each.
        rows = rows or pq.ParquetWriter(target / "data" / (FILE.format(0) + ".parquet"), table.schema)
        rows.write_table(table)
        video(pictures, target / "videos" / CAMERA / (FILE.format(number) + ".mp4"))
        parts["observation.state"].append(state)
        parts["action"].append(action)
        episodes.append({
            "episode_index": number, "tasks": [task], "length": count, "capture": capture.name,
            "data/chunk_index": 0, "data/file_index": 0,
            "dataset_from_index": index, "dataset_to_index": index + count,
            f"videos/{CAMERA}/chunk_index": 0, f"videos/{CAMERA}/file_index": number,
            f"videos/{CAMERA}/from_timestamp": 0.0, f"videos/{CAMERA}/to_timestamp": count / FPS,
            "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0})
        index += count
        print(f"{capture.name}: {count} steps, {far} of them repeat a frame")
    if not episodes:
        sys.exit("no capture has color and poses")
    rows.close()

    meta = target / "meta"
    (meta / "episodes/chunk-000").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(episodes), meta / "episodes" / (FILE.format(0) + ".parquet"))
    pd.DataFrame({"task_index": [0]}, index=[task]).to_parquet(meta / "tasks.parquet")
    (meta / "stats.json").write_text(json.dumps(
        {name: statistics(np.concatenate(values)) for name, values in parts.items()}, indent=4))
    number = {"dtype": "int64", "shape": [1], "names": None}
    pose = {"dtype": "float32", "shape": [7], "names": POSE}
    (meta / "info.json").write_text(json.dumps({
        "codebase_version": "v3.0", "robot_type": None, "fps": FPS,
        "total_episodes": len(episodes), "total_frames": index, "total_tasks": 1,
        "chunks_size": 1000, "data_files_size_in_mb": 100, "video_files_size_in_mb": 200,
        "splits": {"train": f"0:{len(episodes)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
        "features": {
            CAMERA: {"dtype": "video", "shape": [*SIZE, 3], "names": ["height", "width", "channels"], "info": {
                "video.height": SIZE[0], "video.width": SIZE[1], "video.channels": 3, "video.fps": FPS,
                "video.codec": "h264", "video.pix_fmt": "yuv420p", "video.is_depth_map": False, "has_audio": False}},
            "observation.state": pose, "action": pose,
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            "frame_index": number, "episode_index": number, "index": number, "task_index": number}}, indent=4))


if __name__ == "__main__":
    main(*sys.argv[1:])
