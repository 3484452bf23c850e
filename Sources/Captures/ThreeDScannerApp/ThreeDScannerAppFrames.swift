import Core

/// The canonical frames: 0 to the greatest number of any file.
struct ThreeDScannerAppFrames {
  let frames: [CaptureFrame]
  /// Number of frames with a picture and without time.
  let picturesWithoutTime: Int

  init(_ tables: ThreeDScannerAppTables) {
    var frames = [CaptureFrame](repeating: CaptureFrame(), count: tables.files.greatest + 1)
    let color = Set(tables.files[.color].files.map(\.number))
    for (index, file) in tables.rows {
      frames[index].timestamp = file.time
      if color.contains(index) { frames[index].colorTimestamp = file.time }
      if tables.depth.hasFile(index) { frames[index].depthTimestamp = file.time }
    }
    picturesWithoutTime = frames.indices.count { index in
      frames[index].timestamp == nil
        && (color.contains(index) || tables.depth.hasFile(index)
          || tables.confidence.hasFile(index))
    }
    self.frames = frames
  }
}
