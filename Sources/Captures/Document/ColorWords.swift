import Media

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
    if color.hasWidePrimaries, !color.isUnusualTransfer {
      parts.append("wider colors than an ordinary screen's")
    }
    if let light = color.contentLight {
      if let brightest = light.brightestPixel {
        parts.append("brightest pixel \(Self.luminance(brightest))")
      }
      if let peak = light.masteringPeak {
        parts.append("mastered at \(Self.luminance(peak))")
      }
    }
    if let profile = color.dolbyVision {
      parts.append("data of Dolby Vision profile \(profile) ignored")
    }
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

  /// `1000 cd/m²`; fractions only where there are any.
  private static func luminance(_ value: Double) -> String {
    (Int(exactly: value).map { "\($0)" } ?? "\(value)") + " cd/m²"
  }
}
