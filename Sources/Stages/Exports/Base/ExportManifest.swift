import Core
import Engine

/// The content of `export.json`.
package struct ExportManifest: Sendable {
  /// `nil` for a format without frames.
  package var frames: ExportFrames?
  /// For each exported frame the file name of its picture, or its time or index: third column of
  /// `frames.csv`. Same order as `frames`.
  package var names: [String] = []
  /// Number of inertial samples written, and left out.
  package var imu: (samples: Int, leftOut: Int)?
  /// If one camera is used for all frames: the largest deviation of a parameter, pixels.
  var intrinsicsDeviation: Double?
  /// Defaults used in place of measurements; set by `ExportFolder.finish`.
  private var assumed: [ExportAssumption] = []
  /// Values that only this format has.
  package var more: [String: JSONValue] = [:]

  init(frames: ExportFrames?) {
    self.frames = frames
  }

  /// Records what is written without having been measured.
  mutating func assume(_ found: [ExportAssumption]) { assumed = found.filter(\.isWritten) }

  func json(stage: String, canonicalFrames: Int, shared: String?) -> JSONValue {
    var object = more
    object["schema"] = .integer(1)
    object["stage"] = .string(stage)
    let written = frames?.frames.count ?? 0
    object["frames"] = .integer(Int64(written))
    var leftOut = frames?.leftOut ?? [:]
    if frames == nil, canonicalFrames > 0 { leftOut[.notInFormat] = canonicalFrames }
    object["leftOut"] = .object(
      Dictionary(uniqueKeysWithValues: leftOut.map { ($0.key.rawValue, .integer(Int64($0.value))) })
    )
    object["imu"] =
      imu.map {
        .object([
          "samples": .integer(Int64($0.samples)), "leftOut": .integer(Int64($0.leftOut)),
        ])
      } ?? .null
    object["intrinsicsDeviation"] = intrinsicsDeviation.map(JSONValue.number) ?? .null
    object["assumed"] = .array(assumed.map { .string($0.rawValue) })
    object["shared"] = shared.map(JSONValue.string) ?? .null
    return .object(object)
  }
}
