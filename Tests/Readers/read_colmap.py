"""`export-colmap` through pycolmap, on the text and on the binary form apart, and through a plain reading of what
COLMAP's `read_write_model.py` and the loader of 3D Gaussian splatting do with the same files."""

import json
import shutil
import sqlite3
import struct
import tempfile
from pathlib import Path

import cv2
import numpy as np
import pycolmap

from changes import lines as change_lines
from room import Frame, Problem, Reading, rotation, rows, to_world, unproject

PARAMETERS = {"PINHOLE": 4, "OPENCV": 8, "FULL_OPENCV": 12}
MODELS = {1: "PINHOLE", 4: "OPENCV", 6: "FULL_OPENCV"}
TABLES = ("cameras", "images", "points3D")


def read(folder):
    found = {}
    for ending in ("txt", "bin"):
        if not (folder / f"sparse/0/images.{ending}").exists():
            continue
        # Alone in a folder: with both there, binary is taken.
        with tempfile.TemporaryDirectory() as place:
            for table in TABLES:
                shutil.copy(folder / f"sparse/0/{table}.{ending}", place)
            found[ending] = _through_pycolmap(place)
        _compare(found[ending], _plain(folder, ending), ending)
    if len(found) == 2:
        _compare(found["txt"], found["bin"], "text and binary")
    cameras, images, points = found.get("bin") or found["txt"]

    names = sorted(p.relative_to(folder / "images").as_posix() for p in (folder / "images").rglob("*"))
    if names != [images[i]["name"] for i in sorted(images)]:
        raise ValueError("images/ and the model name other pictures, or in another order")
    reading = Reading(has_one_camera=len(cameras) == 1)
    for number in sorted(images):
        image = images[number]
        world_to_camera = np.eye(4)
        w, x, y, z = image["q"]
        world_to_camera[:3, :3] = rotation(x, y, z, w)
        world_to_camera[:3, 3] = image["t"]
        # Center of the corner pixel at 0.5.
        fx, fy, cx, cy = cameras[image["camera"]]["parameters"][:4]
        path = folder / "images" / image["name"]
        reading.frames.append(
            Frame(
                frame=int(Path(image["name"]).stem), pose=np.linalg.inv(world_to_camera),
                camera=(fx, fy, cx - 0.5, cy - 0.5),
                color=lambda path=path: cv2.imread(str(path))[..., ::-1],
            )
        )
        reading.color_is_exact &= path.suffix == ".png"
    if len(points):
        reading.points = np.array([p["xyz"] for p in points])
        reading.colors = np.array([p["rgb"] for p in points])
    return reading


def check_more(reading, folder, tables, room, checker):
    document = tables.export
    height, width = reading.frames[0].color().shape[:2]
    cameras = _text_cameras(folder) or _binary_cameras(folder)
    sizes = {(camera["width"], camera["height"]) for camera in cameras.values()}
    checker.that(sizes == {(width, height)}, f"cameras have {sizes}, pictures {width} x {height}")
    count = 0 if reading.points is None else len(reading.points)
    checker.that(count == document["points"], f"{count} points, export.json says {document['points']}")
    if count:
        check_colors(reading, checker)
    if (folder / "database.db").exists():
        check_database(folder, document, checker)
    if (folder / "pairs.txt").exists():
        check_pairs(folder, reading, tables, checker)


def check_pairs(folder, reading, tables, checker):
    """COLMAP finds both pictures of each line, and no picture shares more with others than with those it is paired with."""
    lines = [tuple(line.split(" ")) for line in (folder / "pairs.txt").read_text().splitlines()]
    checker.that(len(lines) == tables.export["pairs"], f"{len(lines)} pairs, export.json says {tables.export['pairs']}")
    checker.that(len(set(map(frozenset, lines))) == len(lines), "a pair is there twice")
    if (folder / "database.db").exists():
        with tempfile.TemporaryDirectory() as place:
            shutil.copy(folder / "database.db", place)
            database = pycolmap.Database.open(str(Path(place) / "database.db"))
            options = pycolmap.ImportedPairingOptions()
            options.match_list_path = str(folder / "pairs.txt")
            found = pycolmap.ImportedPairGenerator(options, database).all_pairs()
            names = {i.image_id: i.name for i in database.read_all_images()}
            database.close()
        opened = [(names[a], names[b]) for a, b in found]
        checker.that(opened == lines, f"COLMAP reads {opened}")
    number = {Path(name).name: n for n, name in enumerate(row["name"] for row in rows(folder / "frames.csv"))}
    checker.that(all(a in number and b in number for a, b in lines), "a name that no picture has")
    pairs = {frozenset((number[a], number[b])) for a, b in lines}
    checker.that(all(len(pair) == 2 for pair in pairs), "a picture paired with itself")
    shares = np.array([[_share(tables, a, b) for b in reading.frames] for a in reading.frames])
    shares = np.minimum(shares, shares.T)
    np.fill_diagonal(shares, 0)
    most = json.loads((folder / "artifact.json").read_text())["parameters"]["pairs"]
    # The export looks at fewer points.
    off = 0.08
    lowest = np.sort(shares, axis=1)[:, -most]
    for a, b in map(sorted, pairs):
        own = shares[a, b]
        checker.that(own > 0.1 - off, f"numbers {a} and {b} share {own:.2f}")
        checker.that(own > min(lowest[a], lowest[b]) - off, f"numbers {a} and {b} share less than others: {own:.2f}")
    for n in range(len(shares)):
        partners = sum(n in pair for pair in pairs)
        checker.that(partners >= min(most, (shares[n] > 0.1 + off).sum()), f"number {n} has {partners} partners")


def _share(tables, a, b):
    """Of the surfaces that `a` shows, the part that `b` shows too."""
    depth, there = (list(tables.depths(f.frame))[-1] / 1000 for f in (a, b))
    depth[::2] = depth[:, ::2] = 0
    points = to_world(np.linalg.inv(b.pose), to_world(a.pose, unproject(depth, a.camera)[0]))
    fx, fy, cx, cy = b.camera
    x, y, z = points[points[:, 2] > 0].T
    u, v = np.rint(x / z * fx + cx).astype(int), np.rint(y / z * fy + cy).astype(int)
    inside = (u >= 0) & (v >= 0) & (u < there.shape[1]) & (v < there.shape[0])
    return (abs(there[v[inside], u[inside]] - z[inside]) <= 0.05 + 0.05 * z[inside]).sum() / len(points)


def check_database(folder, document, checker):
    """The database says what the model says, and where the cameras are. A copy is opened: COLMAP adds its tables."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(folder / "database.db", place)
        database = pycolmap.Database.open(str(Path(place) / "database.db"))
        stored = {c.camera_id: c for c in database.read_all_cameras()}
        pictures = {i.image_id: i for i in database.read_all_images()}
        priors = {p.corr_data_id.id: p for p in database.read_all_pose_priors()}
        frames = {f.frame_id: f for f in database.read_all_frames()}
        rigs = {r.rig_id: r for r in database.read_all_rigs()}
        database.close()
    ending = "txt" if (folder / "sparse/0/images.txt").exists() else "bin"
    cameras, images, _ = _plain(folder, ending)
    own = {
        i: {
            "model": c.model.name, "width": c.width, "height": c.height, "parameters": list(c.params),
        }
        for i, c in stored.items()
    }
    checker.that(own == cameras, f"cameras of the database: {own}, of the model: {cameras}")
    checker.that(all(c.has_prior_focal_length for c in stored.values()), "a focal length that is not known")
    checker.that(
        {i: (p.name, p.camera_id) for i, p in pictures.items()}
        == {i: (p["name"], p["camera"]) for i, p in images.items()},
        "images of the database are not those of the model",
    )
    checker.that(
        {i: r.ref_sensor_id.id for i, r in rigs.items()} == {i: i for i in cameras}, "rigs"
    )
    checker.that(
        {i: (f.rig_id, [(d.id, d.sensor_id.id) for d in f.data_ids]) for i, f in frames.items()}
        == {i: (p["camera"], [(i, p["camera"])]) for i, p in images.items()},
        "frames",
    )
    checker.that(sorted(priors) == sorted(images), "priors of other images")
    downs = []
    for number, image in images.items():
        prior = priors[number]
        w, x, y, z = image["q"]
        turn = rotation(x, y, z, w)
        off = abs(turn.T @ -np.array(image["t"]) - prior.position).max()
        checker.that(off < 1e-9, f"image {number}: the prior is {off:.3g} m from its camera")
        checker.that(prior.corr_data_id.sensor_id.id == image["camera"], f"image {number}: camera")
        checker.that(
            prior.coordinate_system == pycolmap.PosePriorCoordinateSystem.CARTESIAN, "no Cartesian prior"
        )
        if prior.has_position_cov():
            checker.that(
                np.allclose(prior.position_covariance, 0.0025 * np.eye(3), atol=1e-15),
                f"covariance {prior.position_covariance}",
            )
        if prior.has_gravity():
            downs.append(turn.T @ prior.gravity)
    settings = document.get("database") or {}
    checker.that(settings.get("gravity") == (len(downs) == len(images)), f"gravity of {len(downs)} images")
    checker.that(
        settings.get("covariance") == all(p.has_position_cov() for p in priors.values()), "covariances"
    )
    for down in downs:
        # y is up in the worlds of phones, z in those of scenes.
        along = [np.array([0.0, -1, 0]), np.array([0.0, 0, -1])]
        checker.that(
            any(np.allclose(down, a, atol=1e-9) for a in along) and np.allclose(down, downs[0], atol=1e-9),
            f"gravity points to {down} in the world",
        )


def _alter(folder, *statements):
    """Changes the database, with a function `turned` that shifts the bytes of a vector by one number."""
    path = folder / "database.db"
    if not path.exists():
        return False
    database = sqlite3.connect(path)
    database.create_function("turned", 1, lambda b: b and b[8:] + b[:8])
    database.create_function("negated", 1, lambda b: b and (-np.frombuffer(b)).tobytes())
    before = list(database.iterdump())
    with database:
        for statement in statements:
            if "gravity" in statement and "gravity" not in "".join(before):
                return False
            database.execute(statement)
    changed = list(database.iterdump()) != before
    database.close()
    return changed



def check_colors(reading, checker):
    """Points have the colors of the pictures that see them."""
    frame = reading.frames[0]
    inverse = np.linalg.inv(frame.pose)
    seen = reading.points @ inverse[:3, :3].T + inverse[:3, 3]
    fx, fy, cx, cy = frame.camera
    picture = cv2.blur(np.ascontiguousarray(frame.color()), (5, 5)).astype(float)
    height, width = picture.shape[:2]
    front = seen[:, 2] > 0.1
    x = np.full(len(seen), -1)
    y = np.full(len(seen), -1)
    x[front] = np.rint(seen[front, 0] / seen[front, 2] * fx + cx).astype(int)
    y[front] = np.rint(seen[front, 1] / seen[front, 2] * fy + cy).astype(int)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    checker.that(inside.sum() > 20, f"only {inside.sum()} points are in the first picture")
    off = abs(picture[y[inside], x[inside]] - reading.colors[inside]).mean(axis=1)
    checker.that(np.median(off) < 12, f"points differ from the picture by {np.median(off):.0f}")


def _through_pycolmap(place):
    model = pycolmap.Reconstruction(str(place))
    cameras = {
        i: {"model": c.model.name, "width": c.width, "height": c.height, "parameters": list(c.params)}
        for i, c in model.cameras.items()
    }
    images = {}
    for i, image in model.images.items():
        pose = image.cam_from_world()
        x, y, z, w = pose.rotation.quat
        images[i] = {
            "q": [w, x, y, z], "t": list(pose.translation), "camera": image.camera_id,
            "name": image.name,
        }
    points = [
        {"id": i, "xyz": list(p.xyz), "rgb": [int(c) for c in p.color], "error": p.error}
        for i, p in sorted(model.points3D.items())
    ]
    return cameras, images, points


def _compare(a, b, where):
    """Bit by bit; quaternions may have been normalized by a reader."""
    if a[0] != b[0]:
        raise Problem(f"{where}: other cameras")
    if sorted(a[1]) != sorted(b[1]):
        raise Problem(f"{where}: {len(a[1])} and {len(b[1])} images")
    for i, image in a[1].items():
        other = b[1][i]
        if {k: v for k, v in image.items() if k != "q"} != {k: v for k, v in other.items() if k != "q"}:
            raise Problem(f"{where}: image {i} differs")
        if abs(np.array(image["q"]) - other["q"]).max() > 1e-15:
            raise Problem(f"{where}: the rotation of image {i} differs")
        if abs(np.linalg.norm(other["q"]) - 1) > 1e-12 or other["q"][0] < 0:
            raise Problem(f"{where}: the quaternion of image {i} is not one of unit length with w >= 0")
    if a[2] != b[2]:
        raise Problem(f"{where}: other points")


def _plain(folder, ending):
    if ending == "txt":
        return _text_cameras(folder), _text_images(folder), _text_points(folder)
    return _binary_cameras(folder), _binary_images(folder), _binary_points(folder)


def _text_lines(path):
    with open(path) as file:
        for line in file:
            line = line.strip()
            if line and line[0] != "#":
                yield line.split()


def _text_cameras(folder):
    path = folder / "sparse/0/cameras.txt"
    if not path.exists():
        return None
    return {
        int(e[0]): {
            "model": e[1], "width": int(e[2]), "height": int(e[3]),
            "parameters": [float(x) for x in e[4:]],
        }
        for e in _text_lines(path)
    }


def _text_images(folder):
    images = {}
    with open(folder / "sparse/0/images.txt") as file:
        while True:
            line = file.readline()
            if not line:
                return images
            line = line.strip()
            if line and line[0] != "#":
                e = line.split()
                images[int(e[0])] = {
                    "q": [float(x) for x in e[1:5]], "t": [float(x) for x in e[5:8]],
                    "camera": int(e[8]), "name": e[9],
                }
                # Whatever it is, the next line is that of the 2D points.
                if not file.readline().endswith("\n"):
                    raise Problem("images.txt ends in the middle of an image")


def _text_points(folder):
    return [
        {
            "id": int(e[0]), "xyz": [float(x) for x in e[1:4]], "rgb": [int(x) for x in e[4:7]],
            "error": float(e[7]),
        }
        for e in _text_lines(folder / "sparse/0/points3D.txt")
    ]


class _Bytes:
    def __init__(self, path):
        self.data, self.at = Path(path).read_bytes(), 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def name(self):
        end = self.data.index(b"\0", self.at)
        name, self.at = self.data[self.at : end].decode(), end + 1
        return name

    def end(self, what):
        if self.at != len(self.data):
            raise Problem(f"{what} is {len(self.data) - self.at} bytes too long")
        return what


def _binary_cameras(folder):
    data, cameras = _Bytes(folder / "sparse/0/cameras.bin"), {}
    for _ in range(data.take("Q")):
        number, model, width, height = data.take("iiQQ")
        name = MODELS[model]
        cameras[number] = {
            "model": name, "width": width, "height": height,
            "parameters": list(data.take(f"{PARAMETERS[name]}d")),
        }
    data.end("cameras.bin")
    return cameras


def _binary_images(folder):
    data, images = _Bytes(folder / "sparse/0/images.bin"), {}
    for _ in range(data.take("Q")):
        number = data.take("i")
        q, t = list(data.take("4d")), list(data.take("3d"))
        camera, name = data.take("i"), data.name()
        if data.take("Q") != 0:
            raise Problem("images.bin has 2D points")
        images[number] = {"q": q, "t": t, "camera": camera, "name": name}
    data.end("images.bin")
    return images


def _binary_points(folder):
    data, points = _Bytes(folder / "sparse/0/points3D.bin"), []
    for _ in range(data.take("Q")):
        number = data.take("Q")
        xyz, rgb, error, track = list(data.take("3d")), list(data.take("3B")), data.take("d"), data.take("Q")
        if track != 0:
            raise Problem("points3D.bin has tracks")
        points.append({"id": number, "xyz": xyz, "rgb": rgb, "error": error})
    data.end("points3D.bin")
    return points


# Deliberate mistakes: made in what both forms say, so that their agreement does not give them away.


def _write(folder, cameras, images, points):
    place = folder / "sparse/0"
    if (place / "cameras.txt").exists():
        lines = [
            " ".join([str(i), c["model"], str(c["width"]), str(c["height"])] + [repr(p) for p in c["parameters"]])
            for i, c in cameras.items()
        ]
        (place / "cameras.txt").write_text("".join(line + "\n" for line in lines))
        lines = [
            " ".join([str(i)] + [repr(float(v)) for v in [*m["q"], *m["t"]]] + [str(m["camera"]), m["name"]])
            for i, m in images.items()
        ]
        (place / "images.txt").write_text("".join(line + "\n\n" for line in lines))
        lines = [
            " ".join([str(p["id"])] + [repr(float(v)) for v in p["xyz"]] + [str(c) for c in p["rgb"]] + ["0"])
            for p in points
        ]
        (place / "points3D.txt").write_text("".join(line + "\n" for line in lines))
    if (place / "cameras.bin").exists():
        models = {v: k for k, v in MODELS.items()}
        data = struct.pack("<Q", len(cameras))
        for i, c in cameras.items():
            data += struct.pack("<iiQQ", i, models[c["model"]], c["width"], c["height"])
            data += struct.pack(f"<{len(c['parameters'])}d", *c["parameters"])
        (place / "cameras.bin").write_bytes(data)
        data = struct.pack("<Q", len(images))
        for i, m in images.items():
            data += struct.pack("<i7di", i, *m["q"], *m["t"], m["camera"])
            data += m["name"].encode() + b"\0" + struct.pack("<Q", 0)
        (place / "images.bin").write_bytes(data)
        data = struct.pack("<Q", len(points))
        for p in points:
            data += struct.pack("<Q3d3BdQ", p["id"], *p["xyz"], *p["rgb"], 0.0, 0)
        (place / "points3D.bin").write_bytes(data)


def _change(folder, cameras=None, image=None, images=None, point=None, turn=None):
    ending = "bin" if (folder / "sparse/0/images.bin").exists() else "txt"
    model = list(_plain(folder, ending))
    if cameras is not None:
        for camera in model[0].values():
            camera["parameters"] = cameras(camera["parameters"])
    if turn is not None:
        for m in model[1].values():
            pose = np.eye(4)
            w, x, y, z = m["q"]
            pose[:3, :3], pose[:3, 3] = rotation(x, y, z, w), m["t"]
            pose = turn(pose)
            m["q"], m["t"] = _quaternion(pose[:3, :3]), list(pose[:3, 3])
    if image is not None:
        for m in model[1].values():
            image(m)
    if images is not None and images(model[1]) is False:
        return False
    if point is not None:
        if not model[2]:
            return False
        for p in model[2]:
            point(p)
    _write(folder, *model)


def _quaternion(m):
    k = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0],
            [m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
            [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1], 0],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m[0, 0] + m[1, 1] + m[2, 2]],
        ]
    )
    _, vectors = np.linalg.eigh(k)
    q = vectors[[3, 0, 1, 2], 3]
    return list(q if q[0] >= 0 else -q)


def _shift(images):
    order = sorted(images)
    names = [images[i]["name"] for i in order]
    poses = [(images[i]["q"], images[i]["t"]) for i in order]
    for i, name, pose in zip(order, names, poses[1:] + poses[:1]):
        images[i]["q"], images[i]["t"] = pose


def _no_second_line(folder):
    path = folder / "sparse/0/images.txt"
    if not path.exists():
        return False
    path.write_text(path.read_text().replace("\n\n", "\n"))


def _last_digit(folder):
    path = folder / "sparse/0/images.txt"
    if not path.exists() or not (folder / "sparse/0/images.bin").exists():
        return False
    lines = path.read_text().split("\n")
    fields = lines[0].split(" ")
    fields[5] = repr(float(np.float32(fields[5])))
    lines[0] = " ".join(fields)
    path.write_text("\n".join(lines))


def _bgr(folder):
    for path in sorted((folder / "images").iterdir()):
        # Written through a new file: the exported one may share its blocks with color/.
        picture = cv2.imread(str(path))
        path.unlink()
        cv2.imwrite(str(path), picture[..., ::-1])


def _stranger(folder):
    shutil.copy(next((folder / "images").iterdir()), folder / "images/000000a.png")


def _swap_red_and_blue(p):
    p["rgb"] = p["rgb"][::-1]


def _scale(p):
    p["xyz"] = [1000 * v for v in p["xyz"]]


def _turn_up(p):
    x, y, z = p["xyz"]
    p["xyz"] = [z, x, y]


def _w_last(m):
    m["q"] = m["q"][1:] + m["q"][:1]


def _place(m):
    turn = np.eye(3)
    w, x, y, z = m["q"]
    m["t"] = list(-rotation(x, y, z, w).T @ m["t"])


def _two_digits(m):
    m["q"] = [round(v, 4) for v in m["q"]]


def _one_camera(images):
    if len({m["camera"] for m in images.values()}) < 2:
        return False
    for m in images.values():
        m["camera"] = 1


def _camera_axes(folder):
    """Points in the axes of the first camera."""

    ending = "bin" if (folder / "sparse/0/images.bin").exists() else "txt"
    cameras, images, points = _plain(folder, ending)
    if not points:
        return False
    w, x, y, z = images[1]["q"]
    for p in points:
        p["xyz"] = list(rotation(x, y, z, w) @ p["xyz"] + images[1]["t"])
    _write(folder, cameras, images, points)


DATABASE_MISTAKES = {
    "database: prior is t": lambda f: _alter(f, "UPDATE pose_priors SET position = negated(position)"),
    "database: axes of priors exchanged": lambda f: _alter(f, "UPDATE pose_priors SET position = turned(position)"),
    "database: gravity up": lambda f: _alter(f, "UPDATE pose_priors SET gravity = negated(gravity)"),
    "database: gravity in other axes": lambda f: _alter(f, "UPDATE pose_priors SET gravity = turned(gravity)"),
    "database: priors of the world's origin": lambda f: _alter(f, "UPDATE pose_priors SET coordinate_system = 0"),
    "database: no covariance": lambda f: _alter(f, "UPDATE pose_priors SET position_covariance = NULL"),
    "database: a missing prior": lambda f: _alter(
        f, "DELETE FROM pose_priors WHERE rowid = (SELECT max(rowid) FROM pose_priors)"
    ),
    "database: other names": lambda f: _alter(f, "UPDATE images SET name = 'x' || name"),
    "database: cameras turned": lambda f: _alter(f, "UPDATE cameras SET params = turned(params)"),
    "database: width and height exchanged": lambda f: _alter(f, "UPDATE cameras SET width = height, height = width"),
    "database: a guessed focal length": lambda f: _alter(f, "UPDATE cameras SET prior_focal_length = 0"),
    "database: no frames": lambda f: _alter(f, "DELETE FROM frame_data", "DELETE FROM frames"),
}

def _pairs(folder, change):
    return change_lines(folder / "pairs.txt", lambda lines: [" ".join(pair) for pair in change([x.split() for x in lines])])


PAIR_MISTAKES = {
    "pairs: of the first picture and itself": lambda f: _pairs(f, lambda p: [(p[0][0], p[0][0])] + p[1:]),
    "pairs: the first picture and the last": lambda f: _pairs(f, lambda p: [(p[0][0], p[-1][1])] + p[1:]),
    "pairs: one twice": lambda f: _pairs(f, lambda p: [p[0]] + [p[0][::-1]] + p[2:]),
    "pairs: the last left out": lambda f: _pairs(f, lambda p: p[:-1]),
    "pairs: names with their folder": lambda f: _pairs(f, lambda p: [[f"images/{n}" for n in pair] for pair in p]),
}

MISTAKES = DATABASE_MISTAKES | PAIR_MISTAKES | {
    "inverted pose": lambda f: _change(f, turn=np.linalg.inv),
    "OpenGL axes": lambda f: _change(f, turn=lambda m: np.diag([1.0, -1, -1, 1]) @ m),
    "transposed rotation": lambda f: _change(
        f, turn=lambda m: np.block([[m[:3, :3].T, m[:3, 3:]], [m[3:, :]]])
    ),
    "w last": lambda f: _change(f, image=_w_last),
    "t as the camera's place": lambda f: _change(f, image=_place),
    "rounded quaternion": lambda f: _change(f, image=_two_digits),
    "missing half pixel": lambda f: _change(f, cameras=lambda p: [*p[:2], p[2] - 0.5, p[3] - 0.5, *p[4:]]),
    "half pixel the other way": lambda f: _change(f, cameras=lambda p: [*p[:2], p[2] - 1, p[3] - 1, *p[4:]]),
    "cx and cy exchanged": lambda f: _change(f, cameras=lambda p: [*p[:2], p[3], p[2], *p[4:]]),
    "images shifted by one": lambda f: _change(f, images=_shift),
    "first camera for all": lambda f: _change(f, images=_one_camera),
    "missing empty line in images.txt": _no_second_line,
    "text rounded to float": _last_digit,
    "BGR": _bgr,
    "points in BGR": lambda f: _change(f, point=_swap_red_and_blue),
    "points in millimeters": lambda f: _change(f, point=_scale),
    "points turned z-up": lambda f: _change(f, point=_turn_up),
    "points in camera axes": _camera_axes,
    "a picture that the model does not name": _stranger,
}
