"""`export-kml` through fastkml, which checks it, and lxml."""

import re
from datetime import datetime

import fastkml
from lxml import etree

import places
from room import Reading

KML = "{http://www.opengis.net/kml/2.2}"
GX = "{http://www.google.com/kml/ext/2.2}"


def read(folder):
    reading = Reading()
    reading.kml = fastkml.KML.parse(str(folder / "track.kml"), strict=True)
    reading.root = etree.parse(str(folder / "track.kml")).getroot()
    return reading


def check_more(reading, folder, tables, room, checker):
    documents = list(reading.kml.features)
    checker.that(len(documents) == 1 and documents[0].name, "no document with a name")
    root = reading.root
    points = []
    for track in root.iter(GX + "Track"):
        times = [e.text for e in track.findall(KML + "when")]
        coordinates = [e.text.split(" ") for e in track.findall(GX + "coord")]
        angles = [e.text.split(" ") for e in track.findall(GX + "angles")]
        checker.that(len(times) == len(coordinates), f"{len(times)} times, {len(coordinates)} places")
        checker.that(len(angles) in (0, len(times)), f"{len(angles)} angles, {len(times)} times")
        checker.that(all(len(c) == 3 for c in coordinates + angles), "not 3 numbers")
        checker.that(all(0 <= float(a[0]) < 360 and a[1:] == ["0", "0"] for a in angles), "angles")
        stamps = [datetime.fromisoformat(t.replace("Z", "+00:00")) for t in times]
        checker.that(all(a < b for a, b in zip(stamps, stamps[1:])), "times do not increase")
        first, last = sorted(places.rows(tables))[0], sorted(places.rows(tables))[-1]
        start, end = (places.expected_time(tables, f) for f in (first, last))
        for stamp in stamps:
            off = max((start - stamp).total_seconds(), (stamp - end).total_seconds())
            checker.that(off < 60, f"{stamp} is {off} s off the recording")
        tags = [e.tag for e in track]
        order = [KML + "altitudeMode", KML + "when", GX + "coord", GX + "angles"]
        checker.that(tags == sorted(tags, key=order.index), "order of gx:Track")
        points += [(float(latitude), float(longitude)) for longitude, latitude, _ in coordinates]
    for element in root.iter(KML + "coordinates"):
        for place in element.text.split():
            longitude, latitude = place.split(",")
            points.append((float(latitude), float(longitude)))
    places.check_track(points, tables, checker)
    if list(root.iter(GX + "angles")):
        headings = {float(e.text.split(" ")[0]) for e in root.iter(GX + "angles")}
        recorded = [float(r["heading_deg"]) for r in places.rows(tables).values() if r["heading_deg"]]
        checker.that(
            max(headings) <= max(recorded) + 30 and max(headings) > 2 * 3.1416 or max(recorded) < 7,
            "headings are not those of the capture",
        )


def _edit(pattern, replacement):
    def make(folder):
        path = folder / "track.kml"
        text = path.read_text()
        changed = re.sub(pattern, replacement, text)
        if changed == text:
            return False
        path.write_text(changed)
        return None

    return make


MISTAKES = {
    "latitude before longitude": _edit(
        r"<gx:coord>(\S+) (\S+) 0|(?<=[ >])(-?[\d.]+),(-?[\d.]+)(?=[ <])",
        lambda m: f"<gx:coord>{m[2]} {m[1]} 0" if m[1] else f"{m[4]},{m[3]}",
    ),
    "commas in gx:coord": _edit(r"<gx:coord>(\S+) (\S+) 0", r"<gx:coord>\1,\2,0"),
    "one time less": _edit(r"<when>[^<]*</when>\s*(?=<gx:coord)", ""),
    "times an hour off": _edit(
        r"T(\d\d):(\d\d:\d\d\.\d+)Z", lambda m: f"T{(int(m[1]) + 1) % 24:02}:{m[2]}Z"
    ),
    "heading in radians": _edit(
        r"<gx:angles>(\S+)", lambda m: f"<gx:angles>{float(m[1]) * 3.14159 / 180}"
    ),
    "title that is not escaped": _edit(r"<name>[^<]*</name>", "<name>a < b & c</name>"),
}
