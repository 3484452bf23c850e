import Media
import Core
import SystemPackage

/// The color camera's intrinsics, pixels of the video.
struct StrayScannerIntrinsics: Hashable, Sendable {
  var fx: Double
  var fy: Double
  var cx: Double
  var cy: Double

  /// From fx, fy, cx, cy; `nil` if one is unknown or not finite, or a focal length is not positive.
  init?(_ values: [Double?]) {
    let known = values.compactMap(\.self)
    guard known.count == 4, known.allSatisfy(\.isFinite), known[0] > 0, known[1] > 0 else {
      return nil
    }
    (fx, fy, cx, cy) = (known[0], known[1], known[2], known[3])
  }

  /// From `camera_matrix.csv`: lines `fx, 0.0, cx` and `0.0, fy, cy`, then `0.0, 0.0, 1.0`. `nil`
  /// for any other content.
  ///
  /// The file has no line end at its end. One that is cut before the last line may have a cut number
  /// and is not used.
  init?(matrix path: FilePath) {
    guard var scanner = try? CSVScanner(path) else { return nil }
    var rows: [[Double]] = []
    while rows.count < 3, (try? scanner.nextLine()) == true {
      let cells = (0..<scanner.cellCount).map { scanner.number(inCell: $0).value }
      guard cells.count == 3 || rows.count == 2 else { return nil }
      let numbers = cells.compactMap(\.self)
      guard numbers.count == cells.count || rows.count == 2 else { return nil }
      rows.append(numbers)
    }
    guard rows.count == 3 else { return nil }
    self.init([rows[0][0], rows[1][1], rows[0][2], rows[1][2]])
  }
}
