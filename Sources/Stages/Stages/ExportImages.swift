import Captures
import Core
import Engine
import Media
import Processing
import Synchronization
import SystemPackage

/// Writes depth or confidence frames as PNG files, one per frame, named by canonical index.
///
/// Pictures that the capture keeps as such files are copied, without their notes, unless `compression`
/// asks for effort. Each is decoded once before, by this stage or by the one that made the store.
public enum ExportImages: PickFollowingStage {
  public static let name = "export-images"
  public static let version = 4
  public static let sentence =
    "Writes depth (16-bit gray, millimeters) or confidence (8-bit gray, stored values) as PNG."
  public static let ports = [
    Port(
      "frames", .depthFrames, isRequired: false,
      "decoded and filtered depth; without it depth is decoded from the capture"),
    PickParameters.colorPort,
  ]
  public static let parameters =
    ParameterDescription.list(stream) + CommonParameters.selection + PickParameters.picking
    + ParameterDescription.list(CommonParameters.compression) + DepthUndistortion.parameters

  public static let stream = Parameter(
    "stream", .choice([.depth, .confidence]), default: CapturePart.depth, "The stream to write.")

  public static let content = ArtifactContent.depthImages

  public static func content(_ parameters: ParameterValues) -> ArtifactContent {
    parameters[stream] == .confidence ? .confidenceImages : content
  }

  public static let reads: Set<CapturePart> = []

  public static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    var parts = PickParameters.reads(parameters)
    if parameters[DepthUndistortion.undistort] { parts.insert(.calibration) }
    if parameters[stream] == .confidence { return parts.union([.confidence]) }
    return ports.contains("frames") ? parts : parts.union([.depth])
  }

  /// A folder of calibrations serves the inner step of depth, too, without `undistort`; confidence has no such step.
  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    let folder = PictureShapeParameters.ownCalibrationFolder
    let undistort = DepthUndistortion.undistort
    let isIdle =
      stage.parameters[stream] == .confidence && stage.parameters[folder] != nil
      && !stage.parameters[undistort]
    return CommonParameters.selectionProblems(stage)
      + (isIdle
        ? [
          StageProblem(parameter: folder.name, "has no effect without \(undistort.name)=true")
        ] : [])
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    let problems = pathProblems(parameters) + PickParameters.problems(parameters)
    guard problems.isEmpty, parameters[DepthUndistortion.undistort] else { return problems }
    return CalibrationChoice.contentProblems(parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    parameters[DepthUndistortion.undistort]
      ? CalibrationChoice.externalFiles(parameters, capture) : [:]
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let stream = Applicability(
      capture.state(of: parameters[stream] == .confidence ? .confidence : .depth))
    guard parameters[DepthUndistortion.undistort] else { return stream }
    return CalibrationChoice.checked(stream, parameters, capture)
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let compression = context.parameters[CommonParameters.compression]
    if context.parameters[stream] == .confidence {
      guard let stream = context.capture.confidence.value else { return StageResult(frames: 0) }
      return try export(stream, as: "confidence", compression, context) { writer, pixels, file in
        try writer.encode(
          gray8: pixels, width: stream.width, height: stream.height, into: &file)
      }
    }
    if let input = context.inputs["frames"] {
      return try export(
        try FrameStoreReader(input.folder), StoreFiles(of: input, compression, context),
        compression, context)
    }
    guard let stream = context.capture.depth.value else { return StageResult(frames: 0) }
    return try export(stream, as: "depth", compression, context) { writer, pixels, file in
      try writer.encode(gray16: pixels, width: stream.width, height: stream.height, into: &file)
    }
  }

  /// The files from which a store was decoded.
  private struct StoreFiles {
    let copies: StoredCopies<UInt16>
    /// The frame of record 0.
    let firstFrame: Int
    /// Whether pixels of the store may be others than those of the files.
    let isFiltered: Bool

    /// `nil` if the pictures must be encoded.
    init?(of input: InputArtifact, _ compression: PNGCompression, _ context: StageContext) {
      guard input.record.uses == DecompressDepth.name, let stream = context.capture.depth.value,
        let copies = StoredCopies(stream, compression)
      else { return nil }
      self.copies = copies
      firstFrame = stream.firstFrame
      isFiltered = !TreatedDepth.leavesDepthAlone(input.record)
    }

    /// The file with the picture that the store has of a frame; `nil` if there is none. It does not depend on filters
    /// that change nothing: the fingerprint knows the pixels of the store, not how they came about.
    ///
    /// - Parameter pixels: a buffer that is overwritten.
    func file(
      _ frame: Int, of reader: FrameStoreReader, into pixels: inout [UInt16]
    ) throws -> [UInt8]? {
      let record = frame - firstFrame
      guard isFiltered else { return try copies.file(record: record) }
      guard let file = try copies.decode(record: record, into: &pixels).file else { return nil }
      let isSame = reader.withFrame(frame, as: UInt16.self) { stored in
        pixels.withUnsafeBufferPointer { own in
          stored.withUnsafeBufferPointer { $0.elementsEqual(own) }
        }
      }
      return isSame ? file : nil
    }
  }

  /// Exports from the mapped store: any worker can process any frame. Where the store has a picture,
  /// its file was decoded without fault and may be copied.
  private static func export(
    _ reader: FrameStoreReader, _ stored: StoreFiles?, _ compression: PNGCompression,
    _ context: StageContext
  ) throws -> StageResult {
    let store = reader.store
    let undistortion = try DepthUndistortion(context, width: store.width, height: store.height)
    let stored = undistortion == nil ? stored : nil
    let (frames, picked) = try FramePicking.choose(
      (0..<store.frameCount).filter(reader.hasPicture), context)
    context.progress.expect(frames.count)
    try context.each(frames) { frame, scratch in
      if let file = try stored?.file(frame, of: reader, into: &scratch.pixels) {
        try context.staging.write(file, as: FrameFileName.name(frame))
      } else {
        reader.withFrame(frame, as: UInt16.self) { scratch.take($0) }
        scratch.undistort(undistortion)
        try scratch.writer.encode(
          gray16: scratch.pixels, width: store.width, height: store.height, into: &scratch.file)
        try context.staging.write(scratch.file, as: FrameFileName.name(frame))
      }
    } makeScratch: {
      ImageScratch<UInt16>(compression)
    }
    var result = StageResult(
      frames: frames.count,
      recorded: (undistortion?.recorded ?? [:]).merging(picked?.recorded ?? [:]) { own, _ in own })
    if stored != nil { result.copied = [.depth] }
    return result
  }

  /// Exports from the capture itself.
  private static func export<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, as subject: String, _ compression: PNGCompression,
    _ context: StageContext,
    encode: @Sendable (inout PNGWriter, [Pixel], inout [UInt8]) throws -> Void
  ) throws -> StageResult {
    let tally = OutcomeTally(subject: subject)
    let written = Atomic<Int>(0)
    let (chosen, picked) = try FramePicking.choose(
      Array(stream.firstFrame..<stream.firstFrame + stream.access.recordCount), context)
    let wanted = Set(chosen)
    context.progress.expect(stream.access.recordCount)
    let turn = try RecordTurn(of: stream.access, count: stream.access.recordCount)
    let undistortion = try DepthUndistortion(context, width: stream.width, height: stream.height)
    let copies = undistortion == nil ? StoredCopies(stream, compression) : nil
    try pullFrames(
      workers: context.workers, budget: context.budget,
      makeScratch: { ImageScratch<Pixel>(compression) },
      next: { scratch in
        try context.cancellation.check()
        return try turn.next { (number, reader) -> PulledRecord? in
          guard let reader else { return (number, nil) }
          return try reader.next(into: &scratch.pixels).map { (number, $0) }
        }
      },
      work: { pulled, scratch in
        guard wanted.contains(stream.firstFrame + pulled.number) else {
          return context.progress.advance()
        }
        let (outcome, file) =
          try copies?.decode(record: pulled.number, into: &scratch.pixels)
          ?? (decode(pulled, of: stream.access, into: &scratch.pixels), nil)
        tally.add(outcome)
        context.progress.advance()
        guard outcome.hasPicture else { return }
        scratch.undistort(undistortion)
        if file == nil { try encode(&scratch.writer, scratch.pixels, &scratch.file) }
        try context.staging.write(
          file ?? scratch.file, as: FrameFileName.name(stream.firstFrame + pulled.number))
        written.add(1, ordering: .relaxed)
      })
    for warning in tally.warnings { context.warnings.add(warning) }
    let frames = written.load(ordering: .relaxed)
    var result = StageResult(
      frames: frames,
      recorded: (undistortion?.recorded ?? [:]).merging(picked?.recorded ?? [:]) { own, _ in own })
    result.record(tally.holes(of: chosen.count), in: subject)
    return result
  }
}

extension ExportImages {
  /// A record of a picture stream on its way to a worker. It has an outcome when it is already decoded, as those of an
  /// ordered stream are.
  private typealias PulledRecord = (number: Int, outcome: RecordOutcome?)

  /// Decodes a record unless that is done.
  private static func decode<Pixel>(
    _ record: PulledRecord, of access: FrameAccess<Pixel>, into pixels: inout [Pixel]
  ) throws -> RecordOutcome {
    if let outcome = record.outcome { return outcome }
    guard case .indexed(let source) = access else { return RecordOutcome(hasPicture: false) }
    return try source.decode(record: record.number, into: &pixels)
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

/// The picture files of a stream that already are what a stage would write: gray PNG of the stream's
/// size. They are copied instead of encoded once more; what else a file holds is left out.
struct StoredCopies<Pixel: BitwiseCopyable & Sendable> {
  private let source: any StoredFrameSource<Pixel>
  private let width: Int
  private let height: Int

  /// `nil` if the stream is not stored in files, or a compression is asked for that takes effort.
  init?(_ stream: PictureStream<Pixel>, _ compression: PNGCompression) {
    guard compression != .compact, case .indexed(let source) = stream.access,
      let stored = source as? any StoredFrameSource<Pixel>
    else { return nil }
    self.source = stored
    width = stream.width
    height = stream.height
  }

  /// The file to write for a record that is known to be readable; `nil` if it must be encoded.
  func file(record: Int) throws -> [UInt8]? {
    try source.storedFile(record: record).flatMap(bare)
  }

  /// Decodes a record, which finds all damage, and returns the file to write with it; `nil` if it
  /// must be encoded from `pixels`.
  func decode(
    record: Int, into pixels: inout [Pixel]
  ) throws -> (outcome: RecordOutcome, file: [UInt8]?) {
    guard let bytes = try source.storedFile(record: record) else {
      return (try source.decode(record: record, into: &pixels), nil)
    }
    let outcome = source.decode(bytes, record: record, into: &pixels)
    return (outcome, outcome.hasPicture ? bare(bytes) : nil)
  }

  private func bare(_ bytes: [UInt8]) -> [UInt8]? {
    switch MemoryLayout<Pixel>.size {
    case 1: PNGReader.bareGray8(bytes, width: width, height: height)
    case 2: PNGReader.bareGray16(bytes, width: width, height: height)
    default: nil
    }
  }
}

/// Undistorts pictures on the grid of the depth camera: depth and confidence. Each pixel takes the
/// nearest value, so that no value appears that was not measured.
struct DepthUndistortion {
  let map: UndistortionMap
  private let camera: PinholeCamera
  private let shape: PictureShape

  static let undistort = PictureShapeParameters.own.undistort.saying(
    "Pictures of a pinhole: each pixel takes the nearest of the lens's picture, 0 without source. aligned is "
      + "not affected: it knows the lens.")
  static let alpha = PictureShapeParameters.own.alpha.saying(
    "With undistort, which pinhole: 0 shows only what has a source, 1 all of the source. Not set: the same "
      + "focal length and principal point.")
  static let parameters =
    ParameterDescription.list(
      undistort, alpha,
      CalibrationChoice.calibration.saying(
        "With undistort: the calibration whose depth lens is used, in place of that by which color is undistorted, "
          + "else of the capture's own."
      ).needing(anyOf: undistort), PictureShapeParameters.ownCalibrationFolder)
    + PictureShapeParameters.followedCalibration

  /// `nil` if the pictures are not to be undistorted. Throws if no lens is known.
  init?(_ context: StageContext, width: Int, height: Int) throws {
    guard context.parameters[Self.undistort] else { return nil }
    let capture = context.capture
    let size = PictureSize(width: width, height: height)
    let cameras = try CalibrationChoice.cameras(
      capture, file: context.externalFiles["calibration"], depthSize: size)
    CalibrationChoice.note(cameras.doubts, context)
    if cameras.isCapturesOwn, let problem = capture.calibrationProblem { throw problem }
    let lens = try cameras.calibration.depthCamera(size: size, colorSize: cameras.colorSize)
    _ = try ColorShaping.lens(
      lens.distortion, isOfFile: !cameras.isCapturesOwn, of: .depth)
    shape = PictureShape(undistorts: true, alpha: context.parameters[Self.alpha])
    guard let target = shape.fullSizeCamera(from: lens) else {
      throw AlignmentError.noUndistortedCamera(alpha: shape.alpha ?? 0)
    }
    camera = target
    map = UndistortionMap(from: lens, to: target, isNearest: true)
  }

  /// What readers of the pictures need to know.
  var recorded: [String: JSONValue] {
    PublishedShape(shape: shape).recorded.merging(["outputIntrinsics": camera.recorded]) { own, _ in
      own
    }
  }
}
