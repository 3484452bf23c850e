import Captures
import Engine
import Processing
import Core
import Synchronization

/// Detects a stage that discards everything it reads. Thread-safe.
///
/// Counting ends as soon as something is kept, so that usual runs count only a frame or two.
final class LeftoverTally: Sendable {
  private let counts = Mutex((frames: 0, values: 0, isAnythingLeft: false))

  /// Whether something was kept, so that counting is over.
  var isAnythingLeft: Bool { counts.withLock { $0.isAnythingLeft } }

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - values: number of measurements read.
  ///   - isAnythingLeft: whether anything of them was kept.
  func add(values: Int, isAnythingLeft: Bool) {
    counts.withLock {
      $0.frames += values > 0 ? 1 : 0
      $0.values += values
      $0.isAnythingLeft = $0.isAnythingLeft || isAnythingLeft
    }
  }

  /// Adds a depth frame (0 = no measurement) and its result.
  func add(
    read: Span<UInt16>, left: Span<UInt16>
  ) {
    guard !isAnythingLeft else { return }
    add(values: DepthImage.measured(read), isAnythingLeft: Self.isAnyMeasured(left))
  }

  private static func isAnyMeasured(_ pixels: Span<UInt16>) -> Bool {
    pixels.withUnsafeBufferPointer { $0.contains { $0 != 0 } }
  }

  /// The warning if something was read and nothing was kept.
  ///
  /// - Parameters:
  ///   - subject: the stream.
  ///   - values: what was counted, such as `depth pixels`.
  ///   - reason: the responsible parameters with their values, or what to check.
  func warning(_ subject: String, _ values: String, _ reason: String) -> CaptureWarning? {
    let counts = counts.withLock { $0 }
    guard counts.values > 0, !counts.isAnythingLeft else { return nil }
    return CaptureWarning(
      .nothingLeft, subject, count: counts.frames,
      "0 of \(counts.values) \(values) of "
        + "\(Plural.text(counts.frames, "frame")) are left: \(reason)")
  }

  func report(
    _ subject: String, _ values: String, _ reason: String, to warnings: WarningCollector
  ) {
    if let warning = warning(subject, values, reason) { warnings.add(warning) }
  }
}

extension ParameterValues {
  /// The settings among `parameters` that have a value, in the form in which they can be set: `range=0.3m..4m,
  /// minimumConfidence=2`.
  func settings(_ parameters: [ParameterDescription]) -> String {
    parameters.compactMap { parameter in
      self[parameter.name].map { "\(parameter.name)=\($0.text)" }
    }.joined(separator: ", ")
  }
}
