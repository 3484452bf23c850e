import Codecs

extension StreamDescription {
  /// A text about the color description of a video and what is assumed where tags are missing;
  /// `nil` for other streams.
  public var colorWords: String? {
    guard let color else { return nil }
    var parts: [String] = []
    if let depth = color.bitDepth { parts.append("\(depth) bits") }
    let tags = [
      ("transfer", color.transfer), ("primaries", color.primaries), ("matrix", color.matrix),
    ]
    if tags.allSatisfy({ $0.1 == nil }) {
      parts.append("transfer, primaries and matrix untagged")
    } else {
      for (name, tag) in tags { parts.append("\(name) \(tag ?? "untagged")") }
    }
    parts.append(
      color.range.map { $0 == "pc" ? "full range" : "limited range" } ?? "range untagged")
    var assumed: [String] = []
    var overriding: [String] = []
    if let matrix = color.assumedMatrix {
      assumed.append(matrix == .bt601 ? "BT.601" : matrix.rawValue)
      overriding.append("color.matrix")
    }
    if let range = color.assumedRange {
      assumed.append("\(range.rawValue) range")
      overriding.append("color.range")
    }
    let all = parts.joined(separator: ", ")
    guard !assumed.isEmpty else { return all }
    return all
      + "; \(assumed.joined(separator: " and ")) assumed as the ffmpeg command line does (\(overriding.joined(separator: ", ")))"
  }
}
