import Captures
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// A depth stream as the parameters of `decompress-depth` ask for it: corrected by a table, then filtered. With filters
/// it is read in order, because these may depend on the confidence and on the previous frame.
struct TreatedDepth: OrderedFrameSource {
  private let depth: DepthStream
  private let confidence: ConfidenceStream?
  private let filters: DepthFilters
  private let leftovers: LeftoverTally
  /// Receives what is odd in the confidence.
  private let warnings: WarningCollector
  /// How many frames before each lies the depth from which it may not differ too much.
  private let step: Int

  static let minimumConfidence = Parameter(
    "minimumConfidence", .integer(0...255),
    "Depth with less confidence than this becomes 0; needs a confidence stream.")
  static let maximumChange = Parameter(
    "maximumChange", .length(0...65.535),
    "Depth that differs more than this from the depth before it becomes 0.")
  private static let range = Parameter(
    "range", .lengthRange, "Depth outside these two lengths, both inclusive, becomes 0.")
  private static let flyingPixels = Parameter(
    "flyingPixels", .flag, default: false, "Remove single pixels that float between two surfaces.")
  private static let filtering = ParameterDescription.list(
    minimumConfidence, maximumChange, range, flyingPixels)
  static let parameters = filtering + correction

  var recordCount: Int { depth.access.recordCount }

  /// The stream itself when nothing is set. Throws if a minimum confidence is set and the capture has no
  /// confidence.
  ///
  /// - Parameters:
  ///   - lost: receives how much the correction loses.
  ///   - leftovers: receives how much the filters keep.
  static func of(
    _ depth: DepthStream, _ context: StageContext, _ lost: LostPixels, _ leftovers: LeftoverTally
  ) throws -> DepthStream {
    let depth = try corrected(depth, context, lost)
    let (parameters, capture) = (context.parameters, context.capture)
    let filters = DepthFilters(
      minimumConfidence: parameters[minimumConfidence],
      maximumChange: parameters[maximumChange].map { $0 * 1000 },
      range: parameters[range].map { ($0.lowerBound * 1000)...($0.upperBound * 1000) },
      flyingPixels: parameters[flyingPixels] ? FlyingPixels() : nil)
    if filters.isEmpty { return depth }
    if filters.minimumConfidence != nil, capture.confidence.value == nil {
      throw DepthFilterError.missingConfidence
    }
    var filtered = depth
    filtered.access = .ordered(
      TreatedDepth(
        depth: depth, confidence: filters.minimumConfidence == nil ? nil : capture.confidence.value,
        filters: filters, leftovers: leftovers, warnings: context.warnings,
        step: parameters[maximumChange] == nil
          ? 1
          : capture.frames.usualStep(
            of: capture.frames.indices.filter { capture.frames[$0].depthTimestamp != nil })))
    return filtered
  }

  /// The set parameters that discard depth, as text.
  static func settings(_ parameters: ParameterValues) -> String {
    parameters.settings(
      ParameterDescription.list(minimumConfidence, maximumChange, range)
        + (parameters[flyingPixels] ? [flyingPixels.description] : []))
  }

  /// Whether an artifact was made with none of the filters and without a correction.
  static func leavesDepthAlone(_ record: ArtifactRecord) -> Bool {
    let recorded = record.parameters
    return record.inputs.external[externalFile] == nil
      && filtering.allSatisfy { parameter in
        switch recorded[parameter.name] {
        case nil, .null, .bool(false): true
        default: false
        }
      }
  }

  func makeReader() throws -> any OrderedFrameReader<UInt16> {
    try Reader(self)
  }

  private final class Reader: OrderedFrameReader {
    private let depth: SequentialRecords<UInt16>
    private let confidence: SequentialRecords<UInt8>?
    private let treated: TreatedDepth
    /// The depth before as stored, and its frame; `nil` at the start.
    private var previous: (image: DepthImage, frame: Int)?
    private var stored: DepthImage
    private var output: DepthImage
    private var certainty: GrayImage
    private var frame: Int

    init(_ treated: TreatedDepth) throws {
      self.treated = treated
      depth = try SequentialRecords(treated.depth)
      confidence = try treated.confidence.map { try SequentialRecords($0) }
      stored = DepthImage(width: treated.depth.width, height: treated.depth.height)
      output = stored
      let (width, height) = treated.confidence.map { ($0.width, $0.height) } ?? (0, 0)
      certainty = GrayImage(
        width: width, height: height, values: Array(repeating: 0, count: width * height))
      frame = treated.depth.firstFrame
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard let outcome = try depth.read(frame: frame, into: &stored.millimeters) else {
        return nil
      }
      defer { frame += 1 }
      guard outcome.hasPicture else { return outcome }
      if let confidence {
        let known = try confidence.read(frame: frame, into: &certainty.values)
        if let known { treated.warnings.add(damageOf: known, "confidence") }
        // It is unknown which of its pixels are reliable: a hole rather than a picture of zeros.
        guard known?.hasPicture == true else {
          previous = (stored, frame)
          return .hole(
            .confidenceMissing,
            "frame \(frame): no confidence picture to filter its depth by; left out")
        }
      }
      // A depth picture that is lost leaves none to compare with.
      let before = previous.flatMap { frame - $0.frame == treated.step ? $0.image : nil }
      try treated.filters.apply(
        to: stored, confidence: confidence == nil ? nil : certainty, previous: before,
        into: &output)
      treated.leftovers.add(read: stored.millimeters.span, left: output.millimeters.span)
      previous = (stored, frame)
      pixels.removeAll(keepingCapacity: true)
      pixels.append(contentsOf: output.millimeters)
      return outcome
    }
  }
}

/// The correction of distances of a structured-light sensor by the table of its laboratory.
extension TreatedDepth {
  private static let undistortion = Parameter(
    "undistortion", .file,
    "A table (.lut) with which a laboratory corrects the distances of a structured-light sensor.")
  private static let correction = ParameterDescription.list(
    undistortion,
    CalibrationChoice.calibrationFolder.saying(
      "A folder with devices.csv, or with files named after devices: DEVICE-ID.lut corrects distances."
    ))

  /// The key of the table among a stage's external files.
  static let externalFile = "undistortion"

  /// The table for a capture; `nil` if it has none.
  static func file(_ parameters: ParameterValues, _ capture: CaptureSummary) -> FilePath? {
    if let path = parameters[undistortion] {
      EnclosedPaths.leaveOpen(path)
      return path
    }
    guard let folder = parameters[CalibrationChoice.calibrationFolder],
      let deviceID = capture.deviceID
    else { return nil }
    EnclosedPaths.leaveOpen(folder)
    return CalibrationFolder.table(for: deviceID, in: folder, of: family(capture))
  }

  private static func family(_ capture: CaptureSummary) -> FamilyDescription {
    CaptureRegistry.builtIn.description(of: capture.family)
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    file(parameters, capture).map { [externalFile: $0] } ?? [:]
  }

  /// Checks that the table is one, before anything runs.
  static func fileProblems(
    _ paths: [StageProblem], _ parameters: ParameterValues
  ) -> [StageProblem] {
    guard paths.isEmpty else { return paths }
    do throws(CalibrationError) {
      if let path = parameters[undistortion] { _ = try DepthTableFile.read(path) }
    } catch {
      return [StageProblem(parameter: undistortion.name, "\(error)")]
    }
    return CalibrationChoice.folderProblems(parameters)
  }

  /// A table is refused for depth that no structured-light sensor measured.
  static func checked(
    _ found: Applicability, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    guard case .applies = found, let file = file(parameters, capture),
      !family(capture).hasStructuredLight
    else { return found }
    let remedy =
      parameters[undistortion] == nil
      ? "take it out of the folder, or leave the name of the device in devices.csv empty"
      : "leave out depth.\(undistortion.name) for captures of this family"
    return .unreadable(
      "\(file.string): \(CalibrationFit.refusalPhrase): its depth is not that of a structured-light sensor; \(remedy)"
    )
  }

  /// The corrected stream; `depth` itself without a table.
  private static func corrected(
    _ depth: DepthStream, _ context: StageContext, _ lost: LostPixels
  ) throws -> DepthStream {
    guard let path = context.externalFiles[externalFile] else { return depth }
    let table = try DepthTableFile.read(path)
    guard table.fits(width: depth.width, height: depth.height) else {
      throw CalibrationError(
        file: path,
        problem:
          "\(CalibrationFit.refusalPhrase): it has \(table.columns) × \(table.rows) cells, more than depth "
          + "of \(depth.width)×\(depth.height) has pixels")
    }
    var corrected = depth
    corrected.access =
      DerivedRecords(stream: depth, records: Array(0..<depth.access.recordCount)) {
        guard $0.hasPicture else { return }
        lost.add(table.correct(&$1, width: depth.width, height: depth.height))
      }.access
    return corrected
  }
}

/// Counts the pixels that a correction could not keep. Thread-safe.
final class LostPixels: Sendable {
  private let counts = Mutex((pixels: 0, frames: 0))

  func add(_ pixels: Int) {
    guard pixels > 0 else { return }
    counts.withLock { $0 = ($0.pixels + pixels, $0.frames + 1) }
  }

  /// Adds a warning if any pixel was lost.
  func report(_ table: FilePath?, to warnings: WarningCollector) {
    let (pixels, frames) = counts.withLock { $0 }
    guard pixels > 0, let table else { return }
    warnings.add(
      .calibrationSuspect, "depth", count: pixels,
      "\(table.lastComponent?.string ?? "the table") has no possible value where depth was measured: \(pixels) pixels "
        + "in \(frames) frames are lost")
  }
}

/// Reads the records of a stream in sequence, by canonical frame.
final class SequentialRecords<Pixel: BitwiseCopyable & Sendable> {
  private let stream: PictureStream<Pixel>
  private let reader: (any OrderedFrameReader<Pixel>)?
  private var record = 0

  init(_ stream: PictureStream<Pixel>) throws {
    self.stream = stream
    if case .ordered(let source) = stream.access {
      reader = try source.makeReader()
    } else {
      reader = nil
    }
  }

  /// The record of `frame`, which must not decrease between calls; `nil` outside the stream.
  func read(frame: Int, into pixels: inout [Pixel]) throws -> RecordOutcome? {
    let wanted = frame - stream.firstFrame
    guard wanted >= record, wanted < stream.access.recordCount else { return nil }
    guard let reader else {
      record = wanted + 1
      guard case .indexed(let source) = stream.access else { return nil }
      return try source.decode(record: wanted, into: &pixels)
    }
    while record < wanted {
      guard try reader.next(into: &pixels) != nil else { return nil }
      record += 1
    }
    record += 1
    return try reader.next(into: &pixels)
  }
}

/// Reads confidence pictures by ascending canonical frame.
final class ConfidenceFrames {
  private let stream: ConfidenceStream
  private let records: SequentialRecords<UInt8>
  private let warnings: WarningCollector
  /// Number of frames so far without confidence.
  private(set) var lost = 0

  /// `nil` when it is not needed, or the capture has none.
  init?(_ context: StageContext, isNeeded: Bool) throws {
    guard isNeeded, let stream = context.capture.confidence.value else { return nil }
    self.stream = stream
    warnings = context.warnings
    records = try SequentialRecords(stream)
  }

  /// The picture of `frame`, which must not decrease between calls. A lost picture is 0 everywhere,
  /// because unknown confidence is below any minimum.
  func read(_ frame: Int) throws -> GrayImage {
    var pixels: [UInt8] = []
    let outcome = try records.read(frame: frame, into: &pixels)
    if let outcome { warnings.add(damageOf: outcome, "confidence") }
    let count = stream.width * stream.height
    if outcome?.hasPicture != true || pixels.count != count {
      pixels = Array(repeating: 0, count: count)
      lost += 1
      warnings.add(
        .confidenceMissing, "confidence",
        "frame \(frame): no confidence picture; its points count as uncertain")
    }
    return GrayImage(width: stream.width, height: stream.height, values: pixels)
  }
}
