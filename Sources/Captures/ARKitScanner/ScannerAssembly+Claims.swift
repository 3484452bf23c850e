import Codecs

extension ARKitScanner.Assembly {
  /// Pictures, depth frames and poses go together one by one; the other tables have an entry for each key
  /// of the poses.
  func claim(_ capture: inout Capture) {
    let poses = sides.poses.value?.count { $0.isThere }
    capture.claims.addTogether([
      ("poses", keyCount > 0 ? poses : nil, "the poses"), ("color", pictureCount, "the pictures"),
      ("depth", depthCount, "the depth frames"),
    ])
    let keys = keyCount > 0 ? keyCount : nil
    for (stream, count) in [("poses", poses), ("color", pictureCount), ("depth", depthCount)] {
      capture.claims.add(stream, held: count, declared: keys, by: "the keys of the side files")
    }
    let tables = [
      ("intrinsics", sides.matrices.value?.count { $0 != nil }),
      ("cameraSettings", sides.offsets.value?.count { $0 != nil }),
      ("cameraSettings", sides.exposures.value?.count { $0 != nil }),
    ]
    for (stream, count) in tables {
      capture.claims.add(
        stream, held: count, declared: keys, unit: "entries are there", by: "the poses")
    }
    capture.claims.add(
      "color", held: pictureCount, declared: contents.video.value?.track.listedPictures,
      by: "the index of the video")
  }
}

extension ARKitScanner.PoseReading {
  fileprivate var isThere: Bool {
    if case .none = self { false } else { true }
  }
}
