import Captures
import Core
import Engine
import Media
import Processing
import SystemPackage

/// Writes inertial samples as a table, and which of them belong to which frame.
public enum MatchIMU: Stage {
  public static let name = "match-imu"
  public static let version = 2
  public static let sentence =
    "Writes all IMU samples, and for every frame the samples within a time window around it."
  public static let ports = [TimeOffsetChoice.port]
  public static let parameters =
    ParameterDescription.list(
      window, mode, acceleration, convention, timeOffset, TimeOffsetChoice.extrinsics)
    + MotionUnits.parameters

  private enum Mode: String, CaseIterable {
    case symmetric
    case previousFrame = "previous-frame"
    case nearest, interpolate
  }

  private static let window = Parameter(
    "window", .duration(0...3_600_000_000_000), default: 50_000_000,
    "Samples at most this far before or after a frame belong to it, both ends included."
  ).needing(mode, .symmetric, .nearest)
  private static let mode = Parameter(
    "mode", .choice(), default: Mode.symmetric,
    "All samples in the window; those since the previous frame; the nearest of each sensor in the "
      + "window; or values interpolated to the frame's time, never across a gap.")
  private enum Acceleration: String, CaseIterable {
    case recorded
    case specificForce = "specific-force"
  }

  private static let acceleration = Parameter(
    "acceleration", .choice(), default: Acceleration.recorded,
    "Signs of acceleration in the tables: those that the app recorded; or those of specific force, +9.8 along the "
      + "axis that points up."
  ).added()
  private static let convention = MotionUnits.convention.saying(
    "Which signs the app recorded, if the reader determined them wrongly. Changes only what is written as "
      + "specific force.")
  private static let timeOffset = TimeOffsetChoice.parameter(
    "samples belong to frames by it, in this stage and in exports.")

  public static func settles(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool {
    MotionUnits.settle(warning, parameters)
  }

  public static let content = ArtifactContent.imuTables

  public static let reads: Set<CapturePart> = [.imu, .frames]

  public static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool { TimeOffsetChoice.isAuto(parameters) && capture.framesShareIMUClock }

  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    TimeOffsetChoice.problems(stage)
  }

  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    TimeOffsetChoice.extrinsicsProblem(parameters).map { [$0] } ?? []
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    parameters[TimeOffsetChoice.extrinsics].map { [TimeOffsetChoice.extrinsics.name: $0] } ?? [:]
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    Applicability(capture.state(of: .imu))
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    guard var imu = MotionUnits.samples(context) else { return StageResult(frames: 0) }
    let convention = MotionUnits.convention(imu, context.parameters)
    if context.parameters[acceleration] == .specificForce {
      let isAcceleration = imu.sensors.map(IMUStream.isAcceleration)
      for index in imu.samples.indices where isAcceleration[imu.samples[index].sensor] {
        imu.samples[index] = MotionUnits.specificForce(imu.samples[index], convention)
      }
    }
    let frames = context.capture.frames.map(\.timestamp)
    let timed = frames.count { $0 != nil }
    var result = StageResult(
      frames: timed,
      recorded: [
        "recordedConvention": .string(convention.rawValue)
      ])
    // Frames that cannot be read take no sample away: all samples are published, none belongs to one.
    result.problems = [context.capture.framesProblem].compactMap { $0?.description }
    var offset: Int64 = 0
    if context.capture.framesShareIMUClock, TimeOffsetChoice.isSet(context.parameters) {
      offset = try TimeOffsetChoice.nanoseconds(context)
      result.recorded["timeOffsetNs"] = .integer(offset)
    }
    try writeSamples(imu, context)
    if context.capture.framesShareIMUClock {
      try writeMatches(imu, frames, offsetNanoseconds: offset, context)
    }
    return result
  }

  private static func writeSamples(_ imu: IMUStream, _ context: StageContext) throws {
    var table = try TableFile(
      "imu.csv", ["timestamp_ns", "sensor_type", "x", "y", "z"], context.staging)
    for sample in imu.samples {
      table.csv.field(sample.timestamp.nanoseconds)
      table.csv.field(imu.sensors[sample.sensor])
      table.csv.field(sample.x)
      table.csv.field(sample.y)
      table.csv.field(sample.z)
      try table.endRow()
    }
    try table.finish()
  }

  private static func writeMatches(
    _ imu: IMUStream, _ frames: [Timestamp?], offsetNanoseconds: Int64, _ context: StageContext
  ) throws {
    let matcher = IMUMatcher(
      samples: imu.samples, sensorCount: imu.sensors.count,
      attitudeSensor: imu.sensors.firstIndex(of: "attitude"),
      gapThresholdNanoseconds: imu.gapThresholdNanoseconds)
    var rows = try TableFile(
      "frame_imu.csv",
      [
        "frame", "frame_timestamp_ns", "timestamp_ns", "offset_ns", "sensor_type", "x", "y", "z",
      ], context.staging)
    var counts = try TableFile(
      "frame_imu_counts.csv",
      [
        "frame", "frame_timestamp_ns", "sensor_type", "samples", "first_offset_ns",
        "last_offset_ns",
      ], context.staging)
    var texts = SampleTexts(imu)
    var matched = 0
    context.progress.expect(frames.count)
    // On the clock of the samples.
    let times = frames.map { $0?.advanced(byNanoseconds: offsetNanoseconds) }
    try matcher.forEachFrame(at: times, mode: matching(context.parameters)) { match in
      try context.cancellation.check()
      let frameTime = frames[match.frame]?.nanoseconds
      matched += match.rows.count
      for row in match.rows {
        rows.csv.field(match.frame)
        rows.csv.field(frameTime)
        if let index = row.index {
          let cells = texts.cells(of: index)
          rows.csv.cells(cells.time, count: 1)
          rows.csv.field(row.offsetNanoseconds)
          rows.csv.cells(cells.values, count: 4)
        } else {
          rows.csv.field(row.sample.timestamp.nanoseconds)
          rows.csv.field(row.offsetNanoseconds)
          rows.csv.field(imu.sensors[row.sample.sensor])
          rows.csv.field(row.sample.x)
          rows.csv.field(row.sample.y)
          rows.csv.field(row.sample.z)
        }
        try rows.endRow()
      }
      for count in match.counts {
        try counts.row(
          match.frame, frameTime, imu.sensors[count.sensor], count.samples,
          count.firstOffsetNanoseconds, count.lastOffsetNanoseconds)
      }
      context.progress.advance()
    }
    try rows.finish()
    try counts.finish()
    let timed = frames.count { $0 != nil }
    if matched == 0, timed > 0, !imu.samples.isEmpty,
      offsetNanoseconds != 0 || !isOver(frames.compactMap(\.self), before: imu)
    {
      context.warnings.add(
        .nothingLeft, "imu", count: timed,
        "0 of \(imu.samples.count) samples belong to any of \(Plural.text(timed, "frame")): "
          + context.parameters.settings(
            ParameterDescription.list(window, mode)
              + (offsetNanoseconds == 0
                ? []
                : ParameterDescription.list(timeOffset, TimeOffsetChoice.extrinsics))))
    }
  }

  /// Whether the frames ended within a second before the first sample, or began so after the last, as in ordinary
  /// recordings of a few frames.
  private static func isOver(_ frames: [Timestamp], before imu: IMUStream) -> Bool {
    guard let first = frames.min(), let last = frames.max(),
      let start = imu.samples.first?.timestamp, let end = imu.samples.last?.timestamp
    else { return false }
    return (1...1_000_000_000).contains(max(start - last, first - end))
  }

  private static func matching(_ parameters: ParameterValues) -> IMUMatchMode {
    let window = parameters[window]
    return switch parameters[mode] {
    case .symmetric: .symmetric(windowNanoseconds: window)
    case .previousFrame: .previousFrame
    case .nearest: .nearest(windowNanoseconds: window)
    case .interpolate: .interpolate
    }
  }
}

/// Formats inertial samples as table cells, once for all the frames that a sample belongs to.
///
/// Samples are requested roughly in order, frame after frame; about a megabyte of cells is cached.
struct SampleTexts {
  private let imu: IMUStream
  private var formatter = CSVWriter(columns: ["timestamp_ns", "sensor_type", "x", "y", "z"])
  private var bytes: [UInt8] = []
  /// The first cached sample, and for each where its cells begin, where the second cell begins, and
  /// where they end.
  private var first = 0
  private var places: [(start: Int, sensor: Int, end: Int)] = []

  private static let mostBytes = 1 << 20

  init(_ imu: IMUStream) {
    self.imu = imu
    formatter.drain { _ in }
  }

  /// The cell of the sample's time, and its other four cells.
  mutating func cells(of index: Int) -> (time: ArraySlice<UInt8>, values: ArraySlice<UInt8>) {
    let isNext = index == first + places.count
    if index < first || index > first + places.count || isNext && bytes.count > Self.mostBytes {
      first = index
      places.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
    }
    if index == first + places.count { append(imu.samples[index]) }
    let place = places[index - first]
    return (bytes[place.start..<place.sensor - 1], bytes[place.sensor..<place.end])
  }

  private mutating func append(_ sample: IMUSample) {
    let start = bytes.count
    formatter.field(sample.timestamp.nanoseconds)
    let sensor = start + formatter.pendingByteCount + 1
    formatter.field(imu.sensors[sample.sensor])
    formatter.field(sample.x)
    formatter.field(sample.y)
    formatter.field(sample.z)
    let end = start + formatter.pendingByteCount
    formatter.endRow()
    formatter.drain { bytes.append(contentsOf: $0) }
    places.append((start, sensor, end))
  }
}
