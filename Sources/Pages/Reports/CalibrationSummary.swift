import Captures
import Core
import SystemPackage

/// The effective calibration of a capture, as text.
struct CalibrationSummary {
  let source: CalibrationSource
  /// The calibration that a stage would use; `nil` if there is no depth to align, or no calibration
  /// for it.
  let calibration: DepthCalibration?
  /// Doubts about a calibration that would be used anyway.
  private let doubts: [CalibrationDoubt]
  private let capture: Capture
  private let folder: FilePath?

  /// The capture's own calibration, or that of `file` or of the device's file in `folder`.
  ///
  /// Throws when the effective file cannot be used.
  init(
    _ capture: Capture, file: FilePath? = nil, folder: FilePath? = nil
  ) throws(CalibrationError) {
    self.capture = capture
    self.folder = folder
    if let folder { _ = try CalibrationDevices(in: folder) }
    source = CalibrationSource(file: file, folder: folder, deviceID: capture.device.id)
    if let path = source.path {
      let found = try CalibrationFile.read(
        path, for: capture, Self.hasDepth(capture) ? .depthAndColor : .color)
      (calibration, doubts) = (found.calibration, found.doubts)
    } else {
      calibration = capture.alignment
      doubts = capture.alignment.map { FittingCalibration($0).doubts } ?? []
    }
  }

  /// The table of distances that the folder has for the device; `nil` without one.
  private var tableLine: String? {
    guard let folder, let deviceID = capture.device.id,
      let table = CalibrationFolder.table(
        for: deviceID, in: folder, of: capture.familyDescription)
    else { return nil }
    let text = "distances of depth: \(table), chosen by device \(deviceID)"
    if capture.familyDescription.hasStructuredLight { return text }
    return "warning: \(text), \(CalibrationFit.refusalPhrase): not a structured-light sensor"
  }

  /// The source, followed by one line per value.
  var lines: [String] {
    valueLines + (tableLine.map { [$0] } ?? [])
  }

  private var valueLines: [String] {
    guard let calibration else { return ["none: no depth to align"] }
    var lines = [sourceText]
    let missing = CaptureSummary.missing(in: calibration)
    if !missing.isEmpty { lines[0] += "; incomplete: no " + missing.joined(separator: ", no ") }
    if calibration.registered {
      lines.append("depth and color share one camera")
    } else if let transform = calibration.colorFromDepth {
      let millimeters = transform.translation.map { Self.short($0 * 1000, decimals: 1) }
      lines.append("depth to color: translation \(millimeters.joined(separator: " ")) mm")
    }
    lines += doubts.map { "warning: \($0.message)" }
    if let color = calibration.colorIntrinsics {
      lines.append(
        "color " + Self.text(color, calibration.colorDistortion, capture.storedColorSize))
    }
    if let depth = calibration.depthIntrinsics {
      lines.append(
        "depth " + Self.text(depth, calibration.depthDistortion, capture.depth.value?.size))
    }
    return lines
  }

  private var sourceText: String {
    switch source {
    case .file(let path): return "\(path), in place of the capture's own"
    case .deviceFile(let path, let deviceID):
      return "\(path), chosen by device \(deviceID), in place of the capture's own"
    case .capture:
      // A laboratory has calibrated a device whose lens is known.
      let own = "the capture's own" + (capture.alignment?.statesLens == true ? "" : ", nominal")
      guard let folder else { return own }
      let device = capture.device.id.map { "device \($0)" } ?? "a capture without device id"
      return "\(own) (\(folder) has no file for \(device))"
    }
  }

  private static func text(
    _ camera: PinholeCamera, _ lens: LensDistortion, _ size: PictureSize?
  ) -> String {
    var parts = ["\(camera.width)×\(camera.height)"]
    if let size, size != PictureSize(camera) {
      let isSameShape = camera.fitted(toWidth: size.width, height: size.height) != nil
      parts.append(
        isSameShape
          ? "rescaled to \(size.width)×\(size.height)"
          : "size-mismatch: the capture's pictures are \(size.width)×\(size.height)")
    }
    parts += [("fx", camera.fx), ("fy", camera.fy), ("cx", camera.cx), ("cy", camera.cy)]
      .map { "\($0) \(short($1, decimals: 3))" }
    if lens.isNone {
      parts.append("no lens distortion")
    } else {
      let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
      let terms = zip(names, lens.openCVOrder).filter { $0.1 != 0 }.map { "\($0) \($1)" }
      parts.append("lens " + terms.joined(separator: " "))
    }
    return parts.joined(separator: ", ")
  }

  /// Whether there is depth, readable or not.
  private static func hasDepth(_ capture: Capture) -> Bool {
    if case .absent = capture.depth { return false }
    return true
  }

  /// A number with limited decimals, for people.
  private static func short(_ value: Double, decimals: Int) -> String {
    let scale = decimals == 1 ? 10.0 : 1000
    return "\((value * scale).rounded() / scale)"
  }
}
