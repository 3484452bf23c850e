import Codecs
import Processing
import Storage
import Synchronization

/// Measures color pictures while they are in memory anyway, and keeps what was found as a table beside
/// them: `measures.csv`, a row per picture.
///
/// Any number of threads may use it. Holds some 50 bytes per picture.
final class PictureGauge: Sendable {
  static let fileName = "measures.csv"
  static let columns = [
    "frame", "sharpness", "dark_share", "bright_share", "fingerprint", "blur_effect",
  ]

  private let measures = Mutex<[Int: PictureMeasure]>([:])

  /// Measures an upright picture of 8-bit RGB.
  func measure(_ frame: Int, rgb: [UInt8], width: Int, height: Int) {
    guard let measure = PictureMeasure(rgb: rgb, width: width, height: height) else { return }
    measures.withLock { $0[frame] = measure }
  }

  /// Writes the table into the artifact.
  func write(_ staging: StagingFolder) throws {
    var table = try TableFile(Self.fileName, Self.columns, staging)
    for (frame, measure) in measures.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      table.csv.field(frame)
      table.csv.field(measure.sharpness)
      table.csv.field(measure.darkShare)
      table.csv.field(measure.brightShare)
      table.csv.field(String(measure.fingerprint, radix: 16))
      table.csv.field(measure.blur)
      try table.endRow()
    }
    try table.finish()
  }
}
