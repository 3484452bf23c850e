"""A whole scene: our pipeline against ffmpeg for color and a Python script for the rest, the way people do it by hand.

Called by real.py --scene. As a program it is that script, and needs numpy and imageio or cv2:

    scene.py FOLDER imageio|cv2     depth pictures, aligned depth by points with a z-buffer, inertial rows per frame

FOLDER holds depth-NNNNNN.npy (decoded already), alignment.json, imu.csv and frames.csv.
"""

import bisect
import csv
import json
import sys
from pathlib import Path

HALF_WINDOW_NS = 50_000_000


def writer(name):
    """Writes 16-bit gray PNG files as the library does by default."""
    if name == "cv2":
        import cv2

        return lambda path, picture: cv2.imwrite(str(path), picture)
    import imageio

    return lambda path, picture: imageio.imwrite(str(path), picture)


def align(depth, rays, turn, shift, color):
    """Every depth pixel as one point on the color grid, the nearest one wins; millimeters."""
    import numpy

    z = depth.ravel().astype(numpy.float64)
    known = z > 0
    points = (rays[:, known] * z[known]).T @ turn.T + shift
    front = points[:, 2] > 0
    points = points[front]
    x = numpy.rint(points[:, 0] / points[:, 2] * color["fx"] + color["cx"]).astype(int)
    y = numpy.rint(points[:, 1] / points[:, 2] * color["fy"] + color["cy"]).astype(int)
    inside = (x >= 0) & (y >= 0) & (x < color["width"]) & (y < color["height"])
    picture = numpy.full(color["width"] * color["height"], 65535, numpy.uint16)
    far = numpy.clip(numpy.rint(points[inside, 2]), 0, 65534).astype(numpy.uint16)
    numpy.minimum.at(picture, y[inside] * color["width"] + x[inside], far)
    picture[picture == 65535] = 0
    return picture.reshape(color["height"], color["width"])


def rows(folder):
    """The inertial samples within the window around every frame, by Python's own tables."""
    with open(folder / "imu.csv") as file:
        samples = [(int(row["timestamp_ns"]), *list(row.values())[1:]) for row in csv.DictReader(file)]
    samples.sort()
    times = [sample[0] for sample in samples]
    with open(folder / "frames.csv") as file, open(folder / "frame_imu.csv", "w", newline="") as output:
        table = csv.writer(output)
        for row in csv.DictReader(file):
            frame, time = int(row["frame"]), int(row["frame_timestamp_ns"])
            first = bisect.bisect_left(times, time - HALF_WINDOW_NS)
            last = bisect.bisect_right(times, time + HALF_WINDOW_NS)
            for sample in samples[first:last]:
                table.writerow([frame, time, sample[0], sample[0] - time, *sample[1:]])


def script(folder, library):
    import numpy

    write = writer(library)
    alignment = json.loads((folder / "alignment.json").read_text())
    depth, color = alignment["depthIntrinsics"], alignment["colorIntrinsics"]
    matrix = numpy.array(alignment["colorFromDepth"]).reshape(4, 4)
    y, x = numpy.mgrid[0 : depth["height"], 0 : depth["width"]]
    rays = numpy.stack([
        ((x - depth["cx"]) / depth["fx"]).ravel(), ((y - depth["cy"]) / depth["fy"]).ravel(),
        numpy.ones(depth["width"] * depth["height"]),
    ])
    for name in ("depth", "aligned"):
        (folder / name).mkdir()
    for file in sorted(folder.glob("depth-*.npy")):
        picture = numpy.load(file)
        number = file.stem.split("-")[1]
        write(folder / "depth" / f"{number}.png", picture)
        # Meters to millimeters: the shift of the matrix is in meters.
        aligned = align(picture, rays, matrix[:3, :3], 1000 * matrix[:3, 3], color)
        write(folder / "aligned" / f"{number}.png", aligned)
    rows(folder)


def decoded(output, folder, python):
    """What the script starts from, out of our own results; not measured."""
    from measuring import run

    folder.mkdir()
    capture = json.loads((output / "capture.json").read_text())
    (folder / "alignment.json").write_text(json.dumps(capture["alignment"]))
    (folder / "imu.csv").write_bytes((output / "imu" / "imu.csv").read_bytes())
    known = {}
    with open(output / "imu" / "frame_imu_counts.csv") as file:
        for row in csv.DictReader(file):
            known[row["frame"]] = row["frame_timestamp_ns"]
    with open(folder / "frames.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["frame", "frame_timestamp_ns"])
        table.writerows(known.items())
    code = (
        "import sys, glob, numpy, os\n"
        "try:\n import cv2; read = lambda p: cv2.imread(p, cv2.IMREAD_UNCHANGED)\n"
        "except ImportError:\n import imageio; read = imageio.imread\n"
        "for p in glob.glob(sys.argv[1] + '/*.png'):\n"
        " numpy.save(sys.argv[2] + '/depth-' + os.path.basename(p)[:-4], read(p))\n"
    )
    run([python, "-c", code, output / "depth", folder])


def measured(arguments, place):
    """Ours, both ways by hand, ours again: CPU and wall seconds."""
    from measuring import Problem, check_room, run, settle

    libraries = [
        name for name in ("imageio", "cv2")
        if _has(arguments.python, name)
    ]
    if not libraries:
        raise Problem(f"{arguments.python} has neither numpy with imageio nor with cv2: choose another --python")
    check_room(place, arguments.scene * 14_000_000)
    words = [arguments.after, "synthesize", "scannet", "--output", place / "scene", "--frames", arguments.scene]
    words += ["--seed", "1", "--noise", "2", "--exposure", str(1 / 60), "--quality", "16", "--truth-pictures", "0"]
    capture = Path(run(words).output.splitlines()[0])
    video = next(capture.glob("*.h264"))
    results = []

    def ours(name, program):
        output = place / f"scene-{name.replace(' ', '-')}"
        used = run([
            program, "run", capture, "--output", output, "--pipeline", "benchmark", "-j", arguments.jobs, "-q",
            "--progress", "none",
        ])
        results.append({"name": name, "cpu": used.cpu, "wall": used.wall})
        settle(output)
        return next(path.parent for path in output.glob("*/capture.json"))

    def by_hand(name, options, library):
        # Scripts of slower libraries are measured with the library that is there.
        folder = place / f"scene-{library}-{len(results)}"
        decoded(first, folder, arguments.python)
        pictures = place / f"scene-color-{len(results)}"
        pictures.mkdir()
        color = run(["ffmpeg", "-nostdin", "-v", "error", "-i", video, "-fps_mode", "passthrough", *options,
                     pictures / "%06d.png"])
        settle(pictures)
        rest = run([arguments.python, Path(__file__).resolve(), folder, library])
        settle(folder)
        results.append({
            "name": f"{name}, script with {library}", "cpu": color.cpu + rest.cpu, "wall": color.wall + rest.wall,
            "color": color.cpu, "script": rest.cpu,
        })

    first = ours("ours, first", arguments.after)
    if arguments.before:
        ours("before", arguments.before)
    by_hand("ffmpeg default", [], libraries[0])
    by_hand("ffmpeg tuned", ["-compression_level", "1", "-pred", "up"], libraries[-1])
    ours("ours, last", arguments.after)
    own = (results[0]["cpu"] + results[-1]["cpu"]) / 2
    for result in results:
        result["ratio"] = result["cpu"] / own
    return results


def _has(python, library):
    from measuring import Problem, run

    try:
        run([python, "-c", f"import numpy, {library}"])
        return True
    except (Problem, OSError):
        return False


if __name__ == "__main__":
    script(Path(sys.argv[1]), sys.argv[2])
