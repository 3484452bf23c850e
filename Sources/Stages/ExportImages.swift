import Captures
import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Writes depth or confidence frames as PNG files, one per frame, named by canonical index.
///
/// Pictures that the capture keeps as such files are copied, without their notes, unless `compression`
/// asks for effort. Each is decoded once before, by this stage or by the one that made the store.
public enum ExportImages: Stage {
  public static let name = "export-images"
  public static let version = 2
  public static let sentence =
    "Writes depth (16-bit gray, millimeters) or confidence (8-bit gray, stored values) as PNG."
  public static let ports = [
    Port(
      "frames", .depthFrames, isRequired: false,
      "decoded and filtered depth; without it depth is decoded from the capture")
  ]
  public static let parameters: [ParameterDescription] =
    [
      ParameterDescription(
        "stream", .choice(["depth", "confidence"]), default: .text("depth"), "The stream to write."),
      CommonParameters.compression,
    ] + DepthUndistortion.parameters

  public static func content(_ parameters: ParameterValues) -> ArtifactContent {
    parameters.text("stream") == "confidence" ? .confidenceImages : .depthImages
  }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    let calibration: Set<CapturePart> = parameters.flag("undistort") ? [.calibration] : []
    if parameters.text("stream") == "confidence" { return calibration.union([.confidence]) }
    return ports.contains("frames") ? calibration : calibration.union([.depth])
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    var problems = pathProblems(parameters)
    if !parameters.flag("undistort") {
      problems += ["alpha", "calibration"].filter { parameters[$0] != nil }.map { name in
        StageProblem(parameter: name, "has no effect without undistort=true")
      }
    }
    guard problems.isEmpty, parameters.flag("undistort") else { return problems }
    return CalibrationChoice.contentProblems(parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    parameters.flag("undistort") ? CalibrationChoice.externalFiles(parameters, capture) : [:]
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let stream = Applicability(
      capture.state(of: parameters.text("stream") == "confidence" ? .confidence : .depth))
    guard parameters.flag("undistort") else { return stream }
    return CalibrationChoice.checked(stream, parameters, capture)
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let compression = CommonParameters.compression(context.parameters)
    if context.parameters.text("stream") == "confidence" {
      guard let stream = context.capture.confidence.value else { return StageResult(frames: 0) }
      return try export(stream, as: "confidence", compression, context) { writer, pixels, file in
        try writer.encode(
          gray8: pixels, width: stream.width, height: stream.height, into: &file)
      }
    }
    if let input = context.inputs["frames"] {
      return try export(
        try FrameStoreReader(input.folder), storedCopies(of: input, compression, context),
        compression, context)
    }
    guard let stream = context.capture.depth.value else { return StageResult(frames: 0) }
    return try export(stream, as: "depth", compression, context) { writer, pixels, file in
      try writer.encode(gray16: pixels, width: stream.width, height: stream.height, into: &file)
    }
  }

  /// The files from which an unfiltered store was decoded, and the frame of record 0; `nil` if the
  /// pictures must be encoded.
  private static func storedCopies(
    of input: InputArtifact, _ compression: PNGCompression, _ context: StageContext
  ) -> (copies: StoredCopies<UInt16>, firstFrame: Int)? {
    guard input.record.uses == DecompressDepth.name,
      FilteredDepth.leavesDepthAlone(input.record),
      let stream = context.capture.depth.value, let copies = StoredCopies(stream, compression)
    else { return nil }
    return (copies, stream.firstFrame)
  }

  /// Exports from the mapped store: any worker can process any frame. Where the store has a picture,
  /// its file was decoded without fault and may be copied.
  private static func export(
    _ reader: FrameStoreReader, _ stored: (copies: StoredCopies<UInt16>, firstFrame: Int)?,
    _ compression: PNGCompression, _ context: StageContext
  ) throws -> StageResult {
    let store = reader.store
    let undistortion = try DepthUndistortion(context, width: store.width, height: store.height)
    let stored = undistortion == nil ? stored : nil
    let written = Atomic<Int>(0)
    context.progress.expect(store.frameCount)
    let turn = Atomic<Int>(0)
    try pullFrames(
      workers: context.workers, budget: context.budget,
      makeScratch: { ImageScratch<UInt16>(compression) },
      next: { _ in
        try context.cancellation.check()
        let frame = turn.add(1, ordering: .relaxed).oldValue
        return frame < store.frameCount ? frame : nil
      },
      work: { frame, scratch in
        defer { context.progress.advance() }
        guard reader.hasPicture(frame) else { return }
        if let file = try stored?.copies.file(record: frame - (stored?.firstFrame ?? 0)) {
          try context.staging.write(file, as: FrameFileName.name(frame))
        } else {
          reader.withFrame(frame, as: UInt16.self) { scratch.take($0) }
          scratch.undistort(undistortion)
          try scratch.writer.encode(
            gray16: scratch.pixels, width: store.width, height: store.height, into: &scratch.file)
          try context.staging.write(scratch.file, as: FrameFileName.name(frame))
        }
        written.add(1, ordering: .relaxed)
      })
    return StageResult(
      frames: written.load(ordering: .relaxed), recorded: undistortion?.recorded ?? [:])
  }

  /// Exports from the capture itself.
  private static func export<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, as subject: String, _ compression: PNGCompression,
    _ context: StageContext,
    encode: @Sendable (inout PNGWriter, [Pixel], inout [UInt8]) throws -> Void
  ) throws -> StageResult {
    let tally = OutcomeTally(subject: subject)
    let written = Atomic<Int>(0)
    context.progress.expect(stream.access.recordCount)
    let puller = RecordPuller(stream.access)
    try puller.open()
    let undistortion = try DepthUndistortion(context, width: stream.width, height: stream.height)
    let copies = undistortion == nil ? StoredCopies(stream, compression) : nil
    try pullFrames(
      workers: context.workers, budget: context.budget,
      makeScratch: { ImageScratch<Pixel>(compression) },
      next: { scratch in
        try context.cancellation.check()
        return try puller.next(into: &scratch.pixels)
      },
      work: { pulled, scratch in
        let (outcome, file) =
          try copies?.decode(record: pulled.record, into: &scratch.pixels)
          ?? (puller.decode(pulled, into: &scratch.pixels), nil)
        tally.add(outcome)
        context.progress.advance()
        guard outcome.hasPicture else { return }
        scratch.undistort(undistortion)
        if file == nil { try encode(&scratch.writer, scratch.pixels, &scratch.file) }
        try context.staging.write(
          file ?? scratch.file, as: FrameFileName.name(stream.firstFrame + pulled.record))
        written.add(1, ordering: .relaxed)
      })
    for warning in tally.warnings { context.warnings.add(warning) }
    let frames = written.load(ordering: .relaxed)
    var result = StageResult(frames: frames, recorded: undistortion?.recorded ?? [:])
    let records = stream.access.recordCount - tally.absent
    result.record(holes: records - frames, of: records, in: subject)
    return result
  }
}

/// The buffers of one worker.
struct ImageScratch<Pixel: BitwiseCopyable & FixedWidthInteger> {
  var writer: PNGWriter
  var pixels: [Pixel] = []
  private var undistorted: [Pixel] = []
  var file: [UInt8] = []

  init(_ compression: PNGCompression) {
    writer = PNGWriter(compression: compression)
  }

  /// Replaces the pixels by those of the undistorted picture, if there is one.
  mutating func undistort(_ undistortion: DepthUndistortion?) {
    guard let undistortion else { return }
    undistortion.map.pick(pixels, into: &undistorted)
    swap(&pixels, &undistorted)
  }

  mutating func take(_ span: Span<Pixel>) {
    span.withUnsafeBufferPointer { buffer in
      if pixels.count == buffer.count {
        pixels.replaceSubrange(0..<buffer.count, with: buffer)
      } else {
        pixels = Array(buffer)
      }
    }
  }
}
