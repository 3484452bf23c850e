import Media

extension ARKitScannerCapture {
  /// Adds claims about stream lengths: pictures, depth frames and poses correspond one to one; the
  /// other tables have an entry for each key of the poses.
  func claim(_ capture: inout Capture) {
    let poses = sidecars.poses.value?.count { $0.isThere }
    let held = frames.keyCount > 0 ? poses : nil
    capture.claims.addNumbered([
      ("poses", held, held, "the poses"),
      ("color", frames.pictureCount, frames.framesOfPictures.last.map { $0 + 1 }, "the pictures"),
      ("depth", frames.depthCount, frames.depthCount, "the depth frames"),
    ])
    let keys = frames.keyCount > 0 ? frames.keyCount : nil
    for (stream, count) in [
      ("poses", poses), ("color", frames.pictureCount), ("depth", frames.depthCount),
    ] {
      capture.claims.add(stream, held: count, declared: keys, by: "the keys of the side files")
    }
    let tables = [
      ("intrinsics", sidecars.matrices.value?.count { $0 != nil }),
      ("cameraSettings", sidecars.offsets.value?.count { $0 != nil }),
      ("cameraSettings", sidecars.exposures.value?.count { $0 != nil }),
    ]
    for (stream, count) in tables {
      capture.claims.add(
        stream, held: count, declared: keys, unit: "entries are there", by: "the poses")
    }
    capture.claims.add(
      "color", held: frames.pictureCount, declared: contents.video.value?.track.listedPictures,
      by: "the index of the video")
  }
}

extension ARKitScannerPoseReading {
  fileprivate var isThere: Bool {
    if case .none = self { false } else { true }
  }
}
