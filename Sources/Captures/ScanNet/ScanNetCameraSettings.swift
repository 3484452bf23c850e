import Core

/// Reads the `.camera` file: the tag `v1`, then five float32 per frame.
enum ScanNetCameraSettings {
  private static let tag = Array("v1".utf8)
  private static let recordBytes = 20

  /// The content of the file.
  enum Content {
    /// Number of whole records, and the rows of those that belong to a canonical frame.
    case settings(records: Int, rows: [CameraSettingsRow])
    /// The tag is another one, so the layout is unknown.
    case unsupported
  }

  static func read(
    _ file: MappedFile, name: String, frames: Int, into warnings: WarningCollector
  ) -> Content {
    let start = file.withBytes(in: 0..<tag.count) { $0.withUnsafeBytes(Array.init) }
    guard tag.starts(with: start) else {
      warnings.add(
        .unsupportedStream, "cameraSettings",
        "\(name), byte 0: the tag is not v1; there are no camera settings")
      return .unsupported
    }
    let records = max(0, file.count - tag.count) / recordBytes
    let end = tag.count + records * recordBytes
    if file.count != end {
      warnings.add(
        .truncatedStream, "cameraSettings",
        "\(name), record \(records), byte \(min(end, file.count)): the file ends inside a record")
    }
    var rows: [CameraSettingsRow] = []
    var nonFinite = 0
    file.withBytes { bytes in
      for frame in 0..<min(records, frames) {
        let row = row(bytes, frame: frame)
        rows.append(row)
        if [row.gainRed, row.gainGreen, row.gainBlue, row.exposureSeconds, row.iso].contains(nil) {
          nonFinite += 1
        }
      }
    }
    warnings.add(
      .nonFiniteValue, "cameraSettings", count: nonFinite,
      "\(name): records with values that are not finite")
    return .settings(records: records, rows: rows)
  }

  /// Reads gains for red, green and blue, then exposure, then ISO; values that are not finite are
  /// unknown.
  private static func row(_ bytes: RawSpan, frame: Int) -> CameraSettingsRow {
    func value(_ index: Int) -> Double? {
      let offset = tag.count + frame * recordBytes + 4 * index
      guard let value = bytes.littleEndianFloat(at: offset), value.isFinite else { return nil }
      return Double(value)
    }
    return CameraSettingsRow(
      frame: frame, exposureSeconds: value(3), iso: value(4), gainRed: value(0),
      gainGreen: value(1), gainBlue: value(2))
  }
}
