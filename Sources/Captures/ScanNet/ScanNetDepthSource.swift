import Media
import Core

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
    let outcome = file.withBytes(in: record.payloadOffset..<record.end) { payload in
      var span = pixels.mutableSpan
      let outcome = StructureShiftDecoder.decode(payload, into: &span)
      if inMillimeters { StructureShiftTable.convertToMillimeters(&span) }
      return outcome
    }
    let place = "\(file.path), record \(index), byte \(record.offset)"
    if case .corrupt(let damage) = outcome { return .hole(.corruptRecord, "\(place): \(damage)") }
    guard record.hasDamagedLength else { return .picture }
    return RecordOutcome(
      hasPicture: true,
      issue: FrameIssue(
        code: .corruptRecord,
        message: "\(place): the stored length is wrong; the frame was read without it"))
  }
}
