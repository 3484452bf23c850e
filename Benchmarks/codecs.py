#!/usr/bin/env python3
"""The decoders of Record3D's files against those of others, on one core, in turn.

    ./codecs.py [--program ../.build/release/scanmill] [--frames 30] [--iterations 40]

Makes a rendered recording with sensor noise, packs its depth with the reference encoder of LZFSE (pyliblzfse) and the
recording with Python's zipfile, and decodes: LZFSE against the reference decoder, ZIP (pictures stored, depth deflated)
against zipfile, which inflates with zlib, and EXR (one channel in each compression, written by OpenEXR) against OpenEXR,
whose file is opened anew each time, as ours is. Needs pyliblzfse, numpy and OpenEXR; build CodecBenchmark first:
swift build -c release --product CodecBenchmark. Ratios are theirs ÷ ours.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path


def ours(kind, path, size, iterations):
    words = subprocess.run(
        [Path(__file__).parent / ".build/release/CodecBenchmark", kind, path, str(size), str(iterations)],
        check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(words[0]), float(words[2])


def median(call, iterations):
    times = []
    for _ in range(iterations):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return sorted(times)[len(times) // 2]


def unzip(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            archive.read(name)


def line(name, size, mine, peer=None, whose=""):
    text = f"{name}: {size / mine / 1e6:.0f} MB/s"
    if peer:
        text += f", {whose} {size / peer / 1e6:.0f} MB/s: {peer / mine:.2f}×"
    print(text)


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--program", type=Path, default=Path(__file__).parent / "../.build/release/scanmill")
    words.add_argument("--frames", type=int, default=30)
    words.add_argument("--iterations", type=int, default=40)
    words = words.parse_args()
    import liblzfse
    import numpy
    import OpenEXR

    with tempfile.TemporaryDirectory(prefix="codecs.") as scratch:
        scratch = Path(scratch)
        for form in ["r3d-folder", "exr"]:
            subprocess.run(
                [words.program.resolve(), "synthesize", "record3d", "--generation", form, "--output", scratch, "--id", form,
                 "--frames", str(words.frames), "--noise", "2", "--truth-pictures", "0"],
                check=True, stdout=subprocess.DEVNULL)
        # LZFSE: each frame alone; the median frame of each side counts.
        mine, theirs, size = [], [], 0
        for number, file in enumerate(sorted((scratch / "r3d-folder").rglob("*.depth"))[:5]):
            depth = liblzfse.decompress(file.read_bytes())
            packed = liblzfse.compress(depth)
            target = scratch / f"{number}.lzfse"
            target.write_bytes(packed)
            size = len(depth)
            for _ in range(3):
                theirs.append(median(lambda: liblzfse.decompress(packed), words.iterations))
                mine.append(ours("lzfse", target, size, words.iterations)[1])
            print(f"depth {number}: {size:,} bytes packed to {len(packed):,}, first block {packed[:4]}")
        line("LZFSE", size, sorted(mine)[len(mine) // 2], sorted(theirs)[len(theirs) // 2], "reference")
        # EXR: one rendered frame of depth in meters, in every compression and both kinds of samples that are read.
        file = sorted((scratch / "exr").rglob("*.exr"))[0]
        (name, depth), *_ = OpenEXR.File(str(file)).channels().items()
        for compression in ["NO_COMPRESSION", "RLE_COMPRESSION", "ZIPS_COMPRESSION", "ZIP_COMPRESSION"]:
            for kind in [numpy.float16, numpy.float32]:
                target = scratch / f"{compression}-{kind.__name__}.exr"
                OpenEXR.File(
                    {"compression": getattr(OpenEXR, compression), "type": OpenEXR.scanlineimage},
                    {name: depth.pixels.astype(kind)}).write(str(target))
                mine, theirs = [], []
                for _ in range(3):
                    theirs.append(median(lambda: OpenEXR.File(str(target)).channels()[name].pixels, words.iterations))
                    size, seconds = ours("exr", target, 0, words.iterations)
                    mine.append(seconds)
                line(f"EXR, {compression.split('_')[0]}, {kind.__name__}", size, sorted(mine)[1], sorted(theirs)[1], "OpenEXR")
        # ZIP
        archive = scratch / "all.zip"
        with zipfile.ZipFile(archive, "w") as target:
            for file in sorted(path for path in (scratch / "r3d-folder").rglob("*") if path.is_file()):
                method = zipfile.ZIP_STORED if file.suffix == ".jpg" else zipfile.ZIP_DEFLATED
                target.write(file, file.name, compress_type=method)
        size, mine = ours("zip", archive, 0, words.iterations)
        line("ZIP", size, mine, median(lambda: unzip(archive), words.iterations), "zipfile")


if __name__ == "__main__":
    sys.exit(main())
