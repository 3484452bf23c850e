import Captures
import Media
import Core
import Engine

/// Makes the frames of a `.sens` file on all cores and writes them in order.
struct SensFrames {
  let source: ExportSource
  let pictures: ExportPictures
  let depth: ExportPictures
  let frames: [Int]
  let header: SensHeader
  /// Makes calibrated frames; `nil` writes pictures as they are.
  let calibration: SensCalibration?
  /// Whether frames have depth times, and none of them is trusted.
  private let noneIsTrusted: Bool

  init(
    source: ExportSource, pictures: ExportPictures, depth: ExportPictures, frames: [Int],
    header: SensHeader, calibration: SensCalibration?
  ) {
    (self.source, self.pictures, self.depth, self.frames) = (source, pictures, depth, frames)
    (self.header, self.calibration) = (header, calibration)
    let all = source.context.capture.frames
    noneIsTrusted =
      all.contains { $0.depthTimestamp != nil } && !all.contains { $0.timestamp != nil }
  }

  /// Size of a frame before its data.
  static let headerBytes = 96

  /// libdeflate's level for depth, measured on noisy pictures: for 256x192 the smallest of all
  /// levels (0.9 ms), on the color grid 1.1 % larger than level 6 in 60 % of its time.
  static let depthLevel = 4

  /// Appends all frames to `file`; returns their total size by their own headers.
  ///
  /// One batch of two frames per core is made while the previous one is written: two batches are in
  /// memory.
  func write(to file: StagedFile) throws -> Int64 {
    let context = source.context
    context.progress.expect(frames.count)
    let batch = max(1, 2 * context.budget.share)
    var expected: Int64 = 0
    var ready: [[UInt8]] = []
    for start in stride(from: 0, through: frames.count + batch - 1, by: batch) {
      let positions = min(start, frames.count)..<min(start + batch, frames.count)
      if positions.isEmpty, ready.isEmpty { break }
      // Safe: only one iteration uses the file, and all have ended when this call returns.
      nonisolated(unsafe) let file = file
      let previous = ready
      ready = try concurrentMap(count: positions.count + 1, budget: context.budget) { index in
        try context.cancellation.check()
        if index == 0 {
          for bytes in previous {
            try file.append(bytes)
            context.progress.advance()
          }
          return []
        }
        return try frame(frames[positions.lowerBound + index - 1])
      }
      ready.removeFirst()
      for bytes in ready { expected += Self.statedBytes(bytes) }
    }
    return expected
  }

  /// The size of a frame by its own header.
  private static func statedBytes(_ frame: [UInt8]) -> Int64 {
    func number(_ offset: Int) -> Int64 {
      frame[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
    return Int64(headerBytes) + number(80) + number(88)
  }

  private func frame(_ frame: Int) throws -> [UInt8] {
    let color = try color(frame)
    let depth = try depth(frame)
    let (colorTime, depthTime) = times(frame)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerBytes + color.count + depth.count)
    bytes.sens(matrix: pose(frame))
    bytes.sens(time: colorTime)
    bytes.sens(time: depthTime)
    bytes.sens(UInt64(color.count))
    bytes.sens(UInt64(depth.count))
    bytes += color
    bytes += depth
    return bytes
  }

  /// Sixteen times -infinity if tracking was lost, which readers test for; the identity, which they
  /// take for "not computed yet", if the app records no poses.
  private func pose(_ frame: Int) -> [Double] {
    if let pose = source.pose(frame) { return pose.worldFromCamera.rowMajor }
    if case .absent = source.context.capture.poses { return RigidTransform.identity.rowMajor }
    return [Double](repeating: -.infinity, count: 16)
  }

  /// The times in the capture's file, unless they belong to an earlier scan: for frames that lost a
  /// recorded time, and for a capture all of whose times are untrusted, there are none.
  private func times(_ frame: Int) -> (color: Timestamp?, depth: Timestamp?) {
    let row = source.context.capture.frames[frame]
    if row.timestamp == nil, row.depthTimestamp != nil || noneIsTrusted { return (nil, nil) }
    return (row.colorTimestamp, row.depthTimestamp)
  }

  /// Number of frames with a time of 0, which means unknown.
  var framesWithoutTime: Int {
    frames.count { frame in
      let (color, depth) = times(frame)
      return color == nil || depth == nil
    }
  }

  private func color(_ frame: Int) throws -> [UInt8] {
    if calibration?.changesColor != true, !header.form.encodes(frame, pictures) {
      let bytes = try pictures.bytes(frame)
      if let stored = StoredPicture(bytes), stored.bitDepth == 8, stored.channels == 3 {
        try check(frame, "color", (stored.width, stored.height), header.colorSize)
        return bytes
      }
    }
    let stored = try pictures.color(frame)
    let picture = try calibration?.color(stored, frame: frame) ?? stored
    try check(frame, "color", (picture.width, picture.height), header.colorSize)
    var writer = try PictureWriter(header.form, source.context.parameters)
    try writer.encode(rgb: picture.rgb, width: picture.width, height: picture.height)
    return writer.file
  }

  private func depth(_ frame: Int) throws -> [UInt8] {
    let stored = try depth.depth(frame)
    let picture = try calibration?.depth(stored) ?? stored
    try check(frame, "depth", (picture.width, picture.height), header.depthSize)
    var compressor = try ZlibCompressor(level: Self.depthLevel)
    var bytes: [UInt8] = []
    #if _endian(little)
      try compressor.append(picture.millimeters.span.bytes, to: &bytes)
    #else
      try compressor.append(picture.millimeters.map(\.littleEndian).span.bytes, to: &bytes)
    #endif
    return bytes
  }

  /// Checks the picture's size, which readers assume to be that of the header.
  private func check(
    _ frame: Int, _ what: String, _ size: (Int, Int), _ stated: (width: Int, height: Int)
  ) throws {
    guard size != stated else { return }
    throw StageFailure(
      "the \(what) picture of frame \(frame) has \(size.0)x\(size.1) pixels, the others "
        + "\(stated.width)x\(stated.height): leave it out with first and last")
  }
}
