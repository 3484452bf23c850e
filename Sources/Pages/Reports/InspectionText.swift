import Captures
import Core
import Engine
import SystemPackage

extension InspectionPage {
  /// The text output of `inspect`.
  static func text(
    _ capture: Capture, _ scan: StreamScan, calibration: [String]
  ) -> String {
    let lacking = scan.lacking(capture)
    var lines = [
      capture.id.onOneLine,
      "  family      \(capture.family.rawValue) \(capture.generation)",
      "  \(capture.isFile ? "file  " : "folder")      \(capture.path.string.onOneLine)",
      "  frames      \(capture.frames.count), clock \(capture.clock.base.rawValue)",
    ]
    if let date = capture.recordedAt { lines.append("  recorded    \(date.onOneLine)") }
    lines += streamLines(capture, scan.encodings)
    for (index, pairing) in pairings(capture).enumerated() {
      lines.append((index == 0 ? "  pairing     " : "              ") + pairing)
    }
    for (index, line) in calibration.enumerated() {
      lines.append((index == 0 ? "  calibration " : "              ") + line.onOneLine)
    }
    if capture.completeness.isWhole {
      lines.append("  upload      " + uploadWords(capture, lacking))
    } else {
      lines.append(
        "  upload      incomplete: "
          + capture.completeness.missing.map { sentence in
            let line = sentence.onOneLine
            return line.hasSuffix(".") ? String(line.dropLast()) : line
          }.joined(separator: "; "))
    }
    lines += lacking.map {
      "  lacking     \($0.stream): \($0.held) of \($0.declared) \($0.unit), declared by \($0.source)"
    }
    for warning in capture.warnings.merged(with: scan.warnings) {
      lines.append(
        "  \(warning.severity == .note ? "note   " : "warning")     \(warning.code.rawValue) ×\(warning.count) (\(warning.subject.onOneLine)): \(warning.message.onOneLine)"
      )
    }
    return lines.joined(separator: "\n")
  }

  /// Words about a capture that lacks no file: what is known of the contents.
  private static func uploadWords(_ capture: Capture, _ lacking: [StreamClaim]) -> String {
    let damaged =
      capture.errors.map { "\($0.stream) cannot be read" }
      + lacking.map { "\($0.stream) \($0.held) of \($0.declared)" }
    if !damaged.isEmpty {
      return "all files that the app writes are here, and not whole: "
        + damaged.joined(separator: ", ")
    }
    guard let manifest = UploadCounts(in: capture.path) else {
      return capture.completeness.verifiedFiles.map {
        "all files that the app writes are here; \(Plural.text($0, "file")) with the digests that it wrote"
      } ?? Custody.notCompared
    }
    // Some files may not have come through the receiver.
    let read = Set(capture.files.values.joined()).count { $0.starts(with: capture.path) }
    return
      "all files that the app writes are here; an upload server has compared the contents of "
      + "\(manifest.unchanged) of \(max(manifest.files, read))"
  }

  private static func streamLines(_ capture: Capture, _ encodings: [String: String]) -> [String] {
    [
      capture.framesProblem.map { "  frames      UNREADABLE: \($0)" },
      line("color", capture.color, encodings) { $0.description },
      capture.color.value?.description.colorWords.map { String(repeating: " ", count: 14) + $0 },
      line("depth", capture.depth, encodings) { $0.description },
      line("confidence", capture.confidence, encodings) { $0.description },
      line("imu", capture.imu, encodings) { $0.description },
      line("poses", capture.poses, encodings) { $0.description },
      capture.world == .firstCamera
        ? String(repeating: " ", count: 14)
          + "in the world of the first camera: which way is up is not known" : nil,
      line("settings", capture.cameraSettings, encodings) { $0.description },
      line("geo", capture.geo, encodings) { $0.description },
    ].compactMap { $0 }
  }

  /// How the items of each stream were given to frames.
  private static func pairings(_ capture: Capture) -> [String] {
    let streams = [
      ("color", capture.color.value?.description), ("depth", capture.depth.value?.description),
      ("confidence", capture.confidence.value?.description),
      ("poses", capture.poses.value?.description),
      ("settings", capture.cameraSettings.value?.description),
    ]
    return streams.compactMap { name, stream in
      stream?.pairing.map { "\(name) \($0.words)" }
    }
  }

  /// A line about a stream: empty for one that was never recorded; with the reason for one that
  /// cannot be read.
  private static func line<Value>(
    _ name: String, _ state: StreamState<Value>, _ encodings: [String: String],
    _ describe: (Value) -> StreamDescription
  ) -> String? {
    let head = "  " + name + String(repeating: " ", count: max(1, 12 - name.count))
    switch state {
    case .absent: return nil
    case .unreadable(let error): return head + "UNREADABLE: \(error)"
    case .present(let value):
      let stream = describe(value)
      var parts = [stream.file.onOneLine, encodings[name] ?? stream.encoding]
      if let width = stream.width, let height = stream.height { parts.append("\(width)×\(height)") }
      if let frames = stream.frames {
        let claim = stream.declaredFrames.map { $0 == frames ? "" : " (declared \($0))" } ?? ""
        parts.append("\(Plural.text(frames, "frame"))\(claim)")
      }
      if let rate = stream.rateHz { parts.append("\(NumberText.short(rate)) Hz") }
      if let readout = stream.readoutSeconds {
        parts.append("rows read out in \(NumberText.short(readout * 1000)) ms")
      }
      if let gaps = stream.gaps, gaps > 0 { parts.append(Plural.text(gaps, "gap")) }
      return head + parts.joined(separator: ", ")
    }
  }
}

extension InspectionPage {
  /// The output of `inspect` for one capture, made in the process that opens it.
  public init(_ capture: Capture, _ asked: InspectionRequest) throws {
    var scan = StreamScan()
    if case .inspection(isQuick: false) = asked.question {
      scan = try StreamScan(capture, budget: CoreBudget(cores: asked.cores))
    }
    var problem: String?
    var summary: CalibrationSummary?
    do throws(CalibrationError) {
      summary = try CalibrationSummary(
        capture, file: asked.calibration.map { FilePath(text: $0) },
        folder: asked.calibrationFolder.map { FilePath(text: $0) })
    } catch {
      problem = error.description
    }
    let asksForCalibration = asked.calibration != nil || asked.calibrationFolder != nil
    let document = CaptureDocument(
      capture, found: scan.warnings, encodings: scan.encodings, holes: scan.holes,
      measured: asksForCalibration ? summary?.members ?? [:] : [:])
    let json = try JSONText.pretty(document)
    let text = Self.text(
      capture, scan, calibration: summary?.lines ?? ["the file asked for cannot be used"])
    self.init(
      document: String(decoding: json, as: UTF8.self), text: text, calibrationProblem: problem,
      of: capture, scan)
  }
}

extension CalibrationSummary {
  /// The effective calibration as a member of `inspect --json`.
  var members: [String: any Encodable & Sendable] {
    let source =
      switch source {
      case .file: "file"
      case .deviceFile: "device-file"
      case .capture: "capture"
      }
    return [
      "calibrationInForce": [
        "source": source, "file": self.source.path?.shown, "alignment": calibration?.document,
      ] as JSONObject
    ]
  }
}

/// The effective calibration of a capture, as text.
struct CalibrationSummary {
  let source: CalibrationSource
  /// The calibration that a stage would use; `nil` if there is no depth to align, or no calibration
  /// for it.
  let calibration: DepthCalibration?
  /// Doubts about a calibration that would be used anyway.
  private let doubts: [CaptureWarning]
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
