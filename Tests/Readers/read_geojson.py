"""`export-geojson` through `geojson`."""

from datetime import datetime

import geojson

import places
from room import Reading


def read(folder):
    reading = Reading()
    # The package rounds to 6 digits unless told otherwise.
    geojson.geometry.Geometry.__init__.__kwdefaults__ = None
    geojson.geometry.DEFAULT_PRECISION = 15
    text = (folder / "track.geojson").read_text(encoding="utf-8")
    reading.collection = geojson.loads(text)
    if not reading.collection.is_valid:
        raise ValueError(str(reading.collection.errors()))
    return reading


def _lines(geometry):
    kind, coordinates = geometry["type"], geometry["coordinates"]
    return {
        "Point": lambda: [[coordinates]],
        "MultiPoint": lambda: [[c] for c in coordinates],
        "LineString": lambda: [coordinates],
        "MultiLineString": lambda: coordinates,
    }[kind]()


def check_more(reading, folder, tables, room, checker):
    collection = reading.collection
    checker.that(collection["type"] == "FeatureCollection" and "crs" not in collection, "collection")
    frames = [f for f in collection["features"] if "frame" in f["properties"]]
    tracks = [f for f in collection["features"] if "frame" not in f["properties"]]
    keys = {"frame", "timestamp_ns", "time", "heading_deg", "accuracy_m", "source"}
    table = places.rows(tables)
    found = []
    for feature, frame in zip(frames, tables.exported):
        values = feature["properties"]
        checker.that(set(values) == keys, f"properties {sorted(values)}")
        checker.that(values["frame"] == frame, f"frame {values['frame']}, not {frame}")
        stamp = tables.frames[frame]["timestamp_ns"]
        checker.that(values["timestamp_ns"] == (int(stamp) if stamp else None), f"frame {frame}: timestamp")
        checker.that(values["source"] == table[frame]["source"], f"frame {frame}: source")
        longitude, latitude = feature["geometry"]["coordinates"]
        time = values["time"] and datetime.fromisoformat(values["time"].replace("Z", "+00:00"))
        found.append((latitude, longitude, values["heading_deg"], values["accuracy_m"], time))
    checker.that(len(frames) == len(tables.exported), f"{len(frames)} frames")
    places.check_frames(found, tables, checker)
    checker.that(len(tracks) >= 1, "no track")
    points = []
    for feature in tracks:
        lines = _lines(feature["geometry"])
        for line in lines:
            points += [(latitude, longitude) for longitude, latitude in line]
            for a, b in zip(line, line[1:]):
                checker.that(abs(a[0] - b[0]) <= 180, "a line across 180 degrees")
        if feature["geometry"]["type"].endswith("LineString"):
            checker.that(all(len(set(map(tuple, line))) > 1 for line in lines), "a line of one position")
    places.check_track(points, tables, checker)


def _edit(change):
    def make(folder):
        import json

        path = folder / "track.geojson"
        document = json.loads(path.read_text())
        if change(document["features"]) is False:
            return False
        path.write_text(json.dumps(document))
        return None

    return make


def _swapped(features):
    def turn(value):
        return value[::-1] if isinstance(value[0], float) else [turn(v) for v in value]

    for feature in features:
        feature["geometry"]["coordinates"] = turn(feature["geometry"]["coordinates"])


def _rounded(features):
    before = str(features)
    for feature in features:
        if feature["geometry"]["type"] == "Point":
            feature["geometry"]["coordinates"] = [round(v, 6) for v in feature["geometry"]["coordinates"]]
    return None if str(features) != before else False


def _shifted(features):
    frames = [f for f in features if "frame" in f["properties"]]
    geometries = [f["geometry"] for f in frames]
    if len({str(g) for g in geometries}) < 2:
        return False
    for feature, geometry in zip(frames, geometries[1:] + geometries[:1]):
        feature["geometry"] = geometry
    return None


def _properties(change):
    def make(features):
        before = str(features)
        for feature in features:
            if "frame" in feature["properties"]:
                change(feature["properties"])
        return None if str(features) != before else False

    return _edit(make)


def _zeros(values):
    for key in ("heading_deg", "accuracy_m"):
        if values[key] is None:
            values[key] = 0


MISTAKES = {
    "latitude before longitude": _edit(_swapped),
    "rounded to 6 digits": _edit(_rounded),
    "places shifted by one frame": _edit(_shifted),
    "milliseconds": _properties(
        lambda v: v.update(timestamp_ns=v["timestamp_ns"] and v["timestamp_ns"] // 1_000_000)
    ),
    "0 for unknown": _properties(_zeros),
    "heading in radians": _properties(
        lambda v: v.update(heading_deg=v["heading_deg"] and v["heading_deg"] * 3.14159 / 180)
    ),
    "a frame without place": _edit(lambda features: features.pop() and None),
}
