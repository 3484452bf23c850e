"""`export-open3d` through Open3D itself."""

import numpy as np
import open3d as o3d

from room import Frame, Reading


def read(folder):
    camera = o3d.io.read_pinhole_camera_intrinsic(str(folder / "intrinsic.json"))
    k = np.array(camera.intrinsic_matrix)
    stems = sorted(p.stem for p in (folder / "color").iterdir())
    depths = sorted(p.stem for p in (folder / "depth").iterdir())
    if stems != depths:
        raise ValueError("color and depth hold other stems")
    poses = [None] * len(stems)
    if (folder / "trajectory.log").exists():
        trajectory = o3d.io.read_pinhole_camera_trajectory(str(folder / "trajectory.log"))
        # Open3D keeps the inverse.
        poses = [np.linalg.inv(np.array(p.extrinsic)) for p in trajectory.parameters]
        if len(poses) != len(stems):
            raise ValueError(f"{len(poses)} poses for {len(stems)} pictures")
    reading = Reading(has_one_camera=True)
    endings = {p.stem: p for p in (folder / "color").iterdir()}
    for stem, pose in zip(stems, poses):
        color = lambda stem=stem: np.asarray(o3d.io.read_image(str(endings[stem])))
        depth = lambda stem=stem: (
            np.asarray(o3d.io.read_image(str(folder / f"depth/{stem}.png"))).astype(float) / 1000
        )
        reading.frames.append(
            Frame(
                frame=int(stem), pose=pose, color=color, depth=depth,
                camera=(k[0, 0], k[1, 1], k[0, 2], k[1, 2]),
            )
        )
    return reading


def _matrices(folder, change):
    path = folder / "trajectory.log"
    if not path.exists():
        return False
    lines = path.read_text().splitlines()
    out = []
    matrices = [
        np.array([[float(x) for x in line.split()] for line in lines[i + 1 : i + 5]])
        for i in range(0, len(lines), 5)
    ]
    for number, m in enumerate(change(matrices)):
        out.append(f"{number} {number} {number + 1}")
        out += [" ".join(repr(float(x)) for x in row) for row in m]
    path.write_text("\n".join(out) + "\n")


def _row_major(folder):
    path = folder / "intrinsic.json"
    import json

    document = json.loads(path.read_text())
    document["intrinsic_matrix"] = np.array(document["intrinsic_matrix"]).reshape(3, 3).T.ravel().tolist()
    path.write_text(json.dumps(document))


def _bgr(folder):
    import cv2

    for path in (folder / "color").iterdir():
        # Written through a new file: the exported one may share its blocks with color/.
        picture = cv2.imread(str(path))
        path.unlink()
        cv2.imwrite(str(path), picture[..., ::-1])


def _shifted_depth(folder):
    paths = sorted((folder / "depth").iterdir())
    contents = [p.read_bytes() for p in paths]
    for path, content in zip(paths, contents[1:] + contents[:1]):
        path.unlink()
        path.write_bytes(content)


MISTAKES = {
    "inverted pose": lambda f: _matrices(f, lambda m: [np.linalg.inv(x) for x in m]),
    "OpenGL axes": lambda f: _matrices(f, lambda m: [x @ np.diag([1, -1, -1, 1]) for x in m]),
    "transposed rotation": lambda f: _matrices(
        f, lambda m: [np.block([[x[:3, :3].T, x[:3, 3:]], [x[3:, :]]]) for x in m]
    ),
    "column-major pose": lambda f: _matrices(f, lambda m: [x.T for x in m]),
    "pose shifted by one frame": lambda f: _matrices(f, lambda m: m[1:] + m[:1]),
    "row-major intrinsics": _row_major,
    "BGR": _bgr,
    "depth shifted by one frame": _shifted_depth,
}
