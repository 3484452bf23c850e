"""`export-gpx` through gpxpy, and lxml for what gpxpy forgives."""

import re

import gpxpy
from lxml import etree

import places
from room import Problem, Reading

GPX = "{http://www.topografix.com/GPX/1/1}"
ORDER = ["ele", "time", "name", "cmt", "desc", "src", "sym", "type", "extensions"]


def _extension(point, name):
    found = [e.text for e in point.extensions if etree.QName(e).localname == name]
    return float(found[0]) if found else None


def read(folder):
    with open(folder / "track.gpx", encoding="utf-8") as file:
        reading = Reading()
        reading.gpx = gpxpy.parse(file)
    return reading


def check_more(reading, folder, tables, room, checker):
    gpx = reading.gpx
    checker.that((gpx.version, gpx.creator) == ("1.1", "scanmill"), "version or creator")
    found = [
        (w.latitude, w.longitude, _extension(w, "course"), _extension(w, "accuracy_horizontal"), w.time)
        for w in gpx.waypoints
    ]
    places.check_frames(found, tables, checker)
    for point, frame in zip(gpx.waypoints, tables.exported):
        checker.that(point.name == f"{frame:06}", f"frame {frame}: name {point.name}")
    points = [p for t in gpx.tracks for s in t.segments for p in s.points]
    places.check_track([(p.latitude, p.longitude) for p in points], tables, checker)
    times = [p.time for p in points]
    checker.that(all(t is None for t in times) or all(a < b for a, b in zip(times, times[1:])), "times")
    for track in gpx.tracks:
        for segment in track.segments:
            steps = [b.time - a.time for a, b in zip(segment.points, segment.points[1:]) if a.time]
            checker.that(all(s.total_seconds() <= 10.001 for s in steps), "a pause inside a segment")
    root = etree.parse(str(folder / "track.gpx"), etree.XMLParser(resolve_entities=False)).getroot()
    checker.that(root.tag == GPX + "gpx", "root")
    tags = [child.tag.removeprefix(GPX) for child in root]
    checker.that(tags == sorted(tags, key=["metadata", "wpt", "rte", "trk"].index), "order of the root")
    for point in root.iter(GPX + "wpt", GPX + "trkpt"):
        children = [child.tag.removeprefix(GPX) for child in point]
        checker.that(children == sorted(children, key=ORDER.index), f"order of {children}")
        for value in (point.get("lat"), point.get("lon")):
            checker.that(re.fullmatch(r"-?\d+(\.\d+)?", value), f"{value} is no decimal of XML Schema")
        checker.that(float(point.get("lon")) < 180, "longitude of 180 and more")
    for time in root.iter(GPX + "time"):
        checker.that(time.text.endswith("Z"), f"{time.text} is not UTC")


def _edit(pattern, replacement):
    def make(folder):
        path = folder / "track.gpx"
        text = path.read_text()
        changed = re.sub(pattern, replacement, text)
        if changed == text:
            return False
        path.write_text(changed)
        return None

    return make


def _shifted(folder):
    path = folder / "track.gpx"
    text = path.read_text()
    found = re.findall(r"<wpt [^>]*>", text)
    if len(set(found)) < 2:
        return False
    turned = iter(found[1:] + found[:1])
    path.write_text(re.sub(r"<wpt [^>]*>", lambda _: next(turned), text))
    return None


MISTAKES = {
    "longitude before latitude": _edit(r'lat="([^"]*)" lon="([^"]*)"', r'lat="\2" lon="\1"'),
    "places shifted by one frame": _shifted,
    "times an hour off": _edit(
        r"T(\d\d):(\d\d:\d\d\.\d+)Z", lambda m: f"T{(int(m[1]) + 1) % 24:02}:{m[2]}Z"
    ),
    "times without Z": _edit(r"(\.\d{3})Z", r"\1"),
    "heading in radians": _edit(
        r"(:course>)([\d.]+)", lambda m: f"{m[1]}{(float(m[2]) + 1) * 3.14159 / 180}"
    ),
    "accuracy of 0 for unknown": _edit(r"(:accuracy_horizontal>)[\d.]+", r"\g<1>0"),
    "extensions before the name": _edit(
        r"(?s)(<name>\d{6}</name>)(\s*)(<extensions>.*?</extensions>)", r"\3\2\1"
    ),
    "title that is not escaped": _edit(r"<name>(\D[^<]*)</name>", r"<name>a < b & c</name>"),
    "raw points instead of knots": _edit(r"(?s)(<trkpt .*?</trkpt>)", r"\1\1\1\1"),
}
