import Media
import Processing
import Core
import Synchronization

/// Measures color pictures while they are in memory anyway, and keeps what was found as a table beside
/// them: `measures.csv`, a row per picture.
///
/// They are measured as they were recorded: before they are undistorted and made smaller.
///
/// Any number of threads may use it. Holds some 200 bytes per picture.
final class PictureGauge: Sendable {
  static let fileName = "measures.csv"
  static let columns = [
    "frame", "sharpness", "dark_share", "bright_share", "fingerprint", "blur_effect",
    "blur_sigma_px",
  ]

  private let measures = Mutex<[Int: PictureMeasure]>([:])

  /// Measures an upright picture of 8-bit RGB.
  func measure(_ frame: Int, rgb: [UInt8], width: Int, height: Int) {
    guard let measure = PictureMeasure(rgb: rgb, width: width, height: height) else { return }
    measures.withLock { $0[frame] = measure }
  }

  var byFrame: [Int: PictureMeasure] { measures.withLock { $0 } }

  /// Writes the table into the artifact.
  func write(_ staging: StagingFolder) throws {
    var table = try TableFile(Self.fileName, Self.columns, staging)
    for (frame, measure) in byFrame.sorted(by: { $0.key < $1.key }) {
      table.csv.field(frame)
      table.csv.field(measure.sharpness)
      table.csv.field(measure.darkShare)
      table.csv.field(measure.brightShare)
      table.csv.field(measure.fingerprint.text)
      table.csv.field(measure.blur)
      table.csv.field(measure.blurWidth.text)
      try table.endRow()
    }
    try table.finish()
  }
}
