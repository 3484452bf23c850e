#!/usr/bin/env python3
"""Encoders of color and depth on the same pictures in one run: CPU milliseconds per megapixel, and bytes per pixel.

    ./encoders.py phone=MOVIE.mov scan=CAPTURE --rendered 40 [--with NAME=LIBRARY.so] [--plot encoders.svg]

Pictures are decoded once by ffmpeg; depth and aligned depth are what `run` writes of captures that have them. Each
encoder takes every picture in each round, one encoder after the other; the fastest round of a picture counts. Ours is
measured twice: encoding alone (`swift build -c release --product CodecBenchmark`), and the whole program above
decoding, conversion and a copy of its files (`scanmill floor`).

ISA-L, libdeflate, libspng, libpng, zstd and LZ4 are compiled with encoders.c by `cc`, where their headers are
installed; of ISA-L and libdeflate only the zlib stream is made, without the chunks of a file. OpenCV, Pillow and zlib-ng
are Python's. What is not installed is named and left out. `--with` adds a library with the function of encoders.c.
fpng and fpnge are not packaged: their rows are what issue 46 measured on `mapillary.mov`, scaled by ISA-L's time and size
here, and marked so.
"""

import argparse
import ctypes
import json
import math
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

from floor_plot import NAMESPACE, element
from measuring import Problem, bytes_in, capture_of, machine, number, run, stop, table
from real import rendered

# Library: words for `cc`, levels for color, levels for depth.
LIBRARIES = {
    "ISA-L": (["-DUSE_ISAL", "-lisal"], [1, 3], [1, 3]),
    "libdeflate": (["-DUSE_LIBDEFLATE", "-ldeflate"], [1, 2, 4], [1, 4]),
    "libspng": (["-DUSE_LIBSPNG", "-lspng"], [1], [1]),
    "libpng": (["-DUSE_LIBPNG", "-lpng"], [1, 3], [1, 3, 6]),
    "zstd of raw values": (["-DUSE_ZSTD", "-lzstd"], [], [1, 3, 9]),
    "LZ4 of raw values": (["-DUSE_LZ4", "-llz4"], [], [0]),
}
STREAMS = ("ISA-L", "libdeflate", "zlib-ng")
COMPRESSIONS = ("fastest", "fast", "compact")
REFERENCE = "ISA-L 1"
# What is not packaged, ms/Mpx and bytes per pixel as issue 46 measured, and ISA-L's of the same run.
ELSEWHERE = {
    "fpnge 1": (2.3, 2.21), "fpnge 2": (2.5, 1.82), "fpnge 5": (3.4, 1.82), "fpng, one pass": (5.4, 1.95),
    "fpng, two": (8.6, 1.90),
}
ISAL_THERE = (8.2, 1.71)


class Picture:
    """Samples of 8-bit RGB or of 16-bit gray, in the byte order of the host, and the PNG file for our own encoder."""

    def __init__(self, samples, width, height, file):
        self.samples, self.width, self.height, self.file = samples, width, height, file
        self.channels, self.bits = (3, 8) if len(samples) == 3 * width * height else (1, 16)
        if len(samples) != width * height * self.channels * self.bits // 8:
            raise Problem(f"{file}: {len(samples)} bytes are not {width}x{height} pixels")

    @property
    def pixels(self):
        return self.width * self.height

    @property
    def line_bytes(self):
        return (len(self.samples) // self.height + 1) * self.height


class Encoder:
    """A call that makes bytes of a picture; `made` checks them once."""

    def __init__(self, name, call):
        self.name, self.call = name, call

    def seconds(self, picture):
        start = time.thread_time()
        encoded = self.call(picture)
        return time.thread_time() - start, encoded

    def check(self, picture, encoded):
        if self.name.startswith(STREAMS):
            good = len(zlib.decompress(encoded)) == picture.line_bytes
        else:
            good = len(encoded) > 0
        if not good:
            raise Problem(f"{self.name}: {picture.file} was not encoded")


def of_library(path, level):
    """The function of encoders.c in a shared library."""
    function = ctypes.CDLL(str(path)).encode
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_char_p, *[ctypes.c_int64] * 5, ctypes.c_char_p, ctypes.c_int64]
    target = ctypes.create_string_buffer(1)

    def call(picture):
        nonlocal target
        capacity = 2 * len(picture.samples) + 4096
        if len(target) < capacity:
            target = ctypes.create_string_buffer(capacity)
        count = function(
            picture.samples, picture.width, picture.height, picture.channels, picture.bits, level, target, capacity)
        return memoryview(target)[:count]

    return call


def of_python():
    """Encoders of Python's packages by name; for a package that is missing, its reason."""
    found, missing = {}, []
    try:
        import cv2
        import numpy

        def pixels(picture):
            if picture.bits == 16:
                return numpy.frombuffer(picture.samples, numpy.uint16).reshape(picture.height, picture.width)
            return numpy.frombuffer(picture.samples, numpy.uint8).reshape(picture.height, picture.width, 3)

        cv2.setNumThreads(1)
        # Values are taken as they are: for OpenCV red is blue, which costs it nothing and us no copy.
        found["OpenCV, default"] = lambda picture: cv2.imencode(".png", pixels(picture))[1].tobytes()
        found["OpenCV 3"] = lambda picture: cv2.imencode(
            ".png", pixels(picture), [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes()
        try:
            from zlib_ng import zlib_ng

            def up(picture):
                rows = numpy.frombuffer(picture.samples, numpy.uint16 if picture.bits == 16 else numpy.uint8)
                rows = (rows.byteswap() if picture.bits == 16 else rows).view(numpy.uint8).reshape(picture.height, -1)
                lines = numpy.empty((picture.height, rows.shape[1] + 1), numpy.uint8)
                lines[:, 0] = 2
                lines[0, 1:] = rows[0]
                numpy.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
                return lines

            for level in (1, 2):
                found[f"zlib-ng {level}"] = lambda picture, level=level: zlib_ng.compress(up(picture), level)
        except ImportError as problem:
            missing.append(f"zlib-ng: {problem}")
    except ImportError as problem:
        missing.append(f"OpenCV: {problem}")
    try:
        import io

        from PIL import Image

        def pillow(picture, **options):
            file = io.BytesIO()
            size = (picture.width, picture.height)
            Image.frombuffer("RGB" if picture.bits == 8 else "I;16", size, picture.samples).save(file, "PNG", **options)
            return file.getbuffer()

        found["Pillow, default"] = pillow
        found["Pillow 1"] = lambda picture: pillow(picture, compress_level=1)
    except ImportError as problem:
        missing.append(f"Pillow: {problem}")
    return found, missing


def encoders(arguments, place):
    """Those of color, those of depth, and what is missing."""
    color, depth = [], []
    python, missing = of_python()
    for name, (words, of_color, of_depth) in LIBRARIES.items():
        library = place / f"{name.replace(' ', '-')}.so"
        source = Path(__file__).parent / "encoders.c"
        built = subprocess.run(
            ["cc", "-O3", "-shared", "-fPIC", words[0], source, "-o", library, words[1]], capture_output=True, text=True)
        if built.returncode != 0:
            missing.append(f"{name}: {built.stderr.strip().splitlines()[0]}")
            continue
        for levels, target in ((of_color, color), (of_depth, depth)):
            target += [Encoder(f"{name} {level}" if level else name, of_library(library, level)) for level in levels]
    for text in arguments.others:
        name, mark, path = text.partition("=")
        if not mark:
            raise Problem(f"--with {text}: expected NAME=LIBRARY.so")
        color.append(Encoder(name, of_library(Path(path).resolve(), 0)))
    color += [Encoder(name, call) for name, call in python.items()]
    depth += [Encoder(name, call) for name, call in python.items() if not name.startswith("zlib-ng")]
    return color, depth, missing


def decoded(file, width, height, form, *more):
    """The samples of the pictures in a file, by ffmpeg."""
    words = ["ffmpeg", "-nostdin", "-v", "error", "-i", file, *more, "-f", "rawvideo", "-pix_fmt", form, "-"]
    done = subprocess.run(words, capture_output=True)
    if done.returncode != 0:
        raise Problem(f"{file}: {done.stderr.decode(errors='replace')[-300:]}")
    size = width * height * (3 if form == "rgb24" else 2)
    return [done.stdout[start:start + size] for start in range(0, len(done.stdout), size)]


def size_of(file):
    """Width and height in the header of a PNG file."""
    head = file.read_bytes()[:24]
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def spread(files, most):
    return [files[index * len(files) // min(most, len(files))] for index in range(min(most, len(files)))]


def exported(program, capture, output, stage):
    only = "depth-frames,aligned" if stage == "aligned" else stage
    run([program, "run", capture, "-o", output, "--only", only, "-q", "--progress", "none"], accepted=(0, 1))
    return sorted(output.glob(f"*/{stage}/*.png"))


def pictures_of(program, capture, place, stage, most):
    found = []
    for file in spread(exported(program, capture, place / stage, stage), most):
        width, height = size_of(file)
        form = "rgb24" if stage == "color" else "gray16le"
        found.append(Picture(decoded(file, width, height, form)[0], width, height, file))
    return found


def ours_alone(codecs, picture, compression, times):
    """Seconds and bytes of our encoder in a process of its own, the fastest of several."""
    words = run([codecs, f"png-{compression}", picture.file, 0, max(3, times)]).output.split()
    return float(words[1]), int(words[0])


def sums(pictures, calls, codecs, times):
    """ms/Mpx and bytes per pixel by name."""
    best, sizes = {}, {}

    def add(name, index, seconds, count):
        key = name, index
        best[key] = min(seconds, best.get(key, math.inf))
        sizes[key] = count

    for turn in range(times):
        for index, picture in enumerate(pictures):
            for encoder in calls:
                seconds, encoded = encoder.seconds(picture)
                if turn == 0:
                    encoder.check(picture, encoded)
                add(encoder.name, index, seconds, len(encoded))
            if codecs:
                for compression in COMPRESSIONS:
                    add(f"scanmill {compression}, encoder", index, *ours_alone(codecs, picture, compression, times))
    pixels = sum(picture.pixels for picture in pictures)
    names = dict.fromkeys(name for name, _ in best)
    total = lambda values, name: sum(values[name, index] for index in range(len(pictures)))
    return {name: (total(best, name) * 1e9 / pixels, total(sizes, name) / pixels) for name in names}


def whole(program, capture, place, times):
    """ms/Mpx above the floor and bytes per pixel of whole runs, by name: medians of rounds in turn."""
    found = {}
    for turn in range(times):
        converted = json.loads(run([program, "floor", "convert", capture]).output)
        for compression in COMPRESSIONS:
            output = place / f"whole-{turn}-{compression}"
            used = run(
                [program, "run", capture, "-o", output, "--only", "color", "-q", "--progress", "none", "--set",
                 f"color.compression={compression}"], accepted=(0, 1))
            folder = next(output.glob("*/color"))
            copied = json.loads(run([program, "floor", "copy", folder, output / "copy"]).output)
            floor = sum(part["userSeconds"] + part["systemSeconds"] for part in (converted, copied))
            found.setdefault(compression, []).append(
                ((used.cpu - floor) * 1e9 / copied["pixels"], bytes_in(folder, ".png") / copied["pixels"]))
            subprocess.run(["rm", "-r", output], check=True)
    return {
        f"scanmill {compression}, whole program above the floor": sorted(rounds)[len(rounds) // 2]
        for compression, rounds in found.items()
    }


def scaled(figures):
    """What is not packaged, by ISA-L's figures in this run."""
    if REFERENCE not in figures:
        return {}
    time_here, size_here = figures[REFERENCE]
    return {
        f"{name} (scaled)": (milliseconds * time_here / ISAL_THERE[0], size * size_here / ISAL_THERE[1])
        for name, (milliseconds, size) in ELSEWHERE.items()
    }


def frontier(figures):
    """Names that nothing else beats in both time and size."""
    return {
        name for name, (milliseconds, size) in figures.items()
        if not any(t <= milliseconds and s <= size and (t, s) != (milliseconds, size) for t, s in figures.values())
    }


def rows(figures):
    least = frontier(figures)
    return [
        [name, number(milliseconds), f"{size:.3f}", "yes" if name in least else ""]
        for name, (milliseconds, size) in sorted(figures.items(), key=lambda item: item[1][0])
    ]


STYLE = """
text { font: 12px sans-serif; fill: #1a1a1a; }
.axis { stroke: #8a8a8a; stroke-width: 1; }
.ours { fill: #0072b2; } .others { fill: #d55e00; }
text.ours { font-weight: 600; fill: #0072b2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8e8e8; }
  .ours, text.ours { fill: #3d9bd6; } .others { fill: #f07d35; }
}
"""
WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 820, 420, 60, 50, 36


def drawing(title, figures):
    """Size against time, the time on a logarithmic axis. Encoders alone: ours are squares, all others circles."""
    shown = {name: place for name, place in figures.items() if "whole program" not in name}
    root = ET.Element(
        "svg", xmlns=NAMESPACE, width=str(WIDTH), height=str(HEIGHT), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img",
        attrib={"aria-labelledby": "title words"})
    element(root, "title", title, id="title")
    element(
        root, "desc", " ".join(f"{name}: {number(t)} ms/Mpx, {s:.3f} bytes a pixel." for name, (t, s) in shown.items()),
        id="words")
    element(root, "style", STYLE)
    element(root, "text", title, x=4, y=16)
    first = math.log2(min((t for t, _ in shown.values()), default=1)) - 0.2
    last = math.log2(max((t for t, _ in shown.values()), default=2)) + 1.2
    least = 0.97 * min((s for _, s in shown.values()), default=0)
    most = 1.02 * max((s for _, s in shown.values()), default=1)
    x_of = lambda t: round(LEFT + (math.log2(t) - first) / (last - first) * (WIDTH - LEFT - EDGE), 1)
    y_of = lambda s: round(HEIGHT - BOTTOM - (s - least) / (most - least) * (HEIGHT - BOTTOM - EDGE), 1)
    element(root, "line", x1=LEFT, y1=HEIGHT - BOTTOM, x2=WIDTH - EDGE, y2=HEIGHT - BOTTOM, class_="axis")
    element(root, "line", x1=LEFT, y1=EDGE, x2=LEFT, y2=HEIGHT - BOTTOM, class_="axis")
    for power in range(math.ceil(first), math.floor(last) + 1):
        element(root, "text", f"{2.0 ** power:g}", x=x_of(2.0 ** power), y=HEIGHT - BOTTOM + 16, text_anchor="middle")
    for step in range(5):
        size = least + step * (most - least) / 4
        element(root, "text", f"{size:.2f}", x=LEFT - 6, y=y_of(size) + 4, text_anchor="end")
    element(root, "text", "CPU ms per megapixel (each mark doubles); upward: bytes a pixel", x=LEFT, y=HEIGHT - 10)
    taken = []
    for name, (milliseconds, size) in sorted(shown.items(), key=lambda item: item[1]):
        x, y, kind = x_of(milliseconds), y_of(size), "ours" if name.startswith("scanmill") else "others"
        if kind == "ours":
            element(root, "rect", x=round(x - 4, 1), y=round(y - 4, 1), width=8, height=8, class_=kind)
        else:
            element(root, "circle", cx=x, cy=y, r=4, class_=kind)
        # Moved down until it lies on no other name.
        line = y + 4
        while any(abs(line - other) < 12 and abs(x - place) < 7 * len(name) + 10 for place, other in taken):
            line += 12
        taken.append((x, line))
        element(root, "text", name.removesuffix(", encoder"), x=round(x + 7, 1), y=round(line, 1), class_=kind)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def measured(arguments, place):
    color, depth, missing = encoders(arguments, place)
    for text in missing:
        print(f"left out: {text}", file=sys.stderr)
    codecs = arguments.codecs if arguments.codecs.is_file() else None
    if not codecs:
        print(f"left out: our encoder alone: {arguments.codecs} is not built", file=sys.stderr)
    wanted = [(Path(path).stem if not mark else name, path if mark else name)
              for name, mark, path in (text.partition("=") for text in arguments.videos)]
    arguments.after = arguments.program
    if arguments.rendered:
        wanted += [(f"rendered {name}", rendered(name, arguments.rendered, arguments, place)) for name in "AC"]
    if not wanted:
        raise Problem("nothing to measure: name captures or movies, or --rendered FRAMES")
    report = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "times": arguments.times, "subjects": []}
    for name, path in wanted:
        capture = capture_of(path, place)
        folder = place / f"of-{len(report['subjects'])}"
        for stage, calls in (("color", color), ("depth", depth), ("aligned", depth)):
            print(f"run: {name}, {stage}", file=sys.stderr)
            pictures = pictures_of(arguments.program, capture, folder, stage, arguments.pictures)
            if not pictures:
                continue
            figures = sums(pictures, calls, codecs, arguments.times)
            if stage == "color":
                figures |= whole(arguments.program, capture, folder, arguments.times) | scaled(figures)
            report["subjects"].append({
                "name": f"{name}, {stage}", "pictures": len(pictures), "width": pictures[0].width,
                "height": pictures[0].height, "figures": figures})
        subprocess.run(["rm", "-r", folder], check=True)
    report["machine"]["load after"] = machine()["load"]
    return report


def tables(report):
    host = report["machine"]
    lines = [
        f"{host['processor']}, {host['cores']} cores, {host['system']}; {report['date']}; load {number(host['load'])} before, "
        f"{number(host['load after'])} after; the fastest of {report['times']} rounds in turn, whole runs their median.",
    ]
    for subject in report["subjects"]:
        lines += ["", f"{subject['name']}, {subject['pictures']} of {subject['width']}×{subject['height']}:", ""]
        lines += table(["encoder", "ms/Mpx", "bytes a pixel", "none is better in both"], rows(subject["figures"]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="*", metavar="NAME=CAPTURE")
    parser.add_argument("--program", type=Path, default=Path(__file__).parent / "../.build/release/scanmill")
    parser.add_argument("--codecs", type=Path, default=Path(__file__).parent / ".build/release/CodecBenchmark")
    parser.add_argument("--rendered", type=int, metavar="FRAMES", help="also rooms A and C, rendered")
    parser.add_argument("--with", dest="others", action="append", default=[], metavar="NAME=LIBRARY.so")
    parser.add_argument("--pictures", type=int, default=12, help="at most as many of each, spread over the recording")
    parser.add_argument("--times", type=int, default=3, help="rounds")
    parser.add_argument("--plot", type=Path, help="an SVG of the first subject; of the next ones with -2, -3 …")
    parser.add_argument("--json", type=Path, help="keeps the figures")
    parser.add_argument("--folder", type=Path, help="for scratch files")
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    with tempfile.TemporaryDirectory(prefix="encoders.", dir=arguments.folder) as scratch:
        report = measured(arguments, Path(scratch))
    print(tables(report), end="")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    if arguments.plot:
        for index, subject in enumerate(report["subjects"], 1):
            end = f"-{index}" if index > 1 else ""
            path = arguments.plot.with_stem(arguments.plot.stem + end)
            path.write_text(drawing(f"{subject['name']}: size against time of encoders", subject["figures"]))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        stop(problem)
