import Captures
import Media
import Core
import Engine
import Synchronization
import SystemPackage

/// The pictures of an export as one video; picture n of it, in display order, is exported frame n.
extension ExportSpectacular {
  /// Writes `data.mp4` with the capture's own coded pictures, or `data.mkv` without loss.
  /// - Returns: the file's name.
  static func writeVideo(of frames: [Int], _ source: ExportSource) throws -> String {
    try writeCoded(frames, source) ?? writeLossless(frames, source)
  }

  // MARK: Coded pictures as they are

  /// `nil` unless all pictures are exported, none is turned, reshaped or damaged, and the video has a
  /// suitable form.
  private static func writeCoded(
    _ frames: [Int], _ source: ExportSource
  ) throws -> String? {
    let context = source.context
    guard let color = context.capture.color.value, case .video(let file, let track) = color.source,
      let order = color.order, isWhole(frames, color, order, source)
    else { return nil }
    let name = "data.mp4"
    let (output, path) = try context.staging.open(name)
    let isCopied: Bool
    do {
      isCopied = try VideoRemux.mp4(
        file, container: color.description.container,
        track: track, order: order,
        microseconds: microseconds(frames.compactMap(source.time), leastStep: 1), to: output,
        at: path)
    } catch {
      try? output.close()
      throw error
    }
    try output.close()
    // Read back as a player would.
    guard isCopied, let index = try? VideoIndex.read(path), let copy = index.tracks.first,
      copy.pictureCount == frames.count, copy.backwardSteps == 0,
      (0..<order.count).allSatisfy({ copy.order.displayIndex($0) == order.displayIndex($0) })
    else {
      try context.staging.folder.remove(name)
      return nil
    }
    try context.staging.adopt(name)
    context.progress.advance(by: frames.count)
    return name
  }

  /// Whether picture n of the video is exported frame n, for every n, without a turn and with its own
  /// values.
  private static func isWhole(
    _ frames: [Int], _ color: ColorStream, _ order: PictureOrder, _ source: ExportSource
  ) -> Bool {
    guard color.clockwiseQuarterTurns == 0, !color.isMirrored, !source.isReshaped,
      order.count == frames.count,
      let pictures = source.pictures,
      PublishedLight(pictures.record)?.isConverted != true
    else { return false }
    let isDamaged = pictures.record.warnings.contains {
      $0.subject == "color" && [.corruptRecord, .sizeMismatch].contains($0.code)
    }
    if isDamaged { return false }
    return frames.indices.allSatisfy { picture in
      guard let frameOfPicture = color.frameOfPicture else { return frames[picture] == picture }
      return frameOfPicture.indices.contains(picture)
        && frameOfPicture[picture] == frames[picture]
    }
  }

  // MARK: Without loss

  /// Decodes and encodes pictures on all cores and writes them in order: one per core is in memory.
  private static func writeLossless(
    _ frames: [Int], _ source: ExportSource
  ) throws -> String {
    let context = source.context
    guard let pictures = source.pictures, let first = frames.first else {
      throw StageDoesNotApply("no picture is left")
    }
    let size = try pictures.color(first)
    let (width, height) = (size.width, size.height)
    let name = "data.mkv"
    let (output, path) = try context.staging.open(name)
    defer { try? output.close() }
    let file = try LosslessVideoFile(output, at: path, width: width, height: height)
    // The container's times are milliseconds.
    let times = microseconds(frames.compactMap(source.time), leastStep: 1000)
    let free = Mutex<[LosslessVideoEncoder]>([])
    context.progress.expect(frames.count)
    var position = 0
    while position < frames.count {
      try context.cancellation.check()
      let batch = position..<min(position + context.workers, frames.count)
      let coded = try concurrentMap(count: batch.count, budget: context.budget) { index in
        let encoder =
          try free.withLock { $0.popLast() }
          ?? LosslessVideoEncoder(width: width, height: height, name: path)
        defer { free.withLock { $0.append(encoder) } }
        return try encoder.encode(try pictures.color(frames[batch.lowerBound + index]))
      }
      for (index, picture) in zip(batch, coded) {
        try file.append(picture, microseconds: times[index])
      }
      position = batch.upperBound
      context.progress.advance(by: batch.count)
    }
    try file.finish()
    try context.staging.adopt(name)
    return name
  }

  /// Display times from 0: rounded, at least `leastStep` apart, and no step above 1,000 s, the
  /// limit of containers. They matter only for players: `data.jsonl` has the times.
  static func microseconds(_ times: [Timestamp], leastStep: Int64) -> [Int64] {
    var shown: [Int64] = []
    var sum: Int64 = 0
    for (position, time) in times.enumerated() {
      if position > 0 { sum += min(max(0, time - times[position - 1]), 1_000_000_000_000) }
      shown.append(max((sum + 500) / 1000, (shown.last ?? -leastStep) + leastStep))
    }
    return shown
  }
}
