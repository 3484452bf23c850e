#!/usr/bin/env python3
"""Every figure that is kept of color export, on real pictures: against the floor, against ffmpeg, sizes, cores
busy, head and tail, fixed cost; of two builds in turn.

    Benchmarks/real.py s=CAPTURE m=MOVIE.mov --before OLD --after .build/release/scanmill \\
        --json today.json --markdown today.md --plot floor.svg
    Benchmarks/real.py --from-json today.json --plot floor.svg      nothing is measured

A movie is wrapped into the smallest capture that holds it, in the scratch folder. In each round everything runs
once, one after the other, every program into a folder of its own; outputs of a video are removed after its last
round. Figures are medians. Floor: decoding and conversion in one thread (`scanmill floor convert`) and writing
the bytes that the run wrote once more (`scanmill floor copy`), both without starting a program.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import floor_plot
from measuring import (
    Problem, bytes_in, capture_of, check_room, machine, median, number, run, settle, stop, table,
)
from timeline import alone

TUNED = ["-compression_level", "1", "-pred", "up"]


def ours(program, capture, output, jobs, more=(), while_running=None):
    """A color export; its report is in `output`."""
    words = [program, "run", capture, "--output", output, "--only", "color", "-j", jobs]
    words += ["--json", "-q", "--progress", "none"]
    return run(words + list(more), while_running=while_running)


def pictures(output):
    found = sorted(Path(output).glob("*/color/*.png"))
    if not found:
        raise Problem(f"{output}: no picture was written")
    return found


def sample_of_run(used, output):
    """Seconds, bytes of the pictures, and how long before the first and after the last of them."""
    times = []
    size = 0
    for path in pictures(output):
        status = path.stat()
        times.append(status.st_mtime_ns)
        size += status.st_size
    sample = used.seconds()
    sample["bytes"] = size
    sample["peak"] = used.peak
    sample["head"] = max(0, min(times) - used.began) / 1e9
    sample["tail"] = max(0, used.ended - max(times)) / 1e9
    return sample


class Video:
    """One video with all that is measured on it."""

    def __init__(self, name, path, arguments, place):
        self.name = name
        self.arguments = arguments
        self.place = place / f"video-{name}"
        self.place.mkdir()
        self.capture = capture_of(path, self.place)
        self.programs = {"after": arguments.after}
        if arguments.before:
            self.programs = {"before": arguments.before, "after": arguments.after}
        self.facts = self.inspect()
        self.samples = {}

    def inspect(self):
        found = json.loads(run([self.arguments.after, "inspect", "--json", self.capture]).output)
        color = found["streams"].get("color")
        if not color or not color.get("width"):
            raise Problem(f"{self.capture}: there is no color that could be read")
        return {
            "codec": color["encoding"], "width": color["width"], "height": color["height"],
            "frames": color["frames"], "file": str(Path(found["path"]) / color["file"]),
        }

    def add(self, name, sample, counts):
        if counts:
            self.samples.setdefault(name, []).append(sample)

    def part(self, part, *words):
        return json.loads(self.part_program(part, *words))

    def part_program(self, part, *words):
        return run([self.arguments.parts or self.arguments.after, "floor", part, *words]).output

    def export(self, key, program, folder, counts, more=()):
        output = folder / key
        used = ours(program, self.capture, output, self.arguments.jobs, more)
        self.add(key, sample_of_run(used, output), counts)
        return output

    def peer(self, key, options, folder, counts):
        output = folder / key
        output.mkdir()
        words = ["ffmpeg", "-nostdin", "-v", "error", "-i", self.facts["file"]]
        words += ["-fps_mode", "passthrough", *options, output / "%06d.png"]
        used = run(words)
        sample = used.seconds()
        sample["bytes"] = bytes_in(output, ".png")
        self.add(key, sample, counts)
        settle(output)

    def round(self, index, counts):
        folder = self.place / f"round-{index}"
        folder.mkdir()
        pixels = self.facts["frames"] * self.facts["width"] * self.facts["height"]
        check_room(folder, 2 * pixels * (4 + 2 * len(self.programs)) if index == 0 else self.bytes_of_round)
        steps = [lambda: self.add("decode", self.part("decode", self.capture), counts)]
        steps.append(lambda: self.add("convert", self.part("convert", self.capture), counts))
        steps.append(lambda: self.fast_and_copy(folder, counts))
        for name, program in self.programs.items():
            if name != "after":
                steps.append(lambda p=program, n=name: self.export(n + "-fast", p, folder, counts))
            if not self.arguments.no_compact:
                more = ["--set", "color.compression=compact"]
                steps.append(
                    lambda p=program, n=name: self.export(n + "-compact", p, folder, counts, more)
                )
            one = ["--set", "color.last=0"]
            steps.append(lambda p=program, n=name: self.export(n + "-one", p, folder, counts, one))
        if not self.arguments.no_peers:
            steps.append(lambda: self.peer("ffmpeg", [], folder, counts))
            steps.append(lambda: self.peer("tuned", TUNED, folder, counts))
        # Every second round the other way round: who comes first is not always the same.
        for step in steps if index % 2 == 0 else reversed(steps):
            step()
        self.bytes_of_round = bytes_in(folder)

    def fast_and_copy(self, folder, counts):
        output = self.export("after-fast", self.programs["after"], folder, counts)
        color = pictures(output)[0].parent
        copy = self.part("copy", color, folder / "copy")
        self.facts["pixels"] = copy["pixels"]
        self.facts["frames"] = copy["pictures"]
        self.add("copy", copy, counts)
        settle(folder)

    def measure(self):
        rounds = self.arguments.times + 1
        for index in range(rounds):
            print(f"run: {self.name}, round {index} of {rounds - 1}", file=sys.stderr)
            self.round(index, counts=index > 0)
            if index == 0:
                # Memory that a host must first supply costs system time: the page cache of all rounds, used once.
                self.part_program("touch", self.bytes_of_round * self.arguments.times)
        for name, program in self.programs.items():
            for index in range(self.arguments.times):
                output = self.place / f"timeline-{name}-{index}"
                found = {}
                ours(
                    program, self.capture, output, self.arguments.jobs,
                    while_running=lambda pid: found.update(alone(pid)),
                )
                self.samples.setdefault(name + "-timeline", []).append(found)
        result = {"name": self.name, **self.facts, "samples": self.samples}
        result["file"] = Path(self.facts["file"]).name
        shutil.rmtree(self.place)
        return result


# What is computed from samples; the tables and the plot use nothing else.


def middle(video, name, key="cpu"):
    """The median of a quantity, `None` for what was not measured."""
    samples = video["samples"].get(name, [])
    if key == "cpu":
        return median(s.get("cpu", s.get("userSeconds", 0) + s.get("systemSeconds", 0)) for s in samples)
    return median(s.get(key) for s in samples)


def per_picture(video, name, key="cpu"):
    value = middle(video, name, key)
    return None if value is None else 1000 * value / max(1, video["frames"])


def floor_of(video):
    return per_picture(video, "convert") + per_picture(video, "copy")


def per_megapixel(video, milliseconds):
    return milliseconds * video["frames"] / (video["pixels"] / 1e6)


def above(video, name):
    value = per_picture(video, name + "-fast")
    return None if value is None else per_megapixel(video, value - floor_of(video))


def ratio(a, b):
    return None if a is None or b is None or b == 0 else a / b


def busy(video, name):
    return ratio(middle(video, name), middle(video, name, "wall"))


def change(values, digits=None):
    """Before → after, or after alone."""
    return " → ".join(number(value, digits) for value in values if value is not None) or "–"


def percent(a, b):
    value = ratio(a, b)
    return None if value is None else 100 * value


def names(report):
    return [n for n in ("before", "after") if any(n + "-fast" in v["samples"] for v in report["videos"])]


def tables(report):
    versions = names(report)
    lines = [
        f"{report['machine']['processor']}, {report['machine']['cores']} cores, {report['machine']['system']}; "
        f"load {number(report['machine']['load'])} before, {number(report['loadAfter'])} after; "
        f"medians of {report['times']} rounds in turn"
        + ("; before → after" if len(versions) == 2 else "") + ".",
    ]
    if report["videos"]:
        lines += video_tables(report)
    if report.get("scene"):
        lines += ["", "A whole scene: color, depth, aligned depth, IMU rows:", ""]
        lines += table(
            ["what", "CPU s", "wall s", "times our CPU"],
            [[s["name"], number(s["cpu"]), number(s["wall"]), number(s["ratio"])] for s in report["scene"]],
        )
    return "\n".join(lines) + "\n"


def video_tables(report):
    versions = names(report)
    both = lambda function: change([function(name) for name in versions])
    whole = lambda function: change([function(name) for name in versions], 0)
    lines = ["", "CPU milliseconds per picture, and against the floor:", ""]
    lines += table(
        ["video", "size", "pictures", "decode", "decode + RGB", "copy", "ours", "user", "system",
         "ours / floor", "above the floor, ms/Mpx"],
        [
            [
                v["name"], f"{v['width']}×{v['height']} {v['codec']}", v["frames"],
                number(per_picture(v, "decode")), number(per_picture(v, "convert")),
                number(per_picture(v, "copy")), both(lambda n: per_picture(v, n + "-fast")),
                both(lambda n: per_picture(v, n + "-fast", "user")),
                both(lambda n: per_picture(v, n + "-fast", "system")),
                both(lambda n: ratio(per_picture(v, n + "-fast"), floor_of(v))),
                both(lambda n: above(v, n)),
            ]
            for v in report["videos"]
        ],
    )
    if any("ffmpeg" in v["samples"] for v in report["videos"]):
        lines += ["", "How many times our CPU and wall time the command lines of ffmpeg take:", ""]
        cells = []
        for v in report["videos"]:
            row = [v["name"]]
            for kind in ("fast", "compact"):
                for peer in ("ffmpeg", "tuned"):
                    for key in ("cpu", "wall"):
                        row.append(both(lambda n: ratio(middle(v, peer, key), middle(v, f"{n}-{kind}", key))))
            cells.append(row)
        lines += table(
            ["video"] + [
                f"{kind}, {peer}: {key}" for kind in ("fast", "compact") for peer in ("default", "tuned")
                for key in ("CPU", "wall")
            ], cells)
        lines += ["", "Size, % of the default and of the tuned command line:", ""]
        lines += table(
            ["video", "fast of default", "fast of tuned", "compact of default", "compact of tuned"],
            [
                [v["name"]] + [
                    whole(lambda n: percent(middle(v, f"{n}-{kind}", "bytes"), middle(v, peer, "bytes")))
                    for kind in ("fast", "compact") for peer in ("ffmpeg", "tuned")
                ]
                for v in report["videos"]
            ],
        )
    lines += ["", "Cores busy (CPU by wall of the run), time alone, and what one picture costs:", ""]
    thousand = lambda v, n, kind, key: None if middle(v, f"{n}-{kind}", key) is None else 1000 * middle(v, f"{n}-{kind}", key)
    lines += table(
        ["video", "wall ms/picture", "cores busy", "second core busy after ms", "first picture after ms",
         "one core alone at the end ms", "last picture to exit ms", "one picture: CPU ms", "one picture: wall ms",
         "peak MiB"],
        [
            [
                v["name"], both(lambda n: per_picture(v, n + "-fast", "wall")),
                both(lambda n: busy(v, n + "-fast")),
                whole(lambda n: thousand(v, n, "timeline", "head")), whole(lambda n: thousand(v, n, "fast", "head")),
                whole(lambda n: thousand(v, n, "timeline", "tail")), whole(lambda n: thousand(v, n, "fast", "tail")),
                whole(lambda n: thousand(v, n, "one", "cpu")), whole(lambda n: thousand(v, n, "one", "wall")),
                whole(lambda n: None if middle(v, n + "-fast", "peak") is None else middle(v, n + "-fast", "peak") / 2**20),
            ]
            for v in report["videos"]
        ],
    )
    return lines


def plotted(report):
    """Milliseconds per megapixel, for the plot: videos with bars, bars with parts."""
    shown = []
    for video in report["videos"]:
        decode = per_megapixel(video, per_picture(video, "decode"))
        convert = per_megapixel(video, per_picture(video, "convert"))
        copy = per_megapixel(video, per_picture(video, "copy"))
        bars = [
            (name, [decode, max(0, convert - decode), copy, max(0, above(video, name))])
            for name in names(report) if above(video, name) is not None
        ]
        shown.append((f"{video['name']} {video['width']}×{video['height']}", bars))
    return shown


def rendered(name, frames, arguments, place):
    """Videos A, C and D: rendered rooms with as many frames."""
    kinds = {
        "A": ["--seed", "5", "--noise", "3", "--exposure", str(1 / 60), "--quality", "20"],
        "C": ["--seed", "1", "--noise", "2", "--exposure", str(1 / 60), "--quality", "16"],
        "D": ["--seed", "11", "--noise", "2", "--exposure", str(1 / 30), "--quality", "24"],
    }
    words = [arguments.after, "synthesize", "scannet", "--output", place / f"rendered-{name}"]
    words += ["--frames", frames, "--truth-pictures", "0", *kinds[name]]
    return Path(run(words).output.splitlines()[0])


def measured(arguments, place):
    report = {"schema": 1, "machine": machine(), "times": arguments.times, "videos": []}
    for name in ("before", "after"):
        if getattr(arguments, name):
            report[name] = run([getattr(arguments, name), "--version"]).output.splitlines()[0]
    wanted = []
    for index, text in enumerate(arguments.videos):
        name, mark, path = text.partition("=")
        wanted.append((name, path) if mark else (Path(text).stem or str(index), text))
    if arguments.rendered:
        wanted += [(n, rendered(n, arguments.rendered, arguments, place)) for n in "ACD"]
    if not wanted and not arguments.scene:
        raise Problem("nothing to measure: name captures or movies, or --rendered FRAMES")
    for name, path in wanted:
        report["videos"].append(Video(name, path, arguments, place).measure())
    if arguments.scene:
        import scene

        report["scene"] = scene.measured(arguments, place)
    report["loadAfter"] = os.getloadavg()[0]
    return report


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="*", help="captures or movies, each as PATH or NAME=PATH")
    parser.add_argument("--before", help="an older build to compare with")
    parser.add_argument("--after", default=".build/release/scanmill", help="the program that is measured")
    parser.add_argument("--parts", metavar="PROGRAM",
                        help="measures the parts of the floor, where --after is a build that cannot")
    parser.add_argument("--times", type=int, default=3, help="measured rounds, after one to warm up")
    parser.add_argument("--jobs", default="0", help="as `run -j`")
    parser.add_argument("--folder", help="where to work; by default the system's folder for temporary files")
    parser.add_argument("--no-peers", action="store_true", help="leave ffmpeg out")
    parser.add_argument("--no-compact", action="store_true", help="leave `compact` out")
    parser.add_argument("--rendered", type=int, metavar="FRAMES", help="also videos A, C and D, rendered")
    parser.add_argument("--scene", type=int, metavar="FRAMES",
                        help="also a whole scene against ffmpeg and scripts (1912; long)")
    parser.add_argument("--python", default=sys.executable,
                        help="for the scripts of --scene: with numpy, and imageio or cv2")
    parser.add_argument("--json", metavar="FILE", help="write all samples")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables; by default they are printed")
    parser.add_argument("--plot", metavar="FILE", help="write the plot as SVG")
    parser.add_argument("--from-json", metavar="FILE", help="measure nothing, use the samples of --json")
    arguments = parser.parse_args()
    if arguments.times < 1:
        parser.error("--times is at least 1")
    try:
        if arguments.from_json:
            report = json.loads(Path(arguments.from_json).read_text())
        else:
            arguments.after = str(Path(arguments.after).resolve())
            with tempfile.TemporaryDirectory(prefix="scanmill-real-", dir=arguments.folder) as place:
                report = measured(arguments, Path(place))
    except (Problem, OSError, json.JSONDecodeError) as problem:
        stop(problem)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(report, indent=1) + "\n")
    if arguments.plot and report["videos"]:
        floor_plot.write(plotted(report), arguments.plot)
    text = tables(report) if report["videos"] or report.get("scene") else ""
    if arguments.markdown:
        Path(arguments.markdown).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
