import Captures
import Core
import Engine
import Processing
import SystemPackage

/// The parameter `timeOffset` of stages that bring pictures and IMU together: a duration, or `auto` for
/// what `measure-time-offset` found.
///
/// Time of an IMU sample = time of a picture + offset, as in Kalibr.
enum TimeOffsetChoice {
  static let key = Parameter(
    "timeOffset", .durationOrAuto(-3_600_000_000_000...3_600_000_000_000), default: 0, "")
  /// The port of the measurement.
  static let portName = "timeOffset"
  static let port = Port(
    portName, .timeOffset, isRequired: false, "the measured time offset, for timeOffset=auto")

  /// The stage `imu`, for which the offset alone counts, and exports that bring camera and IMU together have it.
  static let extrinsics = Parameter(
    "extrinsics", .file,
    "Kalibr's camchain-imucam.yaml: where the IMU is (T_cam_imu), and timeshift_cam_imu where timeOffset is 0."
  ).shared(as: "imu").added()

  /// - Parameter sentence: what is done with it.
  static func parameter(_ sentence: String) -> Parameter<Int64?> {
    key.saying(
      "Time of an IMU sample = time of a picture + this; \(sentence) auto: as measured for this capture."
    )
  }

  /// Problems of a file of Kalibr that a parameter names: those of reading it.
  static func problem(
    _ key: Parameter<FilePath?>, _ parameters: ParameterValues,
    _ read: (FilePath) throws(CalibrationError) -> Void
  ) -> StageProblem? {
    guard let path = parameters[key] else { return nil }
    EnclosedPaths.leaveOpen(path)
    do throws(CalibrationError) {
      try read(path)
      return nil
    } catch {
      return StageProblem(parameter: key.name, "\(error)")
    }
  }

  static func extrinsicsProblem(_ parameters: ParameterValues) -> StageProblem? {
    problem(extrinsics, parameters) { path throws(CalibrationError) in
      _ = try CameraIMUCalibration(path)
    }
  }

  static func isAuto(_ parameters: ParameterValues) -> Bool { parameters[key] == nil }

  /// Whether pictures get other times on the clock of the IMU.
  static func isSet(_ parameters: ParameterValues) -> Bool {
    parameters[key] != 0 || isOfFile(parameters)
  }

  /// Whether the offset is that of a file of Kalibr: `timeshift_cam_imu`, which has the same sign.
  static func isOfFile(_ parameters: ParameterValues) -> Bool {
    parameters[key] == 0 && parameters[extrinsics] != nil
  }

  /// The offset to apply. Without inertial samples on the clock of the pictures there is none to measure,
  /// and it is 0.
  ///
  /// - Throws: a failure of the input if it is to be measured and could not be.
  static func nanoseconds(_ context: StageContext) throws -> Int64 {
    if isOfFile(context.parameters),
      let file = context.externalFiles[extrinsics.name]
    {
      return try CameraIMUCalibration(file).timeShiftNanoseconds ?? 0
    }
    if let nanoseconds = context.parameters[key] { return nanoseconds }
    let capture = context.capture
    if case .absent = capture.imu { return 0 }
    guard capture.framesShareIMUClock else { return 0 }
    let remedy = "; set \(context.stage).\(key.name) to a duration, 0s for none"
    guard let measured = measured(context) else {
      let summary = CaptureSummary(capture, readerVersion: 0)
      let why =
        switch MeasureTimeOffset.applicability(context.parameters, summary) {
        case .notApplicable(let why), .unreadable(let why): why
        case .nothingLeft(let warning): warning.message
        case .applies: "the stage that measures it failed"
        }
      throw StageFailure(
        "\(context.stage).\(key.name) is auto, and no time offset was measured for this capture: \(why)"
          + remedy, cause: .input)
    }
    guard let nanoseconds = measured.nanoseconds else {
      throw StageFailure(
        "\(context.stage).\(key.name) is auto, and the time offset is not determined: "
          + (measured.reason ?? "the record states no reason") + remedy, cause: .input)
    }
    return nanoseconds
  }

  /// What was measured, if it is used.
  static func measured(_ context: StageContext) -> MeasuredTimeOffset? {
    guard isAuto(context.parameters) else { return nil }
    return context.inputs[portName].map { MeasuredTimeOffset($0.record) }
  }

  /// `12.3 ms (95 %: 12.1 ms to 12.5 ms)`, of the measured offset that is used; `nil` otherwise.
  static func words(_ context: StageContext) -> String? {
    guard let measured = measured(context), let nanoseconds = measured.nanoseconds,
      let interval = measured.interval
    else { return nil }
    func text(_ value: Int64) -> String { TimeOffsetRefusal.milliseconds(value) }
    return "\(text(nanoseconds)) (95 %: \(text(interval.low)) to \(text(interval.high)))"
  }

  /// A problem if it is to be measured and no stage of the pipeline measures it.
  static func problems(_ stage: StageDefinition) -> [StageProblem] {
    guard isAuto(stage.parameters), !stage.inputs.contains(where: { $0.port == portName }) else {
      return []
    }
    return [
      StageProblem(
        parameter: key.name,
        "'\(stage.name)' has no input that measures the time offset: add a stage that uses "
          + "measure-time-offset, and name it under 'optional' of '\(stage.name)'")
    ]
  }
}

/// What `measure-time-offset` recorded: an offset with its interval, or why there is none.
struct MeasuredTimeOffset: Hashable {
  /// In the form of `recorded` in `artifact.json` and of `timeOffset` in `capture.json`.
  let recorded: [String: JSONValue]

  /// - Parameter source: what the rotation of the camera was taken from, `poses` or `pictures`.
  init(
    _ result: Result<TimeOffset, TimeOffsetRefusal>, source: String,
    frameIntervalNanoseconds: Int64?
  ) {
    var recorded: [String: JSONValue] = ["source": .string(source)]
    recorded["frameIntervalNs"] = frameIntervalNanoseconds.map(JSONValue.integer)
    switch result {
    case .success(let found):
      recorded["state"] = .string("determined")
      recorded["offsetNs"] = .integer(found.nanoseconds)
      recorded["lowNs"] = .integer(found.lowNanoseconds)
      recorded["highNs"] = .integer(found.highNanoseconds)
      recorded["correlation"] = Self.rounded(found.correlation)
      recorded["residualRadPerS"] = Self.rounded(found.residual)
      recorded["rotations"] = .integer(Int64(found.turns))
      recorded["outliers"] = .integer(Int64(found.outliers))
      recorded["seconds"] = Self.rounded(found.seconds)
    case .failure(let refusal):
      recorded["state"] = .string("not-determined")
      recorded["reason"] = .string(refusal.description)
    }
    self.recorded = recorded
  }

  /// The record of an artifact.
  init(_ record: ArtifactRecord) { recorded = record.recorded }

  /// `nil` if it is not determined.
  var nanoseconds: Int64? { integer("offsetNs") }

  /// The ends of the interval of 95 %.
  var interval: (low: Int64, high: Int64)? {
    guard let low = integer("lowNs"), let high = integer("highNs") else { return nil }
    return (low, high)
  }

  /// Why it is not determined.
  var reason: String? {
    if case .string(let text)? = recorded["reason"] { text } else { nil }
  }

  private func integer(_ key: String) -> Int64? {
    if case .integer(let value)? = recorded[key] { value } else { nil }
  }

  private static func rounded(_ value: Double) -> JSONValue {
    .number((value * 1e6).rounded() / 1e6)
  }
}
