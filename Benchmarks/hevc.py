#!/usr/bin/env python3
"""Color export of HEVC against ffmpeg's, beside the same pictures at the same rate as H.264, in the same minutes.

    Benchmarks/hevc.py [--program .build/release/scanmill] [--frames 120] [--rate 16M] [--repeat 3]

Makes one rendered capture, encodes its video anew with libx264 and with libx265 (no B-frames, as phones do), and lets
`scanmill bench --compare ffmpeg-tuned` measure both. Needs ffmpeg with both encoders. The last line is how many times our
CPU time ffmpeg takes on HEVC, divided by the same on H.264: 1 or more means that HEVC is no worse.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENCODERS = {"h264": ["libx264"], "hevc": ["libx265", "-tag:v", "hvc1", "-x265-params", "bframes=0:log-level=error"]}


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--program", type=Path, default=Path(".build/release/scanmill"))
    words.add_argument("--frames", type=int, default=120)
    words.add_argument("--rate", default="16M", help="bits per second of both videos")
    words.add_argument("--repeat", type=int, default=3)
    words = words.parse_args()
    program = words.program.resolve()
    with tempfile.TemporaryDirectory(prefix="hevc.") as scratch:
        scratch = Path(scratch)
        subprocess.run(
            [program, "synthesize", "arkit-scanner", "--output", scratch, "--id", "source", "--frames", str(words.frames),
             "--width", "1920", "--height", "1440", "--noise", "2", "--exposure", "0.0167", "--quality", "12",
             "--truth-pictures", "0"],
            check=True, stdout=subprocess.DEVNULL)
        captures = []
        for codec, encoder in ENCODERS.items():
            capture = scratch / codec
            shutil.copytree(scratch / "source", capture)
            subprocess.run(
                ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", scratch / "source" / "rgb.mp4",
                 "-fps_mode", "passthrough", "-b:v", words.rate, "-bf", "0", "-c:v", *encoder, capture / "rgb.mp4"],
                check=True)
            captures.append(capture)
        report = subprocess.run(
            [program, "bench", *captures, "--compare", "ffmpeg-tuned", "--repeat", str(words.repeat), "--json", "-q"],
            check=True, stdout=subprocess.PIPE).stdout
        ratios = {}
        for capture in json.loads(report)["captures"]:
            ours = next(run for run in capture["comparison"]["ours"] if run["name"] == "scanmill, fast")
            peer = capture["comparison"]["peers"][0]
            ratio = peer["cpuSeconds"]["median"] / ours["cpuSeconds"]["median"]
            ratios[capture["id"]] = ratio
            print(f"{capture['id']}: {ours['frames']} pictures of {ours['inputBytes']:,} bytes, ours "
                  f"{ours['cpuMillisecondsPerFrame']:.1f} ms, ffmpeg {peer['cpuMillisecondsPerFrame']:.1f} ms of CPU per "
                  f"picture: {ratio:.2f}×")
        h264, hevc = list(ratios.values())
        print(f"HEVC by H.264: {hevc / h264:.2f}")


if __name__ == "__main__":
    sys.exit(main())
