import Captures
import Core
import Engine

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
