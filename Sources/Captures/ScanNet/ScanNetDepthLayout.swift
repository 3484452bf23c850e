import Media
import Core

/// The positions of frames and times in a `.depth` file.
///
/// The file has no frame count, magic number or checksum. It has records of `uint32 n` and n bytes,
/// then the depth times, then the color times as float64 seconds. The number of records is found by
/// walking them and then choosing the end after which whole time blocks fit.
struct ScanNetDepthLayout: Sendable {
  /// One compressed frame.
  struct Record: Sendable, Hashable {
    /// Offset of the payload, after its length.
    var payloadOffset: Int
    var payloadBytes: Int
    /// Whether the stored length is wrong and the end was found by decoding.
    var hasDamagedLength = false

    var offset: Int { payloadOffset - 4 }
    var end: Int { payloadOffset + payloadBytes }
  }

  var records: [Record] = []
  /// Seconds since boot, in frame order; at most as many as `records`.
  var depthTimes: [Double] = []
  var colorTimes: [Double] = []
  /// Whether any part of the time blocks exists.
  var hasTimes = false
  /// The offset at which the file is cut inside a payload or the time blocks.
  var truncatedAt: Int?
  /// The first byte after everything that could be interpreted.
  var trailingAt: Int?

  init() {}

  /// - Parameters:
  ///   - pixelCount: pixels of one frame.
  ///   - declaredTimes: number of times per block (T) that the app declares, if any.
  ///   - didPass: receives the number of bytes that are no longer needed, so that a map can
  ///     release them.
  ///
  /// Cost: one step per record; a frame is decoded only where a length is damaged.
  init(
    _ bytes: RawSpan, pixelCount: Int, declaredTimes: Int?, didPass: (Int) -> Void = { _ in }
  ) {
    var walk = ScanNetDepthWalk(pixelCount: pixelCount)
    repeat {
      walk.stepOverRecords(of: bytes, didPass: didPass)
      if let end = ScanNetDepthEnd.best(
        cuts: walk.cuts, byteCount: bytes.byteCount, declaredTimes: declaredTimes),
        !(end.frames == walk.records.count && walk.isCutRecord(bytes, at: walk.end))
      {
        records = Array(walk.records.prefix(end.frames))
        readTimes(bytes, at: walk.cuts[end.frames], count: end.times, blocks: end.blocks)
        return
      }
    } while walk.recoverRecord(of: bytes, declaredTimes: declaredTimes)
    records = walk.records
    readRest(bytes, walk: walk, declaredTimes: declaredTimes)
  }

  /// Interprets what follows the last record if it is not whole time blocks.
  private mutating func readRest(
    _ bytes: RawSpan, walk: ScanNetDepthWalk, declaredTimes: Int?
  ) {
    let end = walk.end
    let rest = bytes.byteCount - end
    guard rest > 0 else { return }
    if rest < 4 || walk.startsRecord(bytes, at: end) {
      truncatedAt = bytes.byteCount
    } else if let times = declaredTimes, abs(times - records.count) <= 2 {
      hasTimes = true
      if rest < 16 * times {
        truncatedAt = bytes.byteCount
      } else if rest > 16 * times {
        trailingAt = end + 16 * times
      }
      readTimes(bytes, at: end, count: times, blocks: 2)
    } else {
      trailingAt = end
    }
  }

  /// Reads the whole float64 that exist; entries beyond the last frame are invalid.
  private mutating func readTimes(_ bytes: RawSpan, at offset: Int, count: Int, blocks: Int) {
    hasTimes = true
    for index in 0..<min(count, records.count) {
      guard let time = bytes.littleEndianDouble(at: offset + 8 * index) else { break }
      depthTimes.append(time)
    }
    guard blocks > 1 else { return }
    for index in 0..<min(count, records.count) {
      guard let time = bytes.littleEndianDouble(at: offset + 8 * (count + index)) else { break }
      colorTimes.append(time)
    }
  }
}
