"""Comparisons for formats that encode color with loss, or that hold depth and intrinsics but maybe no poses."""

import numpy as np

from room import to_world, unproject


def check_own_colors(reading, tables, checker):
    """A picture is nearer to its own frame than to those beside it: the loss is smaller than any motion."""
    step = max(1, len(reading.frames) // 4)
    for number in range(0, len(reading.frames), step):
        frame = reading.frames[number]
        picture = frame.color().astype(np.int64)

        def distance(index):
            return abs(picture - tables.color(index).astype(np.int64)).mean()

        own = distance(tables.exported[number])
        for other in tables.exported[max(0, number - 1) : number + 2]:
            checker.that(
                own <= distance(other),
                f"number {number}: looks like frame {other}, not {tables.exported[number]}",
            )


def check_depth_camera(reading, tables, room, checker):
    """Depth on the color grid has the color camera; all depth lies on the walls at the true poses."""
    for number, (frame, index) in enumerate(zip(reading.frames, tables.exported)):
        if number % 4:
            continue
        depth = frame.depth()
        is_aligned = reading.color_from_depth is None or (reading.color_from_depth == np.eye(4)).all()
        if depth.shape == tables.color(index).shape[:2] and is_aligned:
            checker.that(
                frame.depth_camera == frame.camera,
                f"frame {index}: depth of color's size has another camera than color",
            )
        if room is None or not room.is_empty or index not in room.poses:
            continue
        points, _, _ = unproject(depth, frame.depth_camera)
        if not len(points):
            continue
        z = points[:, 2]
        if reading.color_from_depth is not None:
            points = to_world(reading.color_from_depth, points)
        distance = room.distance(to_world(room.poses[index], points)) / z
        checker.that(
            np.median(distance) < 0.02,
            f"frame {index}: depth is {100 * np.median(distance):.1f} % off the walls",
        )
