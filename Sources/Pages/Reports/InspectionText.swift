import Captures
import Core
import Engine
import SystemPackage

/// The text output of `inspect`.
enum InspectionText {
  static func text(
    _ capture: Capture, found: [CaptureWarning], encodings: [String: String],
    calibration: [String]
  ) -> String {
    var lines = [
      capture.id.onOneLine,
      "  family      \(capture.family.rawValue) \(capture.generation)",
      "  \(capture.isFile ? "file  " : "folder")      \(capture.path.string.onOneLine)",
      "  frames      \(capture.frames.count), clock \(capture.clock.base.rawValue)",
    ]
    if let date = capture.recordedAt { lines.append("  recorded    \(date.onOneLine)") }
    lines += streamLines(capture, encodings)
    for (index, pairing) in pairings(capture).enumerated() {
      lines.append((index == 0 ? "  pairing     " : "              ") + pairing)
    }
    for (index, line) in calibration.enumerated() {
      lines.append((index == 0 ? "  calibration " : "              ") + line.onOneLine)
    }
    if capture.completeness.isWhole {
      lines.append("  upload      " + uploadWords(capture))
    } else {
      lines.append(
        "  upload      incomplete: "
          + capture.completeness.missing.map { sentence in
            let line = sentence.onOneLine
            return line.hasSuffix(".") ? String(line.dropLast()) : line
          }.joined(separator: "; "))
    }
    lines += capture.claims.lacking.map {
      "  lacking     \($0.stream): \($0.held) of \($0.declared) \($0.unit), declared by \($0.source)"
    }
    for warning in capture.warnings.merged(with: found) {
      lines.append(
        "  \(warning.severity == .note ? "note   " : "warning")     \(warning.code.rawValue) ×\(warning.count) (\(warning.subject.onOneLine)): \(warning.message.onOneLine)"
      )
    }
    return lines.joined(separator: "\n")
  }

  /// Words about a capture that lacks no file: what is known of the contents.
  private static func uploadWords(_ capture: Capture) -> String {
    let damaged =
      capture.errors.map { "\($0.stream) cannot be read" }
      + capture.claims.lacking.map { "\($0.stream) \($0.held) of \($0.declared)" }
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
