import Captures
import Core
import Engine
import Processing

/// A depth stream with filters applied. It is read in order, because filters may depend on the
/// confidence and on the previous frame.
struct FilteredDepth: OrderedFrameSource {
  private let depth: DepthStream
  private let confidence: ConfidenceStream?
  private let filters: DepthFilters
  private let leftovers: LeftoverTally
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
  static let parameters = ParameterDescription.list(
    minimumConfidence, maximumChange, range, flyingPixels)

  var recordCount: Int { depth.access.recordCount }

  /// The stream itself when no filter is set. Throws if a minimum confidence is set and the capture
  /// has no confidence.
  ///
  /// - Parameter leftovers: receives how much the filters keep.
  static func applying(
    _ parameters: ParameterValues, to depth: DepthStream, of capture: Capture,
    _ leftovers: LeftoverTally
  ) throws -> DepthStream {
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
      FilteredDepth(
        depth: depth, confidence: capture.confidence.value, filters: filters, leftovers: leftovers,
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
    return record.inputs.external[CorrectedDepth.externalFile] == nil
      && Self.parameters.allSatisfy { parameter in
        switch recorded[parameter.name] {
        case nil, .null, .bool(false): true
        default: false
        }
      }
  }

  func makeReader() throws -> any OrderedFrameReader<UInt16> {
    try Reader(
      depth, filters.minimumConfidence == nil ? nil : confidence, filters, leftovers, step: step)
  }

  private final class Reader: OrderedFrameReader {
    private let depth: SequentialRecords<UInt16>
    private let confidence: SequentialRecords<UInt8>?
    private let filters: DepthFilters
    private let leftovers: LeftoverTally
    private let step: Int
    /// The depth before as stored, and its frame; `nil` at the start.
    private var previous: (image: DepthImage, frame: Int)?
    private var stored: DepthImage
    private var output: DepthImage
    private var certainty: GrayImage
    private var frame: Int

    init(
      _ depth: DepthStream, _ confidence: ConfidenceStream?, _ filters: DepthFilters,
      _ leftovers: LeftoverTally, step: Int
    ) throws {
      self.step = step
      self.depth = try SequentialRecords(depth)
      self.confidence = try confidence.map { try SequentialRecords($0) }
      self.filters = filters
      self.leftovers = leftovers
      stored = DepthImage(width: depth.width, height: depth.height)
      output = stored
      certainty = GrayImage(
        width: confidence?.width ?? depth.width, height: confidence?.height ?? depth.height,
        values: Array(
          repeating: 0,
          count: (confidence?.width ?? depth.width) * (confidence?.height ?? depth.height)))
      frame = depth.firstFrame
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard let outcome = try depth.read(frame: frame, into: &stored.millimeters) else {
        return nil
      }
      defer { frame += 1 }
      guard outcome.hasPicture else { return outcome }
      if let confidence {
        let known = try confidence.read(frame: frame, into: &certainty.values)
        // It is unknown which of its pixels are reliable: a hole rather than a picture of zeros.
        guard known?.hasPicture == true else {
          previous = (stored, frame)
          return .hole(
            .confidenceMissing,
            "frame \(frame): no confidence picture to filter its depth by; left out")
        }
      }
      // A depth picture that is lost leaves none to compare with.
      let before = previous.flatMap { frame - $0.frame == step ? $0.image : nil }
      try filters.apply(
        to: stored, confidence: confidence == nil ? nil : certainty, previous: before,
        into: &output)
      leftovers.add(read: stored.millimeters.span, left: output.millimeters.span)
      previous = (stored, frame)
      pixels.removeAll(keepingCapacity: true)
      pixels.append(contentsOf: output.millimeters)
      return outcome
    }
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
