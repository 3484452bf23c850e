import Core
import Media
import SystemPackage

/// The depth stream of a capture while it is opened.
struct ScanNetDepth {
  /// Width in pixels; 640×480 unless the metadata state otherwise.
  let width: Int
  let height: Int
  /// Positions of the frames; `nil` when there is no file or it cannot be mapped.
  private(set) var layout: ScanNetDepthLayout?
  private var file: MappedFile?
  private let path: FilePath?
  private let name: String
  private let declared: Int?
  private var problem: CaptureError?

  init(_ files: ScanNetFiles, metadata: ScanNetMetadata, into warnings: WarningCollector) {
    width = metadata.pixels("depthWidth") ?? 640
    height = metadata.pixels("depthHeight") ?? 480
    declared = metadata.count("numDepthFrames")
    path = files.depth
    name = "\(files.stem).depth"
    guard let path else {
      if !files.outside.contains(name) {
        warnings.add(.missingFile, name, "\(name) is missing: there is no depth")
      }
      return
    }
    do {
      let file = try MappedFile(path)
      let pixelCount = width * height
      let layout = file.withBytes { [declared] bytes in
        // The walk touches a page of every record; none is needed again soon.
        ScanNetDepthLayout(
          bytes, pixelCount: pixelCount, declaredTimes: declared,
          didPass: { file.didRead(bytes: $0) })
      }
      file.didRead(bytes: file.count)
      self.file = file
      self.layout = layout
      report(layout, into: warnings)
    } catch {
      problem = CaptureError(reasonOf: error, at: path)
    }
  }

  private func report(_ layout: ScanNetDepthLayout, into warnings: WarningCollector) {
    let records = layout.records.count
    if let declared {
      warnings.add(
        .frameCountMismatch, "depth", count: abs(declared - records),
        "\(name) holds \(records) frames, but the metadata says \(declared)"
          + (layout.truncatedAt == nil && declared > records
            ? "; if records are lost inside, those behind \(LossWords.shifted(declared - records))"
            : ""))
    }
    if let end = layout.truncatedAt {
      let what =
        layout.hasTimes
        ? "the frame times"
        : "the payload of record \(records); the times of all frames stood behind the last one and are lost"
      warnings.add(
        .truncatedStream, "depth", "\(name), byte \(end): the file breaks off inside \(what)")
    }
    if let start = layout.trailingAt {
      warnings.add(
        .trailingData, "depth",
        "\(name), byte \(start): bytes that are neither frames nor times are left out")
    }
  }

  /// The stream, or why there is none.
  func state(times: ScanNetFrames) -> StreamState<DepthStream> {
    if let problem { return .unreadable(problem) }
    guard let path, let file, let layout else { return .absent("\(name) is missing") }
    guard !layout.records.isEmpty else {
      let sizes = StructureShift.payloadBytes(pixelCount: width * height)
      return .unreadable(
        CaptureError(
          file: path, record: 0, byteOffset: 0,
          problem: "no whole depth frame of \(width)x\(height) starts here: "
            + "a length of \(sizes.lowerBound) to \(sizes.upperBound) bytes was expected",
          remedy: "copy the file again, or check depthWidth and depthHeight"))
    }
    var description = StreamDescription(
      file: name, encoding: "structure-shift11", width: width, height: height,
      frames: layout.records.count, declaredFrames: declared)
    description.state(
      times: times.frames.map(\.depthTimestamp), steps: times.depthSteps,
      gapFactor: ScanNetReader.description.frameGapFactor)
    func source(inMillimeters: Bool) -> ScanNetDepthSource {
      ScanNetDepthSource(
        file: file, records: layout.records, pixelCount: width * height,
        inMillimeters: inMillimeters)
    }
    return .present(
      DepthStream(
        description: description, width: width, height: height,
        access: .indexed(source(inMillimeters: true)),
        storedValues: source(inMillimeters: false)))
  }
}

/// The frames of a mapped `.depth` file, decoded by any number of threads.
struct ScanNetDepthSource: IndexedFrameSource {
  let file: MappedFile
  let records: [ScanNetDepthLayout.Record]
  let pixelCount: Int
  /// Whether to output millimeters rather than stored shifts.
  let inMillimeters: Bool

  var recordCount: Int { records.count }

  /// Cost: about half a millisecond for 640×480; allocates only when `pixels` has another size.
  func decode(record index: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    guard records.indices.contains(index) else {
      return .hole(.corruptRecord, "\(file.path): there is no record \(index)")
    }
    let record = records[index]
    defer { file.didRead(bytes: record.end - record.payloadOffset) }
    if pixels.count != pixelCount { pixels = Array(repeating: 0, count: pixelCount) }
    let place = "\(file.path), record \(index), byte \(record.offset)"
    do {
      try file.withBytes(in: record.payloadOffset..<record.end) { payload in
        var span = pixels.mutableSpan
        try StructureShift.decode(payload, into: &span)
        if inMillimeters { StructureShift.convertToMillimeters(&span) }
      }
    } catch {
      return .hole(.corruptRecord, "\(place): \(error)")
    }
    guard record.hasDamagedLength else { return .picture }
    return RecordOutcome(
      hasPicture: true,
      issue: FrameIssue(
        code: .corruptRecord,
        message: "\(place): the stored length is wrong; the frame was read without it"))
  }
}

/// The positions of frames and times in a `.depth` file.
///
/// The file has no frame count, magic number or checksum. It has records of `uint32 n` and n bytes,
/// then the depth times, then the color times as float64 seconds. The number of records is found by
/// walking them and then choosing the end after which whole time blocks fit.
struct ScanNetDepthLayout {
  /// One compressed frame.
  struct Record: Hashable {
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

/// Walks over the records of a `.depth` file.
struct ScanNetDepthWalk {
  private let pixelCount: Int
  /// Possible lengths of a record.
  private let lengths: ClosedRange<Int>
  private(set) var records: [ScanNetDepthLayout.Record] = []
  /// Offsets at which records end, beginning with the start of the file.
  private(set) var cuts = [0]

  init(pixelCount: Int) {
    self.pixelCount = pixelCount
    lengths = StructureShift.payloadBytes(pixelCount: pixelCount)
  }

  /// End of the last record.
  var end: Int { cuts.last ?? 0 }

  /// Whether there is a possible length at `offset`; its payload need not fit the file.
  func startsRecord(_ bytes: RawSpan, at offset: Int) -> Bool {
    guard let length = bytes.littleEndian(UInt32.self, at: offset) else { return false }
    return lengths.contains(Int(length))
  }

  /// Whether the bytes at `offset` are the start of a record rather than of a time block of the
  /// same size: a possible length that is not a number of seconds since boot.
  func isCutRecord(_ bytes: RawSpan, at offset: Int) -> Bool {
    guard startsRecord(bytes, at: offset), let time = bytes.littleEndianDouble(at: offset) else {
      return false
    }
    return !(time > 1e-6 && time < 1e9)
  }

  /// Continues from the last record as long as lengths are possible and payloads fit. `didPass`
  /// receives the size of each step.
  mutating func stepOverRecords(of bytes: RawSpan, didPass: (Int) -> Void) {
    while let record = wholeRecord(of: bytes, at: end) {
      append(record)
      didPass(record.payloadBytes)
    }
  }

  /// The record at `offset` with its stored length.
  private func wholeRecord(of bytes: RawSpan, at offset: Int) -> ScanNetDepthLayout.Record? {
    guard startsRecord(bytes, at: offset),
      let length = bytes.littleEndian(UInt32.self, at: offset).map(Int.init),
      length <= bytes.byteCount - offset - 4
    else { return nil }
    return ScanNetDepthLayout.Record(payloadOffset: offset + 4, payloadBytes: length)
  }

  /// Recovers one record with a damaged length by decoding its payload to find the end.
  ///
  /// Either the previous length was wrong but possible, or the one at which the walk stopped is
  /// wrong. The result is accepted only if another record, time blocks, or the end of the file
  /// follow.
  mutating func recoverRecord(of bytes: RawSpan, declaredTimes: Int?) -> Bool {
    if let last = records.last, !last.hasDamagedLength,
      let record = decodedRecord(of: bytes, at: last.offset),
      record.payloadBytes != last.payloadBytes
    {
      removeLast()
      append(record)
      if makesSenseBehindEnd(of: bytes, declaredTimes: declaredTimes) { return true }
      removeLast()
      append(last)
    }
    // If less than the time blocks is left, they are cut, and no record starts here.
    if let times = declaredTimes, abs(times - records.count) <= 2,
      bytes.byteCount - end < 16 * times
    {
      return false
    }
    guard let record = decodedRecord(of: bytes, at: end) else { return false }
    append(record)
    if makesSenseBehindEnd(of: bytes, declaredTimes: declaredTimes) { return true }
    removeLast()
    return false
  }

  /// The record at `offset` with the length of its codes; `nil` unless they decode to a whole valid
  /// frame.
  private func decodedRecord(of bytes: RawSpan, at offset: Int) -> ScanNetDepthLayout.Record? {
    let left = bytes.byteCount - offset - 4
    guard left >= lengths.lowerBound else { return nil }
    let payload = bytes.extracting((offset + 4)..<(offset + 4 + min(left, lengths.upperBound)))
    var shifts = [UInt16](repeating: 0, count: pixelCount)
    var target = shifts.mutableSpan
    guard let used = try? StructureShift.decodePrefix(of: payload, into: &target),
      lengths.contains(used), shifts.allSatisfy({ $0 < 2048 })
    else { return nil }
    return ScanNetDepthLayout.Record(
      payloadOffset: offset + 4, payloadBytes: used, hasDamagedLength: true)
  }

  private func makesSenseBehindEnd(of bytes: RawSpan, declaredTimes: Int?) -> Bool {
    end == bytes.byteCount || wholeRecord(of: bytes, at: end) != nil
      || ScanNetDepthEnd.best(
        cuts: cuts, byteCount: bytes.byteCount, declaredTimes: declaredTimes) != nil
  }

  private mutating func append(_ record: ScanNetDepthLayout.Record) {
    records.append(record)
    cuts.append(record.end)
  }

  private mutating func removeLast() {
    records.removeLast()
    cuts.removeLast()
  }
}

/// A possible end of the frames, after which there are only whole time blocks.
struct ScanNetDepthEnd: Hashable {
  /// Number of records before the time blocks (F).
  var frames: Int
  /// Number of time blocks: depth and color, or depth alone (B).
  var blocks: Int
  /// Number of entries per block (T′).
  var times: Int

  /// The best end, or `nil` when none is plausible.
  ///
  /// A time can look like the length of a record, so that the walk may have gone a few steps too
  /// far: the last four ends of records are tried. They are ranked by the declared number of times,
  /// then two blocks before one, then the number nearest to that of the frames, then the most
  /// frames. A best end that contradicts a plausible declaration is rejected.
  ///
  /// - Parameter cuts: the offsets at which records end, beginning with the start of the file.
  static func best(cuts: [Int], byteCount: Int, declaredTimes: Int?) -> ScanNetDepthEnd? {
    let last = cuts.count - 1
    var candidates: [ScanNetDepthEnd] = []
    // At least one frame: an end before all of them would lose them.
    for frames in stride(from: last, through: max(1, last - 3), by: -1) {
      let rest = byteCount - cuts[frames]
      for blocks in [2, 1] where rest % (8 * blocks) == 0 {
        let times = rest / (8 * blocks)
        if times >= 1, abs(times - frames) <= 2 {
          candidates.append(ScanNetDepthEnd(frames: frames, blocks: blocks, times: times))
        }
      }
    }
    guard let best = candidates.min(by: { $0.isBetter(than: $1, declaredTimes: declaredTimes) })
    else { return nil }
    if let declaredTimes, abs(declaredTimes - last) <= 2, best.times != declaredTimes { return nil }
    return best
  }

  private func isBetter(than other: ScanNetDepthEnd, declaredTimes: Int?) -> Bool {
    func rank(_ end: ScanNetDepthEnd) -> (Int, Int, Int, Int) {
      (
        end.times == declaredTimes ? 0 : 1, -end.blocks, abs(end.times - end.frames), -end.frames
      )
    }
    return rank(self) < rank(other)
  }
}
