import Core

/// The `key = value` text of a per-device lab calibration.
///
/// k1 … k5 of a camera are k1, k2, p1, p2, k3; missing ones are 0. Lines without `=`, comments
/// (`#`) and keys that do not concern cameras are ignored. A camera without any of its four
/// intrinsics is absent; one with only some of them, or without its size, is an error. A lens
/// coefficient under another name is an error too, because ignoring it would set it to 0. So are two values of one key
/// of a camera, and two transforms that are not the inverse of each other.
struct LabCalibrationText {
  private struct Entry {
    var value: Substring
    var line: Int
  }

  private var entries: [String: Entry] = [:]
  /// The first line that states another value of a key than a line before.
  private var contradiction: (key: String, before: Entry, again: Entry)?

  init(_ text: String) {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let content = line.prefix { $0 != "#" }
      guard let equals = content.firstIndex(of: "=") else { continue }
      let key = String(Self.trimmed(content[..<equals]))
      let entry = Entry(
        value: Self.trimmed(content[content.index(after: equals)...]), line: index + 1)
      if let before = entries[key], before.value != entry.value, contradiction == nil,
        Self.keys.contains(key)
      {
        contradiction = (key, before, entry)
      }
      entries[key] = entry
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }

  func calibration() throws(CalibrationProblem) -> DepthCalibration {
    if let (key, before, again) = contradiction {
      throw CalibrationProblem(
        "line \(before.line) says \(before.value): keep the line that is right", key: key,
        value: String(again.value), line: again.line)
    }
    try checkLensKeys()
    let transform = try transform()
    return DepthCalibration(
      registered: false, colorFromDepth: transform, depthIntrinsics: try camera("depth"),
      colorIntrinsics: try camera("color"), depthDistortion: try lens("depth"),
      colorDistortion: try lens("color"))
  }

  /// The device that the text names.
  var deviceID: String? {
    entries.keys.sorted().first { StatedCalibration.isDeviceKey($0) }
      .flatMap { entries[$0] }.map { String($0.value) }
  }

  private static let lensKeys = ["color", "depth"].flatMap { name in
    (1...5).map { "k\($0)_\(name)" }
  }

  private static let extrinsics = ["depthToColorExtrinsics", "colorToDepthExtrinsics"]

  /// What is read of the cameras.
  private static let keys = Set(
    lensKeys + extrinsics
      + ["color", "depth"].flatMap { name in
        [name + "Width", name + "Height"] + ["fx_", "fy_", "mx_", "my_"].map { $0 + name }
      })

  private func checkLensKeys() throws(CalibrationProblem) {
    let odd = entries.keys.sorted().first { key in
      key.wholeMatch(of: /[kKpP][0-9]+_.*/) != nil && !Self.lensKeys.contains(key)
    }
    guard let odd else { return }
    throw CalibrationProblem(
      "is not a lens coefficient: write k1, k2, p1, p2 and k3 as k1_ to k5_ with color or depth",
      key: odd, line: entries[odd]?.line)
  }

  /// The transform of `depthToColorExtrinsics`, or the inverse of `colorToDepthExtrinsics`.
  private func transform() throws(CalibrationProblem) -> RigidTransform? {
    if let given = try matrix("depthToColorExtrinsics") {
      if let opposite = try? matrix("colorToDepthExtrinsics"),
        zip((given * opposite).rowMajor, RigidTransform.identity.rowMajor)
          .contains(where: { abs($0 - $1) > 1e-3 })
      {
        throw CalibrationProblem(
          "is not the inverse of depthToColorExtrinsics: keep the one that is right",
          key: "colorToDepthExtrinsics",
          value: entries["colorToDepthExtrinsics"].map { String($0.value) },
          line: entries["colorToDepthExtrinsics"]?.line)
      }
      return given
    }
    guard let opposite = try matrix("colorToDepthExtrinsics") else { return nil }
    // The inverse is the transpose only for a rotation: check it under the key that was read.
    let judged = DepthCalibration(registered: false, colorFromDepth: opposite)
    if let fault = judged.firstFault {
      throw CalibrationProblem(
        "must be \(fault.rule)", key: "colorToDepthExtrinsics", value: fault.value,
        line: entries["colorToDepthExtrinsics"]?.line)
    }
    return opposite.inverse
  }

  private func matrix(_ key: String) throws(CalibrationProblem) -> RigidTransform? {
    guard let entry = entries[key] else { return nil }
    let numbers = entry.value.split { $0.isWhitespace || $0 == "," }.map { Double($0) }
    guard numbers.count == 16, !numbers.contains(nil) else {
      throw CalibrationProblem(
        "must be 16 numbers, row by row", key: key, value: String(entry.value), line: entry.line)
    }
    return try CalibrationProblem.transform(
      numbers.compactMap { $0 }, key: key, line: entry.line)
  }

  private func camera(_ name: String) throws(CalibrationProblem) -> PinholeCamera? {
    let keys = ["fx_", "fy_", "mx_", "my_"].map { $0 + name }
    guard keys.contains(where: { entries[$0] != nil }) else { return nil }
    let camera = PinholeCamera(
      width: try side(name + "Width"), height: try side(name + "Height"),
      fx: try number(keys[0]), fy: try number(keys[1]), cx: try number(keys[2]),
      cy: try number(keys[3]))
    try CalibrationProblem.check(
      camera,
      keys: [
        "width": name + "Width", "height": name + "Height", "fx": keys[0], "fy": keys[1],
        "cx": keys[2], "cy": keys[3],
      ])
    return camera
  }

  private func lens(_ name: String) throws(CalibrationProblem) -> LensDistortion {
    var list: [Double] = []
    for key in (1...5).map({ "k\($0)_\(name)" }) {
      list.append(entries[key] == nil ? 0 : try number(key))
    }
    return LensDistortion(openCVOrder: list)
  }

  private func side(_ key: String) throws(CalibrationProblem) -> Int {
    guard let entry = entries[key] else {
      throw CalibrationProblem(
        "is missing: add the size of the pictures that the calibration was made with, in pixels",
        key: key)
    }
    guard let side = Int(entry.value) else {
      throw CalibrationProblem(
        "must be a whole number of pixels", key: key, value: String(entry.value), line: entry.line)
    }
    return side
  }

  private func number(_ key: String) throws(CalibrationProblem) -> Double {
    guard let entry = entries[key] else {
      throw CalibrationProblem("is missing: add it, in pixels", key: key)
    }
    guard let number = Double(entry.value), number.isFinite else {
      throw CalibrationProblem(
        "must be a finite number", key: key, value: String(entry.value), line: entry.line)
    }
    return number
  }
}
