import FoundationEssentials
import Geometry
import Storage

extension MultiScan {
  /// The lines of the camera info file; line k describes frame k.
  struct CameraInfo: Sendable {
    /// In file order, blank lines left out; `nil` = a line that is no JSON object.
    var lines: [Line?] = []

    /// One frame's own line. What it does not state, or states in another shape, is `nil`.
    struct Line: Sendable {
      var timestamp: Timestamp?
      var intrinsics: Intrinsics?
      /// Sixteen numbers, column-major, camera to world, axes of the app.
      var transform: [Double]?
      /// `nil` where the app wrote 0: unknown.
      var exposureSeconds: Double?
      /// Whether the line has a `transform` of any shape.
      var hasTransform = false
      /// Whether the line has keys or texts that only Android's app writes.
      var isAndroid = false
    }

    /// Reads all lines; `\n` and `\r\n` both end one.
    ///
    /// Cost: one JSON document per line.
    init(_ bytes: RawSpan) {
      let decoder = JSONDecoder()
      var start = 0
      while start < bytes.byteCount {
        var end = start
        while end < bytes.byteCount, bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self) != 10 {
          end += 1
        }
        let line = bytes.extracting(start..<end)
        if !Self.isBlank(line) {
          let data = line.withUnsafeBytes { Data($0) }
          lines.append(try? decoder.decode(Line.self, from: data))
        }
        start = end + 1
      }
    }

    private static func isBlank(_ line: RawSpan) -> Bool {
      for offset in 0..<line.byteCount {
        switch line.unsafeLoad(fromByteOffset: offset, as: UInt8.self) {
        case 9, 13, 32: continue
        default: return false
        }
      }
      return true
    }
  }
}

extension MultiScan.CameraInfo.Line: Decodable {
  private enum Key: String, CodingKey {
    case timestamp, intrinsics, transform
    case exposure = "exposure_duration"
    case eulerAngles = "euler_angles"
    case rotationQuaternion
  }

  init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: Key.self)
    timestamp = (try? keys.decode(Int64.self, forKey: .timestamp)).map(Timestamp.init(nanoseconds:))
    intrinsics = (try? keys.decode([Double].self, forKey: .intrinsics))
      .flatMap(MultiScan.Intrinsics.init(columnMajor:))
    hasTransform = keys.contains(.transform)
    transform = (try? keys.decode([Double].self, forKey: .transform))
      .flatMap { $0.count == 16 ? $0 : nil }
    if let nanoseconds = try? keys.decode(Int64.self, forKey: .exposure), nanoseconds > 0 {
      exposureSeconds = Double(nanoseconds) / 1e9
    }
    isAndroid =
      keys.contains(.rotationQuaternion)
      || (try? keys.decode(String.self, forKey: .eulerAngles)) == "null"
  }
}
