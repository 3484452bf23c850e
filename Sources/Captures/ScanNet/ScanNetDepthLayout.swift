import Codecs
import Storage

/// Where the frames and times of a `.depth` file lie.
///
/// The file has no frame count, no magic number and no checksum: records of `uint32 n` and n bytes,
/// then the depth times, then the color times as float64 seconds. The number of records is found by
/// walking and then by looking which end leaves room for whole time blocks.
struct ScanNetDepthLayout: Sendable {
  /// One compressed frame.
  struct Record: Sendable, Hashable {
    /// Of the payload, behind its length.
    var payloadOffset: Int
    var payloadBytes: Int
    /// Whether the stored length is wrong and the end was found from the codes instead.
    var hasDamagedLength = false

    var offset: Int { payloadOffset - 4 }
    var end: Int { payloadOffset + payloadBytes }
  }

  var records: [Record] = []
  /// Seconds since boot, in frame order, not longer than `records`.
  var depthTimes: [Double] = []
  var colorTimes: [Double] = []
  /// Whether anything of the time blocks is there.
  var hasTimes = false
  /// The byte at which the file breaks off inside a payload or the time blocks.
  var truncatedAt: Int?
  /// The first byte behind everything that could be understood.
  var trailingAt: Int?

  init() {}

  /// - Parameters:
  ///   - pixelCount: of one frame.
  ///   - declaredTimes: how long the app says the time blocks are (T), if it says so.
  ///   - didPass: hears how many bytes were left behind, so that a map can give them back.
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

  /// What stands behind the last record when no whole time blocks do.
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

  /// Takes the whole float64 that are there; entries beyond the last frame are garbage.
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
