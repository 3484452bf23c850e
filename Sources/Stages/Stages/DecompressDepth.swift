import Captures
import Core
import Engine
import Processing
import SystemPackage

/// Decodes the app's compressed depth frames into a frame store of millimeters, which other stages
/// map.
public enum DecompressDepth: Stage {
  public static let name = "decompress-depth"
  public static let version = 2
  public static let sentence =
    "Decodes every depth frame into a memory-mappable store of 16-bit millimeters, filtered if asked."
  public static let ports: [Port] = []
  public static let parameters =
    ParameterDescription.list(shifts) + TreatedDepth.parameters

  static let shifts = Parameter(
    "shifts", .flag, default: false,
    "Also the sensor's own values, where the format has them, in shifts/ of the decoded frames, which a pipeline file has "
      + "to keep (`keep: true`).")

  public static let content = ArtifactContent.depthFrames

  public static let reads: Set<CapturePart> = [.depth]

  public static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    var parts: Set<CapturePart> = []
    if parameters[TreatedDepth.minimumConfidence] != nil { parts.insert(.confidence) }
    // Times of frames tell the rate of depth.
    if parameters[TreatedDepth.maximumChange] != nil { parts.insert(.frames) }
    return parts
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    TreatedDepth.checked(Applicability(capture.state(of: .depth)), parameters, capture)
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    TreatedDepth.fileProblems(pathProblems(parameters), parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { TreatedDepth.externalFiles(parameters, capture) }

  public static func run(_ context: StageContext) throws -> StageResult {
    try write(context, only: nil)
  }

  /// Writes the store of some frames with the parameters of this stage in `context`.
  ///
  /// - Parameter frames: ascending; `nil` for all. Without filters, other frames are not decoded if
  ///   the stream allows random access.
  static func write(
    _ context: StageContext, only frames: [Int]?
  ) throws -> StageResult {
    guard let depth = context.capture.depth.value else {
      return StageResult(frames: 0)
    }
    let tally = OutcomeTally(subject: "depth")
    let leftovers = LeftoverTally()
    let lost = LostPixels()
    var stream = try TreatedDepth.of(depth, context, lost, leftovers)
    let chosen = frames.map { frames in
      frames.filter { (0..<depth.access.recordCount).contains($0 - depth.firstFrame) }
    }
    if let chosen {
      stream.access =
        DerivedRecords(stream: stream, records: chosen.map { $0 - stream.firstFrame }).access
      stream.firstFrame = 0
    }
    let writer = FrameStoreWriter(
      folder: "", stream: stream, content: "millimeters",
      chosen: chosen.map { ($0, depth.firstFrame + depth.access.recordCount) })
    let frames = try writer.write(context, tally: tally)
    if chosen == nil, context.parameters[shifts], let stored = depth.storedValues {
      var shifts = depth
      shifts.access = .indexed(stored)
      let shiftWriter = FrameStoreWriter(
        folder: "shifts/", stream: shifts, content: "shift")
      _ = try shiftWriter.write(context, tally: OutcomeTally(subject: "depth"))
    }
    for warning in tally.warnings { context.warnings.add(warning) }
    lost.report(context.externalFiles[TreatedDepth.externalFile], to: context.warnings)
    leftovers.report(
      "depth", "measured pixels", TreatedDepth.settings(context.parameters), to: context.warnings)
    var recorded: [String: JSONValue] = [:]
    if let encoding = tally.encoding {
      recorded["streamEncodings"] = .object(["depth": .string(encoding)])
    }
    var result = StageResult(frames: frames, recorded: recorded)
    // Frames that were not chosen do not count as lost.
    result.record(tally.holes(of: chosen?.count ?? depth.access.recordCount), in: "depth")
    return result
  }
}

/// Some records of a depth stream as a stream, each changed after it is decoded: record k is the k-th of them.
struct DerivedRecords: IndexedFrameSource, OrderedFrameSource {
  let stream: DepthStream
  /// Ascending indices.
  let records: [Int]
  var change: @Sendable (RecordOutcome, inout [UInt16]) -> Void = { _, _ in }

  var recordCount: Int { records.count }

  /// In any order if the stream allows it.
  var access: FrameAccess<UInt16> {
    if case .indexed = stream.access { .indexed(self) } else { .ordered(self) }
  }

  func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    guard case .indexed(let source) = stream.access else { return RecordOutcome(hasPicture: false) }
    let outcome = try source.decode(record: records[record], into: &pixels)
    change(outcome, &pixels)
    return outcome
  }

  func makeReader() throws -> any OrderedFrameReader<UInt16> {
    Reader(derived: self, reader: try SequentialRecords(stream))
  }

  /// Reads and discards the records in between.
  private final class Reader: OrderedFrameReader {
    private let derived: DerivedRecords
    private let reader: SequentialRecords<UInt16>
    /// Index of the next record in `derived.records`.
    private var position = 0

    init(derived: DerivedRecords, reader: SequentialRecords<UInt16>) {
      (self.derived, self.reader) = (derived, reader)
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard position < derived.records.count else { return nil }
      let frame = derived.stream.firstFrame + derived.records[position]
      position += 1
      let outcome = try reader.read(frame: frame, into: &pixels)
      if let outcome { derived.change(outcome, &pixels) }
      return outcome
    }
  }
}
