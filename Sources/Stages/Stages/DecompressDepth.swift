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
    ParameterDescription.list(shifts) + FilteredDepth.parameters + CorrectedDepth.parameters

  static let shifts = Parameter(
    "shifts", .flag, default: false,
    "Also the sensor's own values, where the format has them, in shifts/ of the decoded frames, which a pipeline file has "
      + "to keep (`keep: true`).")

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .depthFrames }

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    parameters[FilteredDepth.minimumConfidence] == nil ? [.depth] : [.depth, .confidence]
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    CorrectedDepth.checked(Applicability(capture.state(of: .depth)), parameters, capture)
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    CorrectedDepth.fileProblems(pathProblems(parameters), parameters)
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { CorrectedDepth.externalFiles(parameters, capture) }

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
    var stream = try FilteredDepth.applying(
      context.parameters, to: try CorrectedDepth.applying(to: depth, context, lost),
      of: context.capture, leftovers)
    let chosen = frames.map { frames in
      frames.filter { (0..<depth.access.recordCount).contains($0 - depth.firstFrame) }
    }
    if let chosen {
      stream.access = DerivedRecords.access(of: stream, chosen.map { $0 - stream.firstFrame })
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
    lost.report(context.externalFiles[CorrectedDepth.externalFile], to: context.warnings)
    leftovers.report(
      "depth", "measured pixels", FilteredDepth.settings(context.parameters), to: context.warnings)
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
enum DerivedRecords {
  typealias Change = @Sendable (RecordOutcome, inout [UInt16]) -> Void

  /// - Parameter records: ascending indices.
  static func access(
    of stream: DepthStream, _ records: [Int], _ change: @escaping Change = { _, _ in }
  ) -> FrameAccess<UInt16> {
    switch stream.access {
    case .indexed(let source):
      .indexed(Indexed(source: source, records: records, change: change))
    case .ordered(let source):
      .ordered(Ordered(source: source, records: records, change: change))
    }
  }

  private struct Indexed: IndexedFrameSource {
    let source: any IndexedFrameSource<UInt16>
    let records: [Int]
    let change: Change

    var recordCount: Int { records.count }

    func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
      let outcome = try source.decode(record: records[record], into: &pixels)
      change(outcome, &pixels)
      return outcome
    }
  }

  /// Reads and discards the records in between.
  private struct Ordered: OrderedFrameSource {
    let source: any OrderedFrameSource<UInt16>
    let records: [Int]
    let change: Change

    var recordCount: Int { records.count }

    func makeReader() throws -> any OrderedFrameReader<UInt16> {
      Reader(try source.makeReader(), self)
    }
  }

  private final class Reader: OrderedFrameReader {
    private let reader: any OrderedFrameReader<UInt16>
    private let stream: Ordered
    /// Index of the next record in `stream.records`.
    private var position = 0
    /// Index of the next record of `reader`.
    private var record = 0

    init(_ reader: any OrderedFrameReader<UInt16>, _ stream: Ordered) {
      (self.reader, self.stream) = (reader, stream)
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard position < stream.records.count else { return nil }
      let wanted = stream.records[position]
      position += 1
      while record < wanted {
        guard try reader.next(into: &pixels) != nil else { return nil }
        record += 1
      }
      record += 1
      let outcome = try reader.next(into: &pixels)
      if let outcome { stream.change(outcome, &pixels) }
      return outcome
    }
  }
}
