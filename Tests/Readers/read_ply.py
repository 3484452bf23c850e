"""`export-ply` through plyfile, Open3D and trimesh, which must agree; and a few points against NumPy from the
depth pictures, intrinsics and poses of the tables."""

import csv
import json

import numpy as np
import open3d as o3d
import trimesh
from plyfile import PlyData

from room import Problem, Reading, to_world


def _cloud(path):
    vertex = PlyData.read(str(path))["vertex"]
    points = np.stack([np.asarray(vertex[k], dtype=np.float64) for k in "xyz"], axis=1)
    names = [p.name for p in vertex.properties]
    colors = None
    if "red" in names:
        colors = np.stack([np.asarray(vertex[k]) for k in ("red", "green", "blue")], axis=1)

    other = o3d.io.read_point_cloud(str(path))
    third = trimesh.load(str(path))
    for name, found in (("Open3D", np.asarray(other.points)), ("trimesh", np.asarray(third.vertices))):
        if found.shape != points.shape or (len(points) and abs(found - points).max() > 0):
            raise Problem(f"{path.name}: {name} reads other points")
    if colors is not None:
        for name, found in (
            ("Open3D", np.rint(np.asarray(other.colors) * 255)), ("trimesh", np.asarray(third.colors)[:, :3]),
        ):
            if found.shape != colors.shape or (len(colors) and abs(found - colors).max() > 0):
                raise Problem(f"{path.name}: {name} reads other colors")
    if not np.isfinite(points).all():
        raise Problem(f"{path.name}: numbers that are none")
    frames = np.asarray(vertex["frame"]) if "frame" in names else None
    return points, colors, frames


def read(folder):
    reading = Reading()
    clouds = [_cloud(path) for path in sorted(folder.glob("*.ply"))]
    points = np.concatenate([c[0] for c in clouds])
    reading.colors = np.concatenate([c[1] for c in clouds]) if clouds[0][1] is not None else None
    reading.point_frames = [c[2] for c in clouds]
    # Without poses points are in camera axes: nothing to compare with walls.
    axes = json.loads((folder / "export.json").read_text())["axes"]
    reading.points = points if axes == "world" else None
    reading.cloud = points
    return reading


def check_more(reading, folder, tables, room, checker):
    if reading.points is not None:
        _FIRST_POSE.append(tables.poses[tables.exported[0]])
    document = tables.export
    checker.that(len(reading.cloud) == document["points"], f"{len(reading.cloud)} points were read")
    total = document["frames"] + sum(document["leftOut"].values())
    checker.that(total == len(tables.frames), f"export.json accounts for {total} frames")
    with open(folder / "frames.csv", newline="") as file:
        names = {row["name"] for row in csv.DictReader(file)}
    checker.that(names == {p.name for p in folder.glob("*.ply")}, f"frames.csv names {names}")
    if room is not None and room.is_empty:
        points = reading.points
        if points is None:
            # In camera axes, carried into the room by the truth.
            points = to_world(room.depth_poses[tables.exported[0]], reading.cloud)
            distance = np.median(room.distance(points))
            checker.that(distance < 0.05, f"points are {distance:.3f} m off the walls")
        inside = ((points > room.low - 0.3) & (points < room.high + 0.3)).all(axis=1).mean()
        checker.that(inside > 0.98, f"only {100 * inside:.0f} % of the points are in the room")
        check_first_frame(reading, tables, checker)
    if reading.colors is not None:
        check_colors(reading, tables, checker)


def first_pose(reading, tables):
    """Of the frame whose camera the points are seen by; the identity for points in its axes."""
    return np.eye(4) if reading.points is None else tables.poses.get(tables.exported[0])


def check_first_frame(reading, tables, checker):
    """The corners of the cloud, with the first aligned picture unprojected by NumPy beside."""
    index = tables.exported[0]
    pose = first_pose(reading, tables)
    if pose is None or index not in tables.cameras:
        return
    # depth/ has the camera of color on its own grid where they share one; aligned/ has that of color.
    depths = list(tables.depths(index))
    fx, fy, cx, cy = tables.cameras[index]
    height, width = tables.color(index).shape[:2]
    for depth in depths:
        if reading.points is None and depth.shape != (height, width):
            continue  # a depth camera of its own
        sy, sx = depth.shape[0] / height, depth.shape[1] / width
        v, u = np.nonzero(depth > 0)
        z = depth[v, u] / 1000
        x = (u - ((cx + 0.5) * sx - 0.5)) * z / (fx * sx)
        y = (v - ((cy + 0.5) * sy - 0.5)) * z / (fy * sy)
        world = to_world(pose, np.stack([x, y, z], axis=1))
        cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(reading.cloud))
        some = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(world[:: max(1, len(world) // 500)]))
        off = np.median(np.asarray(some.compute_point_cloud_distance(cloud)))
        checker.that(off < 0.02, f"points of frame {index} are {off:.3f} m from the cloud")


def check_colors(reading, tables, checker):
    """Points of the first frame have the colors of its picture."""
    index = tables.exported[0]
    pose = first_pose(reading, tables)
    if pose is None or index not in tables.cameras:
        return
    inverse = np.linalg.inv(pose)
    seen = reading.cloud @ inverse[:3, :3].T + inverse[:3, 3]
    fx, fy, cx, cy = tables.cameras[index]
    picture = tables.color(index).astype(float)
    height, width = picture.shape[:2]
    front = seen[:, 2] > 0.1
    x = np.full(len(seen), -1)
    y = np.full(len(seen), -1)
    x[front] = np.rint(seen[front, 0] / seen[front, 2] * fx + cx).astype(int)
    y[front] = np.rint(seen[front, 1] / seen[front, 2] * fy + cy).astype(int)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    checker.that(inside.sum() > 20, f"only {inside.sum()} points are in the first picture")
    off = abs(picture[y[inside], x[inside]] - reading.colors[inside]).mean(axis=1)
    checker.that(np.median(off) < 10, f"points differ from the picture by {np.median(off):.0f}")


def _change(folder, change):
    for path in folder.glob("*.ply"):
        data = PlyData.read(str(path))
        vertex = data["vertex"]
        points = np.stack([np.asarray(vertex[k], dtype=np.float64) for k in "xyz"], axis=1)
        if change(points, vertex) is False:
            return False
        for k, column in zip("xyz", points.T):
            vertex[k] = column
        path.unlink()
        data.write(str(path))


# Of the capture that is looked at; mistakes are made in a copy of the export alone.
_FIRST_POSE = []


def _camera_axes(points, vertex):
    if not _FIRST_POSE:
        return False
    _assign(points, to_world(np.linalg.inv(_FIRST_POSE[-1]), points))


def _assign(points, changed):
    points[:] = changed


def _bgr(points, vertex):
    if "red" not in [p.name for p in vertex.properties]:
        return False
    red, blue = np.array(vertex["red"]), np.array(vertex["blue"])
    vertex["red"], vertex["blue"] = blue, red


def _cut(folder):
    for path in folder.glob("*.ply"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data[:-5])


def _count(folder):
    document = folder / "export.json"
    value = json.loads(document.read_text())
    value["points"] += 1
    document.write_text(json.dumps(value))


MISTAKES = {
    "camera axes": lambda f: _change(f, _camera_axes),
    "OpenGL axes": lambda f: _change(f, lambda p, v: _assign(p, p * [1, -1, -1])),
    "millimeters": lambda f: _change(f, lambda p, v: _assign(p, p * 1000)),
    "turned z-up": lambda f: _change(f, lambda p, v: _assign(p, p[:, [2, 0, 1]])),
    "x and y exchanged": lambda f: _change(f, lambda p, v: _assign(p, p[:, [1, 0, 2]])),
    "not at the camera's place": lambda f: _change(f, lambda p, v: _assign(p, p - p.mean(axis=0))),
    "BGR": lambda f: _change(f, _bgr),
    "cut short": _cut,
    "another number of points": _count,
}
