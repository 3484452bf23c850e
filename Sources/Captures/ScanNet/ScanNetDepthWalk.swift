import Codecs
import Storage

/// Steps over the records of a `.depth` file.
struct ScanNetDepthWalk {
  private let pixelCount: Int
  /// What the length of a record can be.
  private let lengths: ClosedRange<Int>
  private(set) var records: [ScanNetDepthLayout.Record] = []
  /// Where records end, the file's start first.
  private(set) var cuts = [0]

  init(pixelCount: Int) {
    self.pixelCount = pixelCount
    lengths = StructureShift.payloadBytes(pixelCount: pixelCount)
  }

  /// Behind the last record.
  var end: Int { cuts.last ?? 0 }

  /// Whether a possible length stands at `offset`; its payload need not fit into the file.
  func startsRecord(_ bytes: RawSpan, at offset: Int) -> Bool {
    guard let length = bytes.littleEndian(UInt32.self, at: offset) else { return false }
    return lengths.contains(Int(length))
  }

  /// Whether the bytes at `offset` are the start of a record rather than of a time block of the same
  /// size: a possible length, and no seconds since boot.
  func isCutRecord(_ bytes: RawSpan, at offset: Int) -> Bool {
    guard startsRecord(bytes, at: offset), let time = bytes.littleEndianDouble(at: offset) else {
      return false
    }
    return !(time > 1e-6 && time < 1e9)
  }

  /// Goes on from the last record as long as lengths are possible and payloads fit.
  /// `didPass` hears how many bytes each step left behind.
  mutating func stepOverRecords(of bytes: RawSpan, didPass: (Int) -> Void) {
    while let record = wholeRecord(of: bytes, at: end) {
      append(record)
      didPass(record.payloadBytes)
    }
  }

  /// The record at `offset` by its stored length.
  private func wholeRecord(of bytes: RawSpan, at offset: Int) -> ScanNetDepthLayout.Record? {
    guard startsRecord(bytes, at: offset),
      let length = bytes.littleEndian(UInt32.self, at: offset).map(Int.init),
      length <= bytes.byteCount - offset - 4
    else { return nil }
    return ScanNetDepthLayout.Record(payloadOffset: offset + 4, payloadBytes: length)
  }

  /// Gets one record back whose stored length is damaged, decoding its payload to find its end.
  ///
  /// Either the length before was wrong but possible and led astray, or the one at which the walk
  /// stopped is wrong. Believed only if what follows the payload makes sense: another record, time
  /// blocks, or the end of the file.
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
    // When less than the time blocks is left, they are cut: no record starts there.
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

  /// The record at `offset` by its codes alone; `nil` unless they make a whole proper frame.
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
