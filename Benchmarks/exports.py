"""What exports cost: CPU and wall time of every format after `default`, against `color`, `cp` and the bare
libraries, in turn on one machine.

    .build/readers/bin/python Benchmarks/exports.py CAPTURE --program .build/release/scanmill

Figures of stages are those of `artifact.json`. Formats for which the capture has no data are left out. `--video` also
measures what `.sens` is compared with. `--times` repeats everything and takes medians.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INNER = {
    "sens": ["jpeg-pictures"], "scannet": ["jpeg-pictures"], "scannetpp": ["jpeg-pictures"],
    "euroc": ["gray-pictures"], "kalibr": ["gray-pictures"],
}
FORMATS = (
    "tum colmap nerfstudio open3d scannet scannetpp sens euroc kalibr kitti mcap spectacular ply gpx geojson kml"
).split()


NOT_POSSIBLE = 1


def used(words, *allowed):
    """Wall and CPU seconds of a program and of all that it started and waited for; exit codes but 0 and `allowed` end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, *allowed):
        sys.exit(f"{words}: {done.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def record(folder, stage):
    path = folder / stage / "artifact.json"
    if not path.exists():
        path = folder / ".scanmill/removed" / f"{stage}.json"
    return json.loads(path.read_text()) if path.exists() else None


def bytes_beyond_links(folder):
    total = 0
    for path in folder.rglob("*"):
        status = path.lstat()
        if path.is_file() and status.st_nlink == 1:
            total += status.st_size
    return total


def sens_peer(video, depth_folder):
    """Decode, encode as JPEG, deflate depth: with the libraries, nothing else. CPU seconds."""
    code = f"""
import cv2, zlib, glob
cv2.setNumThreads(1)
video = cv2.VideoCapture({str(video)!r}, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
while True:
    ok, picture = video.read()
    if not ok: break
    cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, 95])
for name in sorted(glob.glob({str(depth_folder)!r} + '/*.npy')):
    import numpy
    zlib.compress(numpy.load(name).tobytes(), 6)
"""
    return used([sys.executable, "-c", code])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("capture")
    parser.add_argument("--program", default=".build/release/scanmill")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--video", help="for the peer of .sens")
    parser.add_argument("--folder", help="where to work; default: a temporary folder")
    arguments = parser.parse_args()
    place = Path(arguments.folder or tempfile.mkdtemp())
    output = place / "out"
    base = [arguments.program, "run", arguments.capture, "--output", str(output), "-q"]
    rows = {}
    totals = []
    for _ in range(arguments.times):
        shutil.rmtree(output, ignore_errors=True)
        default = used(base)
        capture = next(p for p in output.iterdir() if (p / "capture.json").exists())
        color = record(capture, "color")
        frames = max(1, color["frames"])
        for name in FORMATS:
            wall, cpu = used(base + ["--export", name], NOT_POSSIBLE)
            made = record(capture, f"export-{name}")
            if made is None:
                continue
            inner = [record(capture, stage) for stage in INNER.get(name, [])]
            stage_cpu = made["cpuSeconds"] + sum(r["cpuSeconds"] for r in inner if r)
            rows.setdefault(name, []).append(
                {
                    "stage": stage_cpu, "seconds": made["seconds"], "color": color["cpuSeconds"],
                    "wall": wall, "cpu": cpu, "frames": made["frames"],
                    "peak": made["peakMemoryBytes"],
                    "bytes": bytes_beyond_links(capture / f"export-{name}"),
                    "size": sum(o["bytes"] for o in made["outputs"]),
                }
            )
            for stage in INNER.get(name, []):
                shutil.rmtree(capture / stage, ignore_errors=True)
                (capture / ".scanmill/removed" / f"{stage}.json").unlink(missing_ok=True)
        bag = capture / "export-mcap/bag/bag.mcap"
        if bag.exists():
            os.sync()
            target = place / "copy.mcap"
            start = time.monotonic()
            subprocess.run(["cp", "--reflink=never", str(bag), str(target)], check=True)
            fd = os.open(target, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)
            rows["mcap"][-1]["cp"] = time.monotonic() - start
            target.unlink()
        shutil.rmtree(output)
        used(base)
        together = used(base + ["--pipeline", "exports"], NOT_POSSIBLE)
        totals.append((default, together))
        if arguments.video:
            import cv2
            import numpy

            depth = place / "depth"
            shutil.rmtree(depth, ignore_errors=True)
            depth.mkdir()
            for file in sorted((capture / "depth").glob("*.png")):
                numpy.save(depth / file.stem, cv2.imread(str(file), cv2.IMREAD_UNCHANGED))
            rows["sens"][-1]["peer"] = sens_peer(arguments.video, depth)[1]
    if not rows:
        sys.exit(f"error: {arguments.capture} has no data for any export")
    median = lambda name, key: statistics.median(r[key] for r in rows[name] if key in r)
    print(f"{color['frames']} frames; color {median(next(iter(rows)), 'color') / frames * 1000:.1f} ms CPU per frame\n")
    print("| format | CPU ms per frame | of color | stage wall s | own MB | peak MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in rows:
        cpu = median(name, "stage")
        print(
            f"| {name} | {cpu / max(1, median(name, 'frames')) * 1000:.2f} "
            f"| {100 * cpu / median(name, 'color'):.1f} % | {median(name, 'seconds'):.2f} "
            f"| {median(name, 'bytes') / 1e6:.1f} | {median(name, 'peak') / 1e6:.0f} |"
        )
    if "cp" in rows.get("mcap", [{}])[-1]:
        print(f"\nmcap wall / cp wall: {median('mcap', 'seconds') / median('mcap', 'cp'):.2f}")
    if arguments.video:
        print(f".sens CPU / bare libraries: {median('sens', 'stage') / median('sens', 'peer'):.2f}")
    default = statistics.median(d[1] for d, _ in totals)
    together = statistics.median(t[1] for _, t in totals)
    print(f"all formats after default: {together:.1f} s CPU, {100 * together / default:.0f} % of default's {default:.1f} s")
    if not arguments.folder:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
