#!/usr/bin/env python3
"""What docs/performance.md begins with, by one command on a quiet machine: sentences, table and plot.

    Benchmarks/performance.py "LiDAR scan=CAPTURE" "phone movie=MOVIE.mov" --rendered 200 --write docs/performance.md
    Benchmarks/performance.py --reports FOLDER --write docs/performance.md        nothing is measured

Runs `scanmill bench --floor --compare ffmpeg,ffmpeg-tuned,opencv --json` over each capture; a movie is wrapped into
the smallest capture that holds it. Reports are kept with --reports FOLDER, one file for each; what is there already
is not measured again. Without --write the page's beginning is printed. The plot lies beside the page as
performance.svg, or where --plot says.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import performance_plot
from measuring import Problem, capture_of, number, run, stop, table
from real import rendered

PEERS = "ffmpeg,ffmpeg-tuned,opencv"
OURS = "scanmill, fast"
DEFAULT, TUNED, OPENCV = "ffmpeg, default", "ffmpeg, level 1, up", "opencv"
BEGIN, END = "<!-- made by Benchmarks/performance.py -->", "<!-- end of what is made -->"


def bench(arguments, capture):
    """One report of `bench --json`."""
    words = [arguments.program, "bench", capture, "--pipeline", arguments.pipeline, "--floor", "--compare", arguments.peers]
    words += ["--repeat", arguments.repeat, "--warmup", arguments.warmup, "--json", "-q"]
    if arguments.folder:
        words += ["--scratch", arguments.folder]
    # 69: a peer is not installed. 1: a floor was not measured. The report is printed before and says so.
    used = run(words, accepted=(0, 1, 69))
    try:
        return json.loads(used.output)
    except json.JSONDecodeError as problem:
        raise Problem(f"{capture}: no report was printed; try scanmill bench --floor by hand") from problem


class Video:
    """The figures of one capture, from its report."""

    def __init__(self, name, report):
        self.name = name
        self.report = report
        captures = report.get("captures") or []
        if not captures:
            raise Problem(f"{name}: the report holds no capture")
        self.capture = captures[0]
        self.is_rendered = bool(report.get("rendered"))
        floor = self.capture.get("floor") or {}
        found = [stage for stage in floor.get("stages", []) if stage["name"] == "color"]
        if not found:
            raise Problem(f"{name}: the report has no floor of color: " + "; ".join(floor.get("notes", [])))
        self.floor = found[0]
        self.comparison = self.capture.get("comparison") or {"note": "", "ours": [], "peers": [], "ratios": []}

    def cpu(self, name):
        """CPU seconds of a command line in the comparison; `None` where it was not run."""
        for figures in self.comparison["ours"] + self.comparison["peers"]:
            if figures["name"] == name:
                return figures["cpuSeconds"]["median"]
        return None

    def ratio(self, peer, key):
        for ratio in self.comparison["ratios"]:
            if ratio["ours"] == OURS and ratio["peer"] == peer:
                return ratio["theirsByOurs"][key]
        return None

    @property
    def distance(self):
        return self.floor.get("oursByFloor")

    @property
    def megapixels_each(self):
        return self.floor["megapixels"] / max(1, self.floor["frames"])

    def per_megapixel(self, seconds):
        return 1000 * seconds / self.floor["megapixels"]

    @property
    def bars(self):
        """For the plot; `ours` and the floor are of the same rounds."""
        bars = [
            ("floor", self.floor["floorSeconds"]), ("ours", self.floor["ours"]["cpuSeconds"]["median"]),
            ("tuned", self.cpu(TUNED)), ("default", self.cpu(DEFAULT)), ("opencv", self.cpu(OPENCV)),
        ]
        return [(kind, self.per_megapixel(value)) for kind, value in bars if value is not None]

    @property
    def row(self):
        times = lambda peer: "–" if self.ratio(peer, "cpuSeconds") is None else number(self.ratio(peer, "cpuSeconds"), 1) + "×"
        size = lambda peer: "–" if not self.ratio(peer, "outputBytes") else f"{self.ratio(peer, 'outputBytes'):.2f}×"
        return [
            self.name, "rendered" if self.is_rendered else "recorded", f"{self.floor['frames']} × {number(self.megapixels_each)}",
            times(DEFAULT), times(TUNED), times(OPENCV), size(DEFAULT), size(TUNED), number(self.distance),
            number(self.floor.get("aboveFloorMillisecondsPerMegapixel")),
        ]


HEADS = [
    "video", "kind", "pictures × Mpx", "ffmpeg's default: CPU", "ffmpeg tuned: CPU", "OpenCV: CPU",
    "ffmpeg's default: size", "ffmpeg tuned: size", "ours ÷ floor: CPU", "above the floor, ms/Mpx",
]


def span(values, digits, unit):
    """`1.5–2.3×`; one number where all round to the same."""
    texts = sorted({f"{value:.{digits}f}" for value in values if value is not None}, key=float)
    if not texts:
        return "(not measured)"
    return (texts[0] if len(texts) == 1 else f"{texts[0]}–{texts[-1]}") + unit


def measured_on(report):
    """The circumstances of a report, in a line."""
    machine = report["machine"]
    build = report.get("build") or {}
    parts = [f"{machine['processor']}, {machine['cores']} cores", machine["system"]]
    parts.append("governor " + machine.get("governor", "unknown"))
    load = number(machine.get("loadBefore"))
    parts.append(f"load {load} before and {number(machine.get('loadAfter'))} after")
    parts.append("outputs on " + machine.get("fileSystem", "unknown"))
    parts.append(
        f"scanmill {report['version']}, commit {(build.get('commit') or 'unknown')[:12]}, {build.get('configuration', 'unknown')} build, "
        f"Swift {build.get('swift', 'unknown')}")
    libraries = build.get("libraries", {})
    parts += [f"{name} {libraries[name]}" for name in ("libavcodec", "libswscale") if name in libraries]
    parts += [f"{name} {version}" for name, version in sorted((report.get("peers") or {}).items()) if name != "ffmpeg-tuned"]
    settings = report["settings"]
    rounds = "1 round" if settings["repeats"] == 1 else f"medians of {settings['repeats']} rounds"
    parts.append(f"{rounds} in turn after {settings['warmups']} to warm up")
    return "; ".join(parts)


def sentences(videos):
    """Lines: time, size and limit for everybody, then what was measured on what."""
    kinds = [("recorded videos", [v for v in videos if not v.is_rendered]),
             ("rendered rooms", [v for v in videos if v.is_rendered])]
    kinds = [(name, some) for name, some in kinds if some]
    cpu = lambda some, peer: span([v.ratio(peer, "cpuSeconds") for v in some], 1, " ×")
    times, sizes = [], []
    for index, (name, some) in enumerate(kinds):
        default, tuned = cpu(some, DEFAULT), cpu(some, TUNED)
        times.append(
            f"{default} our CPU time with its default settings and {tuned} with its fastest settings on {name}"
            if index == 0 else f"{default} and {tuned} on {name}")
        size = span([v.ratio(TUNED, "outputBytes") for v in some], 2, " ×")
        sizes.append(f"{size} the bytes of ours on {name}" if index == 0 else f"{size} on {name}")
    counts = [f"{len(some)} {name.split()[0]}" for name, some in kinds]
    # Each in its own report: the machine is the same, the load is not.
    number_of = "1 video" if len(videos) == 1 else f"{len(videos)} videos"
    dates = sorted({(v.report.get("started") or "")[:10] for v in videos} - {""})
    when = f" on {dates[0] if len(dates) == 1 else dates[0] + ' to ' + dates[-1]}" if dates else ""
    groups = [
        ("pictures of 2 megapixels and more", [v for v in videos if v.megapixels_each >= 1.95]),
        ("pictures of 1 to 2 megapixels", [v for v in videos if 1 <= v.megapixels_each < 1.95]),
        ("smaller ones", [v for v in videos if v.megapixels_each < 1]),
    ]
    limits = [(span([v.distance for v in some], 2, " ×"), name) for name, some in groups if some]
    limit = ", ".join(
        f"{span_} its CPU time with {name}" if index == 0 else f"{span_} with {name}"
        for index, (span_, name) in enumerate(limits))
    return [
        "Color export (`fast`, the default compression) against ffmpeg on the same videos:", "",
        f"* **Time:** ffmpeg takes {', '.join(times)}.",
        f"* **Size:** the files of ffmpeg's fastest settings have {', '.join(sizes)}.",
        "* **Limit:** decoding, converting and writing the same bytes with the same libraries, and nothing else, is called "
        f"*the floor*. The whole program takes {limit}.", "",
        f"Measured{when} on {number_of}, {' and '.join(counts)}: {measured_on(videos[0].report)}.",
    ]


def warnings(videos):
    """What spoils figures, a sentence for each kind."""
    kinds = {}

    def add(kind, name):
        kinds.setdefault(kind, []).append(name)

    for video in videos:
        machine = video.report["machine"]
        if (machine.get("loadBefore") or 0) > 0.5 * machine["cores"]:
            add("measured on a busy machine", video.name)
        if (video.report.get("build") or {}).get("configuration") == "debug":
            add("measured with a debug build, whose times say nothing", video.name)
        for text in video.comparison.get("missing") or []:
            add(text, video.name)
        for check in video.comparison.get("checks") or []:
            if check["pictures"] != check["ourPictures"]:
                add(f"{check['name']} wrote {check['pictures']} pictures, scanmill {check['ourPictures']}", video.name)
    def which(names):
        return "all" if len(names) == len(videos) > 2 else ", ".join(names)

    return [f"{kind}: {which(names)}" for kind, names in kinds.items()]


def other_pixels(videos):
    """Peers whose pixels are not ours, in a sentence; empty where all are the same."""
    names = sorted({
        check["name"] for video in videos for check in video.comparison.get("checks") or []
        if check.get("differingShare")
    })
    return f"Pixels of {', '.join(names)} differ from ours. " if names else ""


def page(videos, plot):
    lines = [BEGIN, *sentences(videos), ""]
    for text in warnings(videos):
        lines += [f"**Note:** {text}.", ""]
    lines += table(HEADS, [video.row for video in videos])
    lines += [
        "",
        "CPU and size are ratios theirs ÷ ours: above 1, scanmill needs less. CPU time is from start to end, on all cores, "
        f"on the same video. Tuned: `-compression_level 1 -pred up`. {other_pixels(videos)}The floor is the other way, "
        "ours ÷ floor: 1 would be the floor itself.", "",
        f"![{performance_plot.TITLE}: ours, peers, and the floor]({Path(plot).name})", END,
    ]
    return "\n".join(lines) + "\n"


def put(text, path):
    """Replaces what an earlier run of this script made in a page."""
    old = Path(path).read_text()
    begin, end = old.find(BEGIN), old.find(END)
    if begin < 0 or end < begin:
        raise Problem(f"{path}: the lines '{BEGIN}' and '{END}' are not there; between them goes what is made")
    Path(path).write_text(old[:begin] + text.rstrip("\n") + old[end + len(END):])


def wait_until_quiet(seconds):
    """Our own runs make load as well: waits until the last minute was quiet, at most so long."""
    deadline = time.monotonic() + seconds
    limit = 0.25 * len(os.sched_getaffinity(0))
    while os.getloadavg()[0] > limit and time.monotonic() < deadline:
        time.sleep(min(5, max(0, deadline - time.monotonic())))


def reports(arguments, place):
    """Pairs of a name and a report; measured where --reports does not hold it."""
    kept = Path(arguments.reports) if arguments.reports else place / "reports"
    kept.mkdir(parents=True, exist_ok=True)
    wanted = []
    for text in arguments.videos:
        name, mark, path = text.partition("=")
        wanted.append((name, path, False) if mark else (Path(text).stem, text, False))
    if arguments.rendered:
        arguments.after = arguments.program
        wanted += [(f"room {name}", name, True) for name in "ACD"]
    for name, source, is_rendered in wanted:
        file = kept / (name.replace("/", "-") + ".json")
        if file.exists():
            print(f"kept: {file}", file=sys.stderr)
            continue
        capture = rendered(source, arguments.rendered, arguments, place) if is_rendered else capture_of(source, place)
        print(f"run: {name}", file=sys.stderr)
        wait_until_quiet(arguments.quiet)
        report = {"name": name, "rendered": is_rendered, **bench(arguments, capture)}
        Video(name, report)
        file.write_text(json.dumps(report, indent=1) + "\n")
    order = {name: index for index, (name, _, _) in enumerate(wanted)}
    found = [json.loads(file.read_text()) for file in sorted(kept.glob("*.json"))]
    found = [report for report in found if report.get("captures")]
    if not found:
        raise Problem("nothing to measure: name captures or movies, --rendered FRAMES, or --reports with a folder of reports")
    return sorted(found, key=lambda report: (order.get(report["name"], len(order)), report["rendered"], report["name"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="*", help="captures or movies, each as PATH or NAME=PATH")
    parser.add_argument("--rendered", type=int, metavar="FRAMES", help="also rooms A, C and D, rendered")
    parser.add_argument("--program", default=".build/release/scanmill", help="what is measured")
    parser.add_argument("--pipeline", default=str(Path(__file__).with_name("color.yaml")), help="as bench --pipeline; it must have a stage color")
    parser.add_argument("--peers", default=PEERS, help="as bench --compare")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--quiet", type=float, default=300, metavar="SECONDS",
                        help="how long a quiet machine is waited for before each video")
    parser.add_argument("--folder", help="where outputs go; by default the system's folder for temporary files")
    parser.add_argument("--reports", metavar="FOLDER", help="keep the reports there, and use those that are there")
    parser.add_argument("--write", metavar="PAGE", help="put the text between the marks in this page")
    parser.add_argument("--plot", metavar="FILE", help="write the plot as SVG; default: performance.svg beside the page")
    arguments = parser.parse_args()
    try:
        if arguments.videos or arguments.rendered:
            arguments.program = str(Path(arguments.program).resolve())
        with tempfile.TemporaryDirectory(prefix="scanmill-performance-", dir=arguments.folder) as place:
            videos = [Video(report["name"], report) for report in reports(arguments, Path(place))]
        plot = arguments.plot or (Path(arguments.write).parent / "performance.svg" if arguments.write else None)
        if plot:
            performance_plot.write(
                [(f"{video.name}, {number(video.megapixels_each)} Mpx", video.bars) for video in videos], plot)
        text = page(videos, plot or "performance.svg")
        if arguments.write:
            put(text, arguments.write)
        else:
            print(text, end="")
        for warning in warnings(videos):
            print(f"warning: {warning}", file=sys.stderr)
    except (Problem, OSError, KeyError, ValueError) as problem:
        stop(problem)


if __name__ == "__main__":
    main()
