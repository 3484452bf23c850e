import Media
import Core

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
    guard case .decoded(let used) = StructureShiftDecoder.decodePrefix(of: payload, into: &target),
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
