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
