"""`export-nerfstudio`, read as nerfstudio's own data parser does it: frames sorted by file name, a key at the top
goes before those of the frames, OpenGL cameras, rays through pixel + 0.5, millimeters, points by Open3D.

What the parser does after this, it does to poses and points alike: orientation (none here), centering, scaling.
"""

import json

import cv2
import numpy as np
import open3d as o3d

from read_colmap import check_colors
from room import Frame, Problem, Reading

DEPTH_UNIT = 1e-3


def read(folder):
    meta = json.loads((folder / "transforms.json").read_text())
    fixed = {key: key in meta for key in ("fl_x", "fl_y", "cx", "cy", "w", "h")}
    lens_fixed = any(key in meta for key in ("k1", "k2", "k3", "p1", "p2"))
    frames = sorted(meta["frames"], key=lambda frame: str(folder / frame["file_path"]))
    for frame in frames:
        for key, is_fixed in fixed.items():
            if not is_fixed and key not in frame:
                raise Problem(f"{key} not specified in frame")
            if is_fixed and key in frame:
                raise Problem(f"{key} stands at the top and in a frame, which is ignored")
        if lens_fixed and any(key in frame for key in ("k1", "k2", "k3", "p1", "p2")):
            raise Problem("lens coefficients stand at the top and in a frame")
    with_depth = [frame for frame in frames if "depth_file_path" in frame]
    if with_depth and len(with_depth) != len(frames):
        raise Problem("Different number of image and depth filenames.")
    if meta["camera_model"] != "OPENCV":
        raise Problem(f"camera_model is {meta['camera_model']}")
    if meta.get("orientation_override") != "none":
        raise Problem("the parser turns the scene by the upper edges of the pictures")
    if "applied_transform" not in meta:
        raise Problem("without applied_transform the parser assumes COLMAP's turn of axes")
    # applied_transform: the app's world to that of the file.
    applied = np.vstack([np.array(meta["applied_transform"], dtype=float), [0, 0, 0, 1]])
    to_app = np.linalg.inv(applied)

    reading = Reading()
    for frame in frames:
        pose = np.array(frame["transform_matrix"], dtype=float)
        # OpenGL axes: x right, y up, z toward the viewer.
        pose = to_app @ pose @ np.diag([1.0, -1, -1, 1])
        fx, fy, cx, cy = ((meta if fixed[k] else frame)[k] for k in ("fl_x", "fl_y", "cx", "cy"))
        path = folder / frame["file_path"]
        depth = folder / frame["depth_file_path"] if with_depth else None
        reading.frames.append(
            Frame(
                frame=int(path.stem.removeprefix("frame_")), pose=pose,
                # A ray passes pixel + 0.5.
                camera=(fx, fy, cx - 0.5, cy - 0.5),
                color=lambda path=path: cv2.imread(str(path))[..., ::-1],
                depth=None
                if depth is None
                else lambda depth=depth: cv2.imread(str(depth), cv2.IMREAD_ANYDEPTH).astype(np.float64)
                * DEPTH_UNIT,
            )
        )
        reading.color_is_exact &= path.suffix == ".png"
    reading.has_one_camera = False
    if "ply_file_path" in meta:
        cloud = o3d.io.read_point_cloud(str(folder / meta["ply_file_path"]))
        points = np.asarray(cloud.points)
        reading.points = points @ to_app[:3, :3].T + to_app[:3, 3]
        reading.colors = np.rint(np.asarray(cloud.colors) * 255)
    return reading


def check_more(reading, folder, tables, room, checker):
    meta = json.loads((folder / "transforms.json").read_text())
    for number in range(0, len(reading.frames), 4):
        frame = reading.frames[number]
        height, width = frame.color().shape[:2]
        checker.that((meta["w"], meta["h"]) == (width, height), f"w, h are {meta['w']}, {meta['h']}")
        if frame.depth is not None:
            checker.that(frame.depth().shape == (height, width), "depth has another size than its picture")
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*/*.*")}
    named = {frame["file_path"] for frame in meta["frames"]}
    named |= {frame["depth_file_path"] for frame in meta["frames"] if "depth_file_path" in frame}
    masks = [frame["mask_path"] for frame in meta["frames"] if "mask_path" in frame]
    checker.that(len(masks) in (0, len(meta["frames"])), "Different number of image and mask filenames.")
    named |= set(masks)
    for frame in meta["frames"][:: max(1, len(masks) // 3)] if masks else []:
        mask = cv2.imread(str(folder / frame["mask_path"]), cv2.IMREAD_UNCHANGED)
        color = cv2.imread(str(folder / frame["file_path"]))
        checker.that(mask.ndim == 2 and mask.shape == color.shape[:2], f"the mask has {mask.shape}")
        checker.that(set(np.unique(mask)) == {0, 255}, "the mask holds other values than 0 and 255")
        checker.that(color[mask == 255].any(axis=1).mean() > 0.99, "black pixels are to be used")
    named |= check_pyramid(folder, meta, checker)
    splits = [set(meta[f"{part}_filenames"]) for part in ("train", "val") if f"{part}_filenames" in meta]
    if splits:
        names = {frame["file_path"] for frame in meta["frames"]}
        checker.that(all(split and split <= names for split in splits), "a part names no picture")
        checker.that(not splits[0] & splits[1], "pictures are in two parts")
    checker.that(files == named, f"{len(files)} files, {len(named)} names")
    count = 0 if reading.points is None else len(reading.points)
    checker.that(count == tables.export["points"], f"{count} points were read")
    if count:
        check_colors(reading, checker)
    turn = np.array(meta["applied_transform"])[:, :3]
    if room is not None and not np.allclose(turn, np.eye(3)):
        checker.that(np.allclose(turn @ [0, 1, 0], [0, 0, 1]), "up is not +z in the file's world")


def check_pyramid(folder, meta, checker):
    """The smaller pictures, by the names of the data parser (`images_2/NAME`), which divides intrinsics by the factor and
    rounds sizes down: a pixel must be the mean of the pixels that the divided camera sees in it."""
    named = set()
    for factor in (2, 4, 8) if (folder / "images_2").exists() else ():
        for frame in meta["frames"]:
            for key in ("file_path", "mask_path", "depth_file_path"):
                if key in frame:
                    place, name = frame[key].split("/")
                    named.add(f"{place}_{factor}/{name}")
        for frame in meta["frames"][:: max(1, len(meta["frames"]) // 3)]:
            place, name = frame["file_path"].split("/")
            whole = cv2.imread(str(folder / frame["file_path"])).astype(float)
            small = cv2.imread(str(folder / f"{place}_{factor}" / name))
            height, width = (side // factor for side in whole.shape[:2])
            if small is None or small.shape[:2] != (height, width):
                checker.that(False, f"{place}_{factor}/{name} is not {width}x{height}")
                continue
            blocks = whole[: height * factor, : width * factor].reshape(height, factor, width, factor, 3)
            error = np.abs(blocks.mean(axis=(1, 3)) - small)
            exact = name.endswith(".png")
            checker.that(error.max() <= 0.51 if exact else error.mean() < 2, f"{place}_{factor}/{name}: {error.max()}")
            if "mask_path" in frame:
                mask = cv2.imread(str(folder / frame["mask_path"]), cv2.IMREAD_UNCHANGED)
                used = mask[: height * factor, : width * factor].reshape(height, factor, width, factor).min(axis=(1, 3))
                found = cv2.imread(str(folder / f"masks_{factor}" / name), cv2.IMREAD_UNCHANGED)
                checker.that(found is not None and (found == used).all(), f"masks_{factor}/{name}")
    return named


def _change(folder, frame=None, top=None, order=None):
    path = folder / "transforms.json"
    meta = json.loads(path.read_text())
    if top is not None and top(meta) is False:
        return False
    if frame is not None:
        for f in meta["frames"]:
            if frame(f) is False:
                return False
    if order is not None:
        order(meta["frames"])
    path.write_text(json.dumps(meta))


def _matrix(folder, change):
    def frame(f):
        f["transform_matrix"] = np.array(change(np.array(f["transform_matrix"]))).tolist()

    return _change(folder, frame)


def _intrinsics(meta):
    return [meta] if "fl_x" in meta else meta["frames"]


def _half(folder, by):
    def top(meta):
        for place in _intrinsics(meta):
            place["cx"] += by
            place["cy"] += by

    return _change(folder, top=top)


def _twice(meta):
    for key in ("fl_x", "fl_y", "cx", "cy"):
        for place in meta["frames"] if key in meta else [meta]:
            place[key] = (meta if key in meta else meta["frames"][0])[key]


def _first_for_all(meta):
    if "fl_x" in meta:
        return False
    for key in ("fl_x", "fl_y", "cx", "cy"):
        meta[key] = meta["frames"][0][key]
        for frame in meta["frames"]:
            del frame[key]


def _shift(frames):
    matrices = [f["transform_matrix"] for f in frames]
    for f, m in zip(frames, matrices[1:] + matrices[:1]):
        f["transform_matrix"] = m


def _shift_depth(frames):
    names = [f.get("depth_file_path") for f in frames]
    if None in names:
        return
    for f, name in zip(frames, names[1:] + names[:1]):
        f["depth_file_path"] = name


def _one_without_depth(meta):
    if "depth_file_path" not in meta["frames"][0]:
        return False
    del meta["frames"][0]["depth_file_path"]


def _depths(folder, change):
    places = sorted((folder / "depths").glob("*.png"))
    if not places:
        return False
    for path in places:
        picture = cv2.imread(str(path), cv2.IMREAD_ANYDEPTH)
        path.unlink()
        cv2.imwrite(str(path), change(picture))


def _points(folder, change):
    path = folder / "sparse_pc.ply"
    if not path.exists():
        return False
    cloud = o3d.io.read_point_cloud(str(path))
    points, colors = change(np.asarray(cloud.points), np.asarray(cloud.colors))
    cloud.points, cloud.colors = o3d.utility.Vector3dVector(points), o3d.utility.Vector3dVector(colors)
    path.unlink()
    o3d.io.write_point_cloud(str(path), cloud)


def _unturned(folder):
    meta = json.loads((folder / "transforms.json").read_text())
    turn = np.array(meta["applied_transform"])[:, :3]
    if np.allclose(turn, np.eye(3)):
        return False
    return _points(folder, lambda p, c: (p @ turn, c))


def _camera_axes(folder):
    meta = json.loads((folder / "transforms.json").read_text())
    m = np.linalg.inv(np.array(meta["frames"][0]["transform_matrix"]))
    return _points(folder, lambda p, c: (p @ m[:3, :3].T + m[:3, 3], c))


def _unturned_poses(folder):
    meta = json.loads((folder / "transforms.json").read_text())
    turn = np.vstack([np.array(meta["applied_transform"]), [0, 0, 0, 1]])
    if np.allclose(turn, np.eye(4)):
        return False
    return _matrix(folder, lambda m: np.linalg.inv(turn) @ m)


def _bgr(folder):
    for path in sorted((folder / "images").iterdir()):
        picture = cv2.imread(str(path))
        path.unlink()
        cv2.imwrite(str(path), picture[..., ::-1])


def _pyramid(folder, change):
    places = sorted(folder.glob("images_2/*"))
    for path in places:
        picture = cv2.imread(str(path))
        path.unlink()
        cv2.imwrite(str(path), change(picture))
    return None if places else False


MISTAKES = {
    "smaller pictures half a pixel aside": lambda f: _pyramid(
        f, lambda p: cv2.warpAffine(p, np.float32([[1, 0, 0.5], [0, 1, 0]]), p.shape[1::-1])
    ),
    "smaller pictures of another size": lambda f: _pyramid(f, lambda p: p[:-1]),
    "a smaller picture missing": lambda f: next((p.unlink() for p in sorted(f.glob("images_8/*"))), False),
    "inverted pose": lambda f: _matrix(f, np.linalg.inv),
    "OpenCV axes": lambda f: _matrix(f, lambda m: m @ np.diag([1, -1, -1, 1])),
    "transposed rotation": lambda f: _matrix(
        f, lambda m: np.block([[m[:3, :3].T, m[:3, 3:]], [m[3:, :]]])
    ),
    "column-major pose": lambda f: _matrix(f, np.transpose),
    "pose shifted by one frame": lambda f: _change(f, order=_shift),
    "poses not turned by U": _unturned_poses,
    "missing half pixel": lambda f: _half(f, -0.5),
    "half a pixel too much": lambda f: _half(f, 0.5),
    "intrinsics at top and per frame": lambda f: _change(f, top=_twice),
    "intrinsics of the first frame for all": lambda f: _change(f, top=_first_for_all),
    "no applied_transform": lambda f: _change(f, top=lambda m: m.pop("applied_transform") and None),
    "no orientation_override": lambda f: _change(f, top=lambda m: m.pop("orientation_override") and None),
    "w and h exchanged": lambda f: _change(f, top=lambda m: m.update(w=m["h"], h=m["w"])),
    "one frame without depth": lambda f: _change(f, top=_one_without_depth),
    "depth shifted by one frame": lambda f: _depths_shifted(f),
    "depth in meters": lambda f: _depths(f, lambda d: np.rint(d / 1000).astype(np.uint16)),
    "depth x 5": lambda f: _depths(f, lambda d: (d.astype(np.uint32) * 5).clip(0, 65535).astype(np.uint16)),
    "points not turned by U": _unturned,
    "points in camera axes": _camera_axes,
    "points in millimeters": lambda f: _points(f, lambda p, c: (p * 1000, c)),
    "points in BGR": lambda f: _points(f, lambda p, c: (p, c[:, ::-1])),
    "BGR": _bgr,
}


def _depths_shifted(folder):
    meta = json.loads((folder / "transforms.json").read_text())
    if "depth_file_path" not in meta["frames"][0] or len(meta["frames"]) < 2:
        return False
    return _change(folder, order=_shift_depth)
