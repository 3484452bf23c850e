import Engine
import Processing

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
