"""`export-mcap` through two readers: `mcap` with `mcap-ros2-support`, and `rosbags`."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import cv2
import numpy as np
import yaml
from mcap.reader import make_reader
from mcap.records import Chunk, Message
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

from room import Frame, Reading, rotation

# What the specification says of the world: new z = old y, new x = old z, new y = old x.
Z_UP = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
# And of phones: the stored picture's camera to the IMU, and one clockwise quarter turn.
STORED = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -1.0]])
QUARTER_TURN = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]])
TYPES = {
    "/tf_static": "tf2_msgs/msg/TFMessage",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/pose": "geometry_msgs/msg/PoseStamped",
    "/imu0": "sensor_msgs/msg/Imu",
    "/cam0/image_raw/compressed": "sensor_msgs/msg/CompressedImage",
    "/cam0/image_raw": "sensor_msgs/msg/Image",
    "/cam0/camera_info": "sensor_msgs/msg/CameraInfo",
    "/depth0/image_raw": "sensor_msgs/msg/Image",
    "/depth0/camera_info": "sensor_msgs/msg/CameraInfo",
    "/fix": "sensor_msgs/msg/NavSatFix",
}


def _matrix(transform):
    m = np.eye(4)
    q = transform.rotation
    m[:3, :3] = rotation(q.x, q.y, q.z, q.w)
    t = transform.translation
    m[:3, 3] = [t.x, t.y, t.z]
    return m


def _stamp(header):
    return header.stamp.sec * 1_000_000_000 + header.stamp.nanosec


def _header(message):
    return message.transforms[0].header if hasattr(message, "transforms") else message.header


def _by_mcap(folder):
    """Messages by topic: (log time, message)."""
    messages = {}
    with open(folder / "bag/bag.mcap", "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
        last = 0
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            if schema.name != TYPES[channel.topic]:
                raise ValueError(f"{channel.topic} is a {schema.name}")
            if message.log_time < last or message.log_time != message.publish_time:
                raise ValueError(f"{channel.topic}: log time {message.log_time} after {last}")
            last = message.log_time
            messages.setdefault(channel.topic, []).append((message.log_time, decoded))
    return messages


def _by_rosbags(folder):
    messages = {}
    with AnyReader([folder / "bag"]) as reader:
        for connection, time, raw in reader.messages():
            messages.setdefault(connection.topic, []).append(
                (time, reader.deserialize(raw, connection.msgtype))
            )
    return messages


def _numbers(message):
    """All numbers and texts of a message, in order, from either reader."""
    if isinstance(message, np.ndarray):
        return message.ravel().tolist()
    if isinstance(message, (bytes, bytearray)):
        return list(message[:1000])
    if isinstance(message, (list, tuple)):
        return [x for item in message for x in _numbers(item)]
    if isinstance(message, (int, float, str, bool)):
        return [message]
    names = (
        [f.name for f in dataclasses.fields(message) if f.name != "__msgtype__"]
        if dataclasses.is_dataclass(message)
        else list(message.__slots__)
    )
    return [x for n in names if n.islower() or n in "dkrp" for x in _numbers(getattr(message, n))]


def _same(a, b):
    """The numbers that both readers return, apart from long payloads."""
    return all(
        np.array_equal(np.array(_numbers(x)[:40], dtype=object).astype(str),
                       np.array(_numbers(y)[:40], dtype=object).astype(str))
        for x, y in zip(a, b)
    )


def _picture(message):
    if hasattr(message, "format"):
        picture = cv2.imdecode(np.frombuffer(message.data, np.uint8), cv2.IMREAD_COLOR)
        magic = {"png": b"\x89PNG", "jpeg": b"\xff\xd8"}[message.format]
        if not bytes(message.data[:4]).startswith(magic):
            raise ValueError(f"the picture is no {message.format}")
        return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
    channels = {"rgb8": 3, "bgr8": 3, "mono8": 1}[message.encoding]
    if message.step != message.width * channels:
        raise ValueError(f"step {message.step} of {message.width} pixels")
    pixels = np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, channels)
    if message.encoding == "bgr8":
        pixels = pixels[..., ::-1]
    return pixels[..., 0] if channels == 1 else pixels


def _depth(message):
    if (message.encoding, message.is_bigendian, message.step) != ("16UC1", 0, 2 * message.width):
        raise ValueError(f"depth is {message.encoding}, step {message.step}")
    pixels = np.frombuffer(message.data, "<u2").reshape(message.height, message.width)
    return pixels.astype(float) / 1000


def read(folder):
    messages = _by_mcap(folder)
    others = _by_rosbags(folder)
    if {k: len(v) for k, v in messages.items()} != {k: len(v) for k, v in others.items()}:
        raise ValueError("the two readers count other messages")
    for topic, list_ in messages.items():
        times = [t for t, _ in list_]
        if times != [t for t, _ in others[topic]]:
            raise ValueError(f"{topic}: the two readers return other times")
        if any(b <= a for a, b in zip(times, times[1:])):
            raise ValueError(f"{topic}: stamps do not strictly increase")
        for time, message in list_:
            if _stamp(_header(message)) != time:
                raise ValueError(f"{topic}: header.stamp is not the log time {time}")
        if not _same([m for _, m in list_], [m for _, m in others[topic]]):
            raise ValueError(f"{topic}: the two readers return other values")

    reading = Reading()
    fixed = {}
    for _, message in messages.get("/tf_static", []):
        for t in message.transforms:
            fixed[t.header.frame_id, t.child_frame_id] = _matrix(t.transform)
    moving = {
        time: _matrix(message.transforms[0].transform) for time, message in messages.get("/tf", [])
    }
    poses = {
        time: _matrix(
            type("T", (), {"rotation": m.pose.orientation, "translation": m.pose.position})
        )
        for time, m in messages.get("/pose", [])
    }
    if moving.keys() != poses.keys() or any(abs(moving[t] - poses[t]).max() > 1e-12 for t in moving):
        raise ValueError("/tf and /pose differ")
    infos = {time: m for time, m in messages.get("/cam0/camera_info", [])}
    pictures = messages.get("/cam0/image_raw/compressed", messages.get("/cam0/image_raw", []))
    depths = messages.get("/depth0/image_raw", [])
    # Depth has a time of its own: it belongs to the picture that is nearest.
    depth_of = {}
    stamps = np.array([time for time, _ in pictures], dtype=np.int64)
    for time, message in depths:
        nearest = int(stamps[np.argmin(abs(stamps - time))])
        if nearest in depth_of or abs(nearest - time) > 25_000_000:
            raise ValueError(f"the depth picture at {time} belongs to no picture")
        depth_of[nearest] = time, message
    stated = json.loads((folder / "export.json").read_text()).get("worldUp")
    app_from_map = Z_UP.T if stated == "y" else np.eye(4)
    for time, message in pictures:
        frame = Frame(time_ns=time, color=lambda m=message: _picture(m))
        if time in moving:
            # Through the map, whose z is up, back to the app's world.
            frame.pose = app_from_map @ fixed["map", "world"] @ moving[time]
        if time in infos:
            k = infos[time].k
            frame.camera = (k[0], k[4], k[2], k[5])
        if time in depth_of:
            frame.depth_time_ns = depth_of[time][0]
            frame.depth = lambda m=depth_of[time][1]: _depth(m)
        reading.frames.append(frame)
    if "/imu0" in messages:
        samples = messages["/imu0"]
        reading.imu_times_ns = [time for time, _ in samples]
        reading.imu = np.array(
            [
                [time, *(getattr(m.angular_velocity, c) for c in "xyz"),
                 *(getattr(m.linear_acceleration, c) for c in "xyz")]
                for time, m in samples
            ]
        )
        reading.imu_from_camera = np.linalg.inv(fixed["cam0", "imu0"])
    reading.messages = messages
    return reading


def check_more(reading, folder, tables, room, checker):
    messages = reading.messages
    counts = {topic: len(list_) for topic, list_ in messages.items()}
    checker.that(counts == tables.export["topics"], f"export.json says {tables.export['topics']}")
    stated = yaml.safe_load((folder / "bag/metadata.yaml").read_text())["rosbag2_bagfile_information"]
    listed = {
        t["topic_metadata"]["name"]: t["message_count"] for t in stated["topics_with_message_count"]
    }
    checker.that(counts == listed, f"metadata.yaml lists {listed}")
    times = [time for list_ in messages.values() for time, _ in list_]
    checker.that(
        stated["starting_time"]["nanoseconds_since_epoch"] == min(times), "metadata.yaml: start"
    )
    checker.that(
        stated["duration"]["nanoseconds"] == max(times) - min(times), "metadata.yaml: duration"
    )
    qualities = {
        t["topic_metadata"]["name"]: t["topic_metadata"]["offered_qos_profiles"]
        for t in stated["topics_with_message_count"]
    }
    if "/tf_static" in counts:
        checker.that("durability: 1," in qualities["/tf_static"], "/tf_static is not held for later")
        checker.that(messages["/tf_static"][0][0] == min(times), "/tf_static is not at the start")
    frames = {
        "/pose": "world", "/imu0": "imu0", "/cam0/image_raw/compressed": "cam0",
        "/cam0/camera_info": "cam0", "/depth0/image_raw": "cam0", "/depth0/camera_info": "cam0",
        "/tf": "world", "/cam0/image_raw": "cam0",
    }
    for topic, list_ in messages.items():
        for _, message in list_[:5]:
            name = _header(message).frame_id
            checker.that(frames.get(topic, name) == name, f"{topic}: frame_id {name}")
    check_cameras(reading, messages, checker)
    for _, message in messages.get("/imu0", []):
        checker.that(message.orientation_covariance[0] == -1, "/imu0 claims an orientation")
        checker.that(
            any(message.linear_acceleration_covariance) == ("covariances" not in tables.export["assumed"]),
            "/imu0 claims an accuracy",
        )
    if reading.imu_from_camera is not None:
        turns = json.loads((tables.capture / "capture.json").read_text())
        turns = turns["streams"].get("color", {}).get("clockwiseQuarterTurns") or 0
        expected = STORED @ np.linalg.matrix_power(QUARTER_TURN, turns)
        off = abs(reading.imu_from_camera[:3, :3] - expected).max()
        checker.that(off < 1e-12, f"cam0 to imu0 is off by {off}")
    check_records(folder / "bag/bag.mcap", counts, checker)
    check_table_imu(reading, tables, checker)


def check_cameras(reading, messages, checker):
    for topic in ("/cam0/camera_info", "/depth0/camera_info"):
        pictures = messages.get(
            topic.replace("camera_info", "image_raw/compressed"),
            messages.get(topic.replace("camera_info", "image_raw"), []),
        )
        for (time, info), (stamp, picture) in zip(messages.get(topic, []), pictures):
            checker.that(time == stamp, f"{topic} at {time}, the picture at {stamp}")
            shape = _depth(picture).shape if topic.startswith("/depth0") else _picture(picture).shape
            checker.that((info.height, info.width) == shape[:2], f"{topic}: size")
            fx, fy, cx, cy = info.k[0], info.k[4], info.k[2], info.k[5]
            checker.that(list(info.k) == [fx, 0, cx, 0, fy, cy, 0, 0, 1], f"{topic}: K")
            checker.that(list(info.r) == np.eye(3).ravel().tolist(), f"{topic}: R")
            checker.that(list(info.p) == [fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0], f"{topic}: P")
            lens = info.distortion_model, len(info.d)
            checker.that(lens in [("plumb_bob", 5), ("rational_polynomial", 8)], f"{topic}: {lens}")
    for (_, a), (_, b) in zip(
        messages.get("/cam0/camera_info", []), messages.get("/depth0/camera_info", [])
    ):
        if len(messages["/cam0/camera_info"]) == len(messages["/depth0/camera_info"]):
            checker.that(list(a.k) == list(b.k), "depth has another camera than color")


def check_records(path, counts, checker):
    """What readers do not insist on: checksums, indexes, every message in a chunk."""
    with open(path, "rb") as file:
        chunks = 0
        for record in StreamReader(file, emit_chunks=True).records:
            checker.that(not isinstance(record, Message), "a message lies outside of all chunks")
            if isinstance(record, Chunk):
                chunks += 1
                checker.that(record.uncompressed_crc != 0, "a chunk has no checksum")
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        checker.that(len(summary.chunk_indexes) == chunks, "chunks without an index")
        counted = {
            summary.channels[k].topic: v for k, v in summary.statistics.channel_message_counts.items()
        }
        checker.that(counted == counts, f"the statistics count {counted}")
        for channel in summary.channels.values():
            quality = channel.metadata["offered_qos_profiles"]
            checker.that(
                ("durability: 1" in quality) == (channel.topic == "/tf_static"),
                f"{channel.topic}: offered_qos_profiles",
            )
    # The file's last 37 bytes: footer with its checksum, and the magic.
    end = Path(path).read_bytes()[-37:]
    checker.that(end[25:29] != b"\0\0\0\0", "the summary has no checksum")


def check_table_imu(reading, tables, checker):
    """Samples against the table: the gyroscope as recorded, acceleration of the same times as specific force."""
    if reading.imu is None:
        return
    recorded = {}
    for row in tables.imu():
        recorded.setdefault(row["sensor_type"], {})[int(row["timestamp_ns"])] = np.array(
            [float(row[c]) for c in "xyz"]
        )
    capture = json.loads((tables.capture / "capture.json").read_text())
    sign = {"coremotion": -1, "android": 1}[capture["streams"]["imu"]["convention"]]
    angular = recorded.get("gyroscope", recorded.get("rotationRate"))
    force = recorded.get("accelerometer")
    if force is None:
        user, gravity = recorded["userAcceleration"], recorded["gravity"]
        force = {time: user[time] + gravity[time] for time in user if time in gravity}
    for time, row in zip(reading.imu_times_ns, reading.imu):
        checker.that(time in angular, f"no gyroscope sample at {time}")
        checker.that(np.array_equal(angular[time], row[1:4]), f"angular velocity at {time}")
        if time in force:
            checker.that(np.array_equal(sign * force[time], row[4:7]), f"acceleration at {time}")


# Mistakes, made in a copy of the bag that is written anew.


def _rewrite(change, compression=CompressionType.NONE, **options):
    """`change(topic, message) -> message` on all messages, in a new file of the same name."""

    def make(folder):
        path = folder / "bag/bag.mcap"
        before = path.with_suffix(".before")
        shutil.move(path, before)
        changed = False
        with AnyReader([_one_file(folder, before)]) as types, open(before, "rb") as file, open(
            path, "wb"
        ) as out:
            store = types.typestore
            writer = Writer(out, compression=compression, **options)
            writer.start(profile="ros2", library="")
            channels = {}
            for schema, channel, message in make_reader(file).iter_messages():
                if channel.topic not in channels:
                    number = writer.register_schema(schema.name, schema.encoding, schema.data)
                    channels[channel.topic] = writer.register_channel(
                        channel.topic, channel.message_encoding, number, channel.metadata
                    )
                data = message.data
                decoded = store.deserialize_cdr(data, schema.name)
                result = change(channel.topic, decoded)
                if result is not None:
                    changed = True
                    data = (
                        result
                        if isinstance(result, bytes)
                        else bytes(store.serialize_cdr(result, schema.name))
                    )
                time = message.log_time
                if result is not None and not isinstance(result, bytes):
                    time = _stamp(_header(result))
                writer.add_message(channels[channel.topic], max(0, time), data, max(0, time))
            writer.finish()
        before.unlink()
        shutil.rmtree(folder / "types", ignore_errors=True)
        return changed

    return make


def _one_file(folder, path):
    """A bag of its own for the types: `rosbags` takes a folder or a file with its ending."""
    place = folder / "types/x.mcap"
    place.parent.mkdir(exist_ok=True)
    shutil.copy(path, place)
    return place


def _set(message, **values):
    return dataclasses.replace(message, **values)


def _pose(change):
    """On the 4x4 of every moving pose."""

    def make(topic, message):
        if topic == "/tf":
            t = message.transforms[0]
            m = change(_matrix(t.transform))
            return _set(
                message,
                transforms=[_set(t, transform=_transform(t.transform, m))],
            )
        if topic == "/pose":
            p = message.pose
            m = change(_matrix(type("T", (), {"rotation": p.orientation, "translation": p.position})))
            q = _quaternion(m)
            return _set(
                message,
                pose=_set(
                    p,
                    position=_set(p.position, x=m[0, 3], y=m[1, 3], z=m[2, 3]),
                    orientation=_set(p.orientation, x=q[0], y=q[1], z=q[2], w=q[3]),
                ),
            )
        return None

    return make


def _transform(transform, m):
    q = _quaternion(m)
    return _set(
        transform,
        translation=_set(transform.translation, x=m[0, 3], y=m[1, 3], z=m[2, 3]),
        rotation=_set(transform.rotation, x=q[0], y=q[1], z=q[2], w=q[3]),
    )


def _quaternion(m):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(m[:3, :3]).as_quat()


def _w_first(topic, message):
    def turned(q):
        return _set(q, x=q.w, y=q.x, z=q.y, w=q.z)

    if topic == "/tf":
        t = message.transforms[0]
        changed = _set(t.transform, rotation=turned(t.transform.rotation))
        return _set(message, transforms=[_set(t, transform=changed)])
    if topic == "/pose":
        return _set(message, pose=_set(message.pose, orientation=turned(message.pose.orientation)))
    return None


def _camera(change):
    def make(topic, message):
        if not topic.endswith("camera_info"):
            return None
        k = change(np.array(message.k).reshape(3, 3))
        p = np.hstack([k, np.zeros((3, 1))])
        return _set(message, k=k.ravel(), p=p.ravel())

    return make


def _half_pixel(k):
    k = k.copy()
    k[:2, 2] += 0.5
    return k


def _bgr(topic, message):
    if topic == "/cam0/image_raw":
        pixels = np.array(message.data).reshape(-1, 3)[:, ::-1]
        return _set(message, data=np.ascontiguousarray(pixels).ravel())
    if topic == "/cam0/image_raw/compressed":
        picture = cv2.imdecode(np.array(message.data), cv2.IMREAD_COLOR)[..., ::-1]
        ending = ".png" if message.format == "png" else ".jpg"
        return _set(message, data=cv2.imencode(ending, picture)[1].ravel())
    return None


def _acceleration(topic, message):
    if topic != "/imu0":
        return None
    a = message.linear_acceleration
    return _set(message, linear_acceleration=_set(a, x=-a.x, y=-a.y, z=-a.z))


def _times(change):
    """On the stamp of every message, in nanoseconds."""

    def make(topic, message):
        header = _header(message)
        time = change(topic, _stamp(header))
        if time == _stamp(header):
            return None
        sec, nanosec = divmod(time, 1_000_000_000)
        header = _set(header, stamp=_set(header.stamp, sec=sec % 2**31, nanosec=nanosec))
        if hasattr(message, "transforms"):
            return _set(message, transforms=[_set(t, header=header if i == 0 else t.header)
                                             for i, t in enumerate(message.transforms)])
        return _set(message, header=header)

    return make


def _float_seconds(topic, time):
    # Truncated, as by a cast.
    seconds = time / 1e9
    return int(seconds) * 1_000_000_000 + int((seconds - int(seconds)) * 1e9)


def _big_endian(topic, message):
    if topic != "/imu0" and topic != "/cam0/camera_info":
        return None
    from rosbags.typesys import Stores, get_typestore

    name = TYPES[topic]
    little = get_typestore(Stores.ROS2_HUMBLE).serialize_cdr(message, name)
    return bytes([0, 0, 0, 0]) + bytes(little)[4:]


def _shifted(wanted):
    """The payload of one topic shifted by one message."""

    def make(folder):
        held = []

        def change(topic, message):
            if topic != wanted:
                return None
            held.append(message)
            previous = held[-2] if len(held) > 1 else None
            if previous is None:
                return None
            if topic == "/depth0/image_raw":
                return _set(message, data=previous.data)
            t = message.transforms[0]
            return _set(
                message, transforms=[_set(t, transform=previous.transforms[0].transform)]
            )

        return _rewrite(change)(folder)

    return make


def _fixed(wanted, change):
    """On the static transform of a parent."""

    def make(topic, message):
        if topic != "/tf_static" or all(t.header.frame_id != wanted for t in message.transforms):
            return None
        transforms = [
            _set(t, transform=_transform(
                t.transform,
                change(_matrix(t.transform))
                if t.header.frame_id == wanted
                else _matrix(t.transform),
            ))
            for t in message.transforms
        ]
        return _set(message, transforms=transforms)

    return make


def _covariance(topic, message):
    if topic != "/imu0":
        return None
    return _set(message, orientation_covariance=np.zeros(9))


def _meters(topic, message):
    if topic != "/depth0/image_raw":
        return None
    pixels = np.frombuffer(bytes(message.data), "<u2") // 1000
    return _set(message, data=np.frombuffer(pixels.astype("<u2").tobytes(), np.uint8))


def _swapped_bytes(topic, message):
    if topic != "/depth0/image_raw":
        return None
    pixels = np.frombuffer(bytes(message.data), "<u2").byteswap()
    return _set(message, data=np.frombuffer(pixels.tobytes(), np.uint8))


def _text(change):
    def make(folder):
        path = folder / "bag/metadata.yaml"
        text = path.read_text()
        changed = change(text)
        path.write_text(changed)
        return text != changed

    return make


def _damaged(folder):
    path = folder / "bag/bag.mcap"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


MISTAKES = {
    "inverted pose": _rewrite(_pose(np.linalg.inv)),
    "OpenGL axes": _rewrite(_pose(lambda m: m @ np.diag([1, -1, -1, 1.0]))),
    "transposed rotation": _rewrite(
        _pose(lambda m: np.block([[m[:3, :3].T, m[:3, 3:]], [m[3:, :]]]))
    ),
    "w first": _rewrite(_w_first),
    "pose shifted by one frame": _shifted("/tf"),
    "half pixel": _rewrite(_camera(_half_pixel)),
    "column-major K": _rewrite(_camera(lambda k: k.T)),
    "BGR": _rewrite(_bgr),
    "acceleration upside down": _rewrite(_acceleration),
    "milliseconds": _rewrite(_times(lambda topic, t: t // 1_000_000)),
    "float seconds": _rewrite(_times(_float_seconds)),
    "depth at the picture's time": _rewrite(
        _times(lambda topic, t: t + (1_000_000 if topic.startswith("/depth0") else 0))
    ),
    "big-endian CDR": _rewrite(_big_endian),
    "big-endian depth": _rewrite(_swapped_bytes),
    "depth shifted by one frame": _shifted("/depth0/image_raw"),
    "depth in meters": _rewrite(_meters),
    "map is the app's world": _rewrite(
        _fixed("map", lambda m: np.eye(4))
    ),
    "map and world exchanged": _rewrite(
        _fixed("map", np.linalg.inv)
    ),
    "IMU with the camera's axes": _rewrite(
        _fixed("cam0", lambda m: m @ np.diag([1, -1, -1, 1.0]))
    ),
    "orientation claimed": _rewrite(_covariance),
    "missing CRC": _rewrite(lambda topic, m: m, enable_crcs=False),
    "no indexes": _rewrite(lambda topic, m: m, use_statistics=False),
    "no chunks": _rewrite(lambda topic, m: m, use_chunking=False),
    "a bit that flipped": _damaged,
    "static transforms not held": _text(lambda t: re.sub("durability: 1", "durability: 2", t)),
    "message count": _text(lambda t: re.sub(r"message_count: \d+", "message_count: 3", t)),
}
