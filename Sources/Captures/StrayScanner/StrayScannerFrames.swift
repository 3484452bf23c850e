import Geometry

/// The canonical frames: every number that a row, a file or a picture of the video has.
struct StrayScannerFrames {
  let frames: [CaptureFrame]
  /// Frame of the first picture of the video: 1 for copies without the hidden picture.
  let firstPicture: Int
  let pictureCount: Int
  /// Number of frames without row that have a file or picture.
  let framesWithoutRow: Int

  init(_ tables: StrayScannerTables) {
    let rows = tables.odometry.value?.rows ?? []
    let (depth, confidence) = (tables.depth.value, tables.confidence.value)
    pictureCount = tables.color.value?.pictureCount ?? 0
    firstPicture = tables.lacksHiddenPicture ? 1 : 0
    let pictures = pictureCount > 0 ? firstPicture..<firstPicture + pictureCount : 0..<0
    let count = max(
      (rows.last?.frame ?? -1) + 1, depth?.numberCount ?? 0, confidence?.numberCount ?? 0,
      pictures.upperBound)
    var frames = [CaptureFrame](repeating: CaptureFrame(), count: count)
    for row in rows {
      let index = row.frame
      // Only the video tells times of early rows; without it they are nominal.
      if tables.generation == .early, pictureCount > 0, index >= pictureCount { continue }
      frames[index].timestamp = row.time
      if pictures.contains(index) { frames[index].colorTimestamp = row.time }
      if depth?.hasFile(index) ?? false { frames[index].depthTimestamp = row.time }
    }
    framesWithoutRow = frames.indices.count { index in
      frames[index].timestamp == nil
        && (pictures.contains(index) || depth?.hasFile(index) ?? false
          || confidence?.hasFile(index) ?? false)
    }
    self.frames = frames
  }
}
