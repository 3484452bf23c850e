import Core

/// What `frame_<k>.json` says of its frame.
struct ThreeDScannerAppFrameFile: Sendable {
  static let poseKey = "cameraPoseARFrame"

  /// The camera's pose as far as it can be used.

  var time: Timestamp?
  var pose: PoseReading
  /// `nil` unless there are nine finite numbers with focal lengths above zero.
  var intrinsics: Intrinsics?
  /// `nil` = unknown.
  var exposureSeconds: Double?
  var position: (latitude: Double, longitude: Double, accuracy: Double?, altitude: Double?)?
  /// The Unix time of the position fix; `nil` = not stated.
  var unixTime: Timestamp?
  /// The frame's number by its own word; `nil` if it has none.
  var statedIndex: Double?

  init(_ members: LooseJSON) {
    time = members.number("time").flatMap { Timestamp(decimalSeconds: $0) }
    pose = Self.pose(members.numbers(Self.poseKey))
    intrinsics = members.numbers("intrinsics").flatMap { rows in
      rows.count == 9 && rows.allSatisfy(\.isFinite)
        ? Intrinsics(usable: [rows[0], rows[4], rows[2], rows[5]]) : nil
    }
    // The app writes 0 for unknown.
    exposureSeconds = members.finite("exposureDuration").flatMap { $0 > 0 ? $0 : nil }
    position = Self.position(members)
    // 0 and years before the app existed are no time of a fix.
    unixTime = members.number("gpsTime").flatMap { Timestamp(decimalSeconds: $0) }.flatMap {
      $0.nanoseconds > Self.earliestFixNanoseconds ? $0 : nil
    }
    statedIndex = members.finite("frame_index")
  }

  /// 2010-01-01 in Unix time.
  private static let earliestFixNanoseconds: Int64 = 1_262_304_000_000_000_000

  /// Whether the first bytes of a file are an object with a pose.
  static func hasPose(_ head: [UInt8]) -> Bool {
    let text = TextBytes.utf8(head)
    return text.withUnsafeBytes { bytes in
      var depth = 0
      for token in LooseJSON.Tokens(bytes) {
        switch token.kind {
        case .open:
          if depth == 0, bytes[token.range.lowerBound] != UInt8(ascii: "{") { return false }
          depth += 1
        case .close: depth -= 1
        case .string where depth == 1:
          if bytes[token.range].elementsEqual("\"\(poseKey)\"".utf8) { return true }
        default: if depth == 0 { return false }
        }
      }
      return false
    }
  }

  /// From a row-major matrix, camera to world, in ARKit camera axes.
  private static func pose(_ rows: [Double]?) -> PoseReading {
    guard let rows, rows.count == 16 else { return .none }
    guard rows.allSatisfy(\.isFinite), rows[15] != 0 else { return .nonFinite }
    return PoseReading(rowMajor: rows)
  }

  /// Without `hasGPS`, both keys must be there and not both 0 (not confirmed on data of a device).
  private static func position(
    _ members: LooseJSON
  ) -> (latitude: Double, longitude: Double, accuracy: Double?, altitude: Double?)? {
    guard let place = place(members, "latitude", "longitude") else { return nil }
    let isMeasured = members.flag("hasGPS") ?? (place.latitude != 0 || place.longitude != 0)
    guard isMeasured else { return nil }
    let accuracy = members.finite("horizontalAccuracy").flatMap { $0 >= 0 ? $0 : nil }
    // An accuracy of 0 or less says that the altitude is not valid.
    let isHeightValid = members.finite("verticalAccuracy").map { $0 > 0 } ?? true
    return (
      place.latitude, place.longitude, accuracy, isHeightValid ? members.finite("altitude") : nil
    )
  }

  /// A latitude and a longitude on earth.
  static func place(
    _ members: LooseJSON, _ latitude: String, _ longitude: String
  ) -> (latitude: Double, longitude: Double)? {
    guard let latitude = members.finite(latitude), let longitude = members.finite(longitude),
      abs(latitude) <= 90, abs(longitude) <= 180
    else { return nil }
    return (latitude, longitude)
  }
}
