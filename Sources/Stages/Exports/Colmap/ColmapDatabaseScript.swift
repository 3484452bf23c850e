/// `database.py` next to a COLMAP model: fills a new COLMAP database with the cameras and images of
/// the model.
///
/// `feature_extractor` alone numbers images in the order in which its threads end (3.x) and gives
/// every image its own camera and rig with a guessed focal length. `point_triangulator` then
/// aborts, because database and model disagree. Images that are already in the database keep their
/// ids and cameras, in all versions.
enum ColmapDatabaseScript {
  static let name = "database.py"

  static let text = #"""
    #!/usr/bin/env python3
    """Fills database.db, new from `colmap database_creator`, with the cameras and images of sparse/0.

    Images then have the same ids, cameras and intrinsics in the database as in the model.
    """

    import pathlib
    import sqlite3
    import struct

    FOLDER = pathlib.Path(__file__).resolve().parent
    MODEL = FOLDER / "sparse" / "0"
    # PINHOLE, OPENCV, FULL_OPENCV.
    NUMBERS = {"PINHOLE": 1, "OPENCV": 4, "FULL_OPENCV": 6}
    PARAMETERS = {1: 4, 4: 8, 6: 12}

    def from_binary():
        data = (MODEL / "cameras.bin").read_bytes()
        cameras, place = [], 8
        for _ in range(struct.unpack_from("<Q", data)[0]):
            camera, kind, width, height = struct.unpack_from("<iiQQ", data, place)
            size = 8 * PARAMETERS[kind]
            cameras.append((camera, kind, width, height, data[place + 24 : place + 24 + size]))
            place += 24 + size
        data = (MODEL / "images.bin").read_bytes()
        images, place = [], 8
        for _ in range(struct.unpack_from("<Q", data)[0]):
            # Id, four numbers of the rotation, three of the translation, camera, name.
            (image,) = struct.unpack_from("<i", data, place)
            (camera,) = struct.unpack_from("<i", data, place + 60)
            end = data.index(0, place + 64)
            images.append((image, data[place + 64 : end].decode(), camera))
            (points,) = struct.unpack_from("<Q", data, end + 1)
            place = end + 9 + 24 * points
        return cameras, images

    def from_text():
        def rows(name):
            lines = (MODEL / name).read_text().splitlines()
            return [line.split() for line in lines if line and not line.startswith("#")]

        cameras = []
        for camera, kind, width, height, *values in rows("cameras.txt"):
            blob = struct.pack(f"<{len(values)}d", *map(float, values))
            cameras.append((int(camera), NUMBERS[kind], int(width), int(height), blob))
        return cameras, [(int(row[0]), row[9], int(row[8])) for row in rows("images.txt")]

    cameras, images = from_binary() if (MODEL / "cameras.bin").exists() else from_text()
    database = sqlite3.connect(FOLDER / "database.db")
    with database:
        # 1: the focal length is known.
        database.executemany("INSERT INTO cameras VALUES (?, ?, ?, ?, ?, 1)", cameras)
        database.executemany("INSERT INTO images (image_id, name, camera_id) VALUES (?, ?, ?)", images)
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        if "frames" in tables:
            # Versions with rigs: one of each camera, and a frame for each image, as they make up for the model.
            database.execute("INSERT INTO rigs SELECT camera_id, camera_id, 0 FROM cameras")
            database.execute("INSERT INTO frames SELECT image_id, camera_id FROM images")
            database.execute("INSERT INTO frame_data SELECT image_id, image_id, camera_id, 0 FROM images")
    database.close()
    print(f"{len(cameras)} cameras, {len(images)} images")

    """#
}
