"""`export-scannet` as nerfstudio's `scannet-data` and most loaders of ScanNet read it: sorted lists that are
zipped, matrices through numpy, pictures through OpenCV."""

import cv2
import numpy as np

import rgbd
from room import Frame, Reading


def _sorted(folder, ending):
    """The numbers of a folder, as loaders sort them; every name must be a bare number."""
    names = [p for p in folder.iterdir()]
    for path in names:
        if path.suffix != ending or path.stem != str(int(path.stem)):
            raise ValueError(f"{path.name} in {folder.name}/")
    return sorted(names, key=lambda p: int(p.stem))


def _camera(m):
    if m.shape != (4, 4):
        raise ValueError(f"a matrix of {m.shape}")
    return (m[0, 0], m[1, 1], m[0, 2], m[1, 2])


def _image(path, mode):
    picture = cv2.imread(str(path), mode)
    if picture is None:
        raise ValueError(f"{path.name} cannot be read")
    return picture


def read(folder):
    colors = _sorted(folder / "color", ".jpg")
    depths = _sorted(folder / "depth", ".png")
    lists = [[p.stem for p in colors], [p.stem for p in depths]]
    poses = None
    if (folder / "pose").exists():
        poses = _sorted(folder / "pose", ".txt")
        lists.append([p.stem for p in poses])
    if any(names != [str(i) for i in range(len(names))] or names != lists[0] for names in lists):
        raise ValueError("the folders do not hold the same numbers from 0")
    k_color = _camera(np.loadtxt(folder / "intrinsic/intrinsic_color.txt"))
    k_depth = _camera(np.loadtxt(folder / "intrinsic/intrinsic_depth.txt"))
    if not (np.loadtxt(folder / "intrinsic/extrinsic_color.txt") == np.eye(4)).all():
        raise ValueError("the color extrinsic is not the identity")
    reading = Reading(has_one_camera=True, color_is_exact=False)
    reading.color_from_depth = np.loadtxt(folder / "intrinsic/extrinsic_depth.txt")
    for number, (color, depth) in enumerate(zip(colors, depths)):
        pose = None
        if poses is not None:
            pose = np.loadtxt(poses[number])
            if pose.shape != (4, 4):
                raise ValueError(f"{poses[number].name} holds {pose.shape}")
            # As nerfstudio: frames with infinite poses are skipped.
            if np.isinf(pose).any():
                pose = None
        reading.frames.append(
            Frame(
                pose=pose, camera=k_color, depth_camera=k_depth,
                color=lambda path=color: cv2.cvtColor(
                    _image(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB
                ),
                depth=lambda path=depth: _image(path, cv2.IMREAD_UNCHANGED).astype(float) / 1000,
            )
        )
    return reading


def check_more(reading, folder, tables, room, checker):
    """A pose for every frame of a capture that has poses, none for others."""
    for frame, index in zip(reading.frames, tables.exported):
        checker.that(
            (frame.pose is not None) == (index in tables.poses), f"frame {index}: pose or none"
        )
    checker.that(
        (folder / "pose").exists() == bool(tables.poses), "a folder of poses without poses"
    )
    rgbd.check_own_colors(reading, tables, checker)
    rgbd.check_depth_camera(reading, tables, room, checker)
    for path in folder.rglob("*.txt"):
        if path.name == "README.txt":
            continue
        lines = path.read_bytes().split(b"\n")
        checker.that(
            lines[-1] == b"" and len(lines) == 5 and all(len(l.split(b" ")) == 4 for l in lines[:4]),
            f"{path.name} is not four lines of four numbers",
        )


def _matrices(folder, change):
    if not (folder / "pose").exists():
        return False
    paths = _sorted(folder / "pose", ".txt")
    for path, m in zip(paths, change([np.loadtxt(p) for p in paths])):
        path.unlink()
        path.write_text("".join(" ".join(repr(float(x)) for x in row) + "\n" for row in m))


def _matrix(name, change):
    def make(folder):
        path = folder / f"intrinsic/{name}.txt"
        m = np.loadtxt(path)
        after = change(m.copy())
        if (after == m).all():
            return False
        path.unlink()
        path.write_text("".join(" ".join(repr(float(x)) for x in row) + "\n" for row in after))

    return make


def _half_pixel(m):
    m[:2, 2] += 0.5
    return m


def _pictures(name, change):
    def make(folder):
        for path in (folder / name).iterdir():
            picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
            path.unlink()
            cv2.imwrite(str(path), change(picture))

    return make


def _shifted(name, ending):
    def make(folder):
        if not (folder / name).exists():
            return False
        paths = _sorted(folder / name, ending)
        if len(paths) < 2:
            return False
        contents = [p.read_bytes() for p in paths]
        for path, content in zip(paths, contents[1:] + contents[:1]):
            path.unlink()
            path.write_bytes(content)

    return make


def _named(name, rule):
    def make(folder):
        for path in sorted((folder / name).iterdir(), key=lambda p: -int(p.stem)):
            path.rename(path.with_name(rule(path)))

    return make


def _blank_pose(folder):
    if not (folder / "pose").exists():
        return False
    for path in (folder / "pose").iterdir():
        text = path.read_text()
        path.unlink()
        path.write_text(text.replace("\n", " \n"))


def _drop(folder):
    last = _sorted(folder / "depth", ".png")[-1]
    last.unlink()


MISTAKES = {
    "inverted pose": lambda f: _matrices(f, lambda m: [np.linalg.inv(x) for x in m]),
    "OpenGL axes": lambda f: _matrices(f, lambda m: [x @ np.diag([1, -1, -1, 1]) for x in m]),
    "transposed rotation": lambda f: _matrices(
        f, lambda m: [np.block([[x[:3, :3].T, x[:3, 3:]], [x[3:, :]]]) for x in m]
    ),
    "column-major pose": lambda f: _matrices(f, lambda m: [x.T for x in m]),
    "pose shifted by one frame": lambda f: _matrices(f, lambda m: m[1:] + m[:1]),
    "poses with seven digits": lambda f: _matrices(
        f, lambda m: [np.array([[float(f"{v:.6g}") for v in r] for r in x]) for x in m]
    ),
    "the identity for a lost pose": lambda f: _matrices(f, lambda m: [np.eye(4) for _ in m]),
    "blanks at line ends": _blank_pose,
    "half a pixel added": _matrix("intrinsic_color", _half_pixel),
    "transposed intrinsics": _matrix("intrinsic_color", lambda m: m.T),
    "depth intrinsics of another size": _matrix(
        "intrinsic_depth", lambda m: np.diag([2.0, 2, 1, 1]) @ m
    ),
    "depth extrinsic inverted": _matrix("extrinsic_depth", np.linalg.inv),
    "BGR": _pictures("color", lambda p: p[..., ::-1]),
    "depth × 5": _pictures("depth", lambda p: (p * 5).astype(np.uint16)),
    "depth upside down": _pictures("depth", lambda p: p[::-1]),
    "depth shifted by one frame": _shifted("depth", ".png"),
    "color shifted by one frame": _shifted("color", ".jpg"),
    "leading zeros": _named("color", lambda p: f"{int(p.stem):06d}{p.suffix}"),
    "a hole in the numbers": _named("depth", lambda p: f"{int(p.stem) + 1}{p.suffix}"),
    "PNG in color/": _named("color", lambda p: p.stem + ".png"),
    "a depth picture missing": _drop,
}
