/// The keys of the metadata file, and warnings about absent, unusable and unknown ones.
enum ScanNetKeys {
  static let closing = ["scanSavedAt", "numDepthFrames", "numColorFrames", "numIMUmeasurements"]
  static let sizes = ["colorWidth", "colorHeight", "depthWidth", "depthHeight"]
  static let focalLengths = ["fx_color", "fy_color", "fx_depth", "fy_depth"]
  static let centers = ["mx_color", "my_color", "mx_depth", "my_depth"]
  static let extrinsics = "colorToDepthExtrinsics"
  /// Used when `extrinsics` is absent.
  static let inverseExtrinsics = "depthToColorExtrinsics"
  /// The coefficients of the lenses, which a laboratory adds, in the order k1, k2, p1, p2, k3.
  static let lenses = ["color", "depth"].flatMap { name in (1...5).map { "k\($0)_\(name)" } }
  /// Keys that may be absent.
  static let optional: Set<String> = [
    "deviceId", "deviceName", "sceneLabel", "sceneType", "userName", "appVersionId",
    "axisAlignment", inverseExtrinsics,
  ]
  static let required = sizes + focalLengths + centers + [extrinsics] + closing

  /// Other spellings of keys, and the usual ones.
  static let usualSpelling = [
    "color_width": "colorWidth", "color_height": "colorHeight", "depth_width": "depthWidth",
    "depth_height": "depthHeight",
  ]

  /// Warns of absent, unusable and unknown keys, each by its name.
  static func check(_ metadata: ScanNetMetadata, file: String, into warnings: WarningCollector) {
    for key in required where !isUsable(key, in: metadata) {
      if key == extrinsics, metadata.values[key] == nil,
        isUsable(inverseExtrinsics, in: metadata)
      {
        continue
      }
      guard let value = metadata.values[key] else {
        let why = closing.contains(key) ? ": the scan was not closed" : ""
        warnings.add(.missingKey, key, "\(file) has no key \(key)\(why)")
        continue
      }
      warnings.add(code(of: value), key, unusable(key, value, in: file))
    }
    for key in lenses {
      guard let value = metadata.text(key), metadata.number(key) == nil else { continue }
      let camera = key.hasSuffix("color") ? "color" : "depth"
      warnings.add(
        code(of: value), key,
        unusable(key, value, in: file)
          + ": the \(camera) camera is taken to have no lens distortion")
    }
    for (key, value) in metadata.values.sorted(by: { $0.key < $1.key })
    where !required.contains(key) && !optional.contains(key) && !lenses.contains(key) {
      warnings.add(.unknownKey, key, "\(file) has an unknown key: \(key) = \(value.prefix(80))")
    }
  }

  private static func code(of value: String) -> WarningCode {
    let numbers = value.split { $0 == " " || $0 == "\t" }.map { Double($0) }
    return numbers.contains { $0.map { !$0.isFinite } ?? false } ? .nonFiniteValue : .missingKey
  }

  private static func unusable(_ key: String, _ value: String, in file: String) -> String {
    "\(file): the value of \(key) cannot be used: \(value.prefix(80))"
  }

  private static func isUsable(_ key: String, in metadata: ScanNetMetadata) -> Bool {
    switch key {
    case "scanSavedAt": metadata.text(key) != nil
    case extrinsics, inverseExtrinsics: ScanNetCalibration.transform(key, in: metadata) != nil
    case _ where sizes.contains(key): metadata.pixels(key) != nil
    case _ where focalLengths.contains(key): metadata.focalLength(key) != nil
    case _ where centers.contains(key): metadata.number(key) != nil
    default: metadata.count(key) != nil
    }
  }
}
