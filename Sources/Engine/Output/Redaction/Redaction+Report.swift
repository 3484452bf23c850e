import Captures
import Core

extension Redaction {
  /// The report of a night without anything private in it: no commands, no logs, no paths, and aliases in
  /// place of ids, devices and people.
  public func applied(to report: NightReport) -> NightReport {
    var shown = report
    shown.captures = report.captures.map { applied($0) }
    shown.unrecognized = report.unrecognized.enumerated().map { index, folder in
      RunReport.Unrecognized(
        path: "unrecognized-\(index + 1)", holds: folder.holds.map(Self.ending))
    }
    shown.retired = report.retired?.map {
      NightReport.Retired(id: alias(of: $0.id), path: nil, mark: redacted($0.mark))
    }
    shown.host = text(report.host)
    shown.pipeline = text(report.pipeline)
    // What is made for others is not renewed.
    shown.watch?.renewsPageSeconds = nil
    shown.watch?.staging = report.watch?.staging.map { _ in "STAGING" }
    shown.watch?.trouble = report.watch?.trouble.map { text($0) }
    shown.devices = report.devices.map { device in
      var shown = device
      shown.device = alias(ofDevice: device.device)
      shown.notSafe = device.notSafe.map {
        .init(id: alias(of: $0.id), reasons: $0.reasons.map(text))
      }
      return shown
    }
    if var changes = report.changes {
      changes.repaired = changes.repaired.map(alias(of:))
      changes.newlyNeeding = changes.newlyNeeding.map(alias(of:))
      changes.stillNeeding = changes.stillNeeding.map(alias(of:))
      shown.changes = changes
    }
    shown.timeline = report.timeline.map { span in
      var shown = span
      shown.capture = span.capture.map { alias(of: $0) }
      return shown
    }
    return shown
  }

  /// Who marked a capture, and in which words, concerns no reader of it.
  private func redacted(_ mark: CaptureMark) -> CaptureMark {
    var shown = mark
    shown.by = "somebody"
    shown.note = nil
    return shown
  }

  /// Unknown names of files may be anything.
  private static func ending(of name: String) -> String {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last, (1...8).contains(last.count),
      last.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return "*" }
    return "*.\(last)"
  }

  private func applied(_ capture: NightCapture) -> NightCapture {
    var shown = capture
    let alias = self.alias(of: capture.id)
    shown.id = alias
    shown.path = capture.path.map { _ in alias }
    shown.page = capture.page.map { _ in "\(alias)/report.html" }
    shown.scene = nil
    shown.device = capture.device.map { self.alias(ofDevice: $0) }
    shown.mark = capture.mark.map { redacted($0) }
    shown.user = capture.user.map { self.alias(ofUser: $0) }
    shown.command = nil
    shown.cluster = nil
    shown.twinOf = capture.twinOf.map { self.alias(of: $0) }
    shown.remedy = capture.remedy.map { text($0) }
    shown.missing = capture.missing.map { text($0) }
    shown.warnings = capture.warnings.map { applied($0) }
    shown.shortfalls = capture.shortfalls?.map { shortfall in
      var shown = shortfall
      shown.message = text(shortfall.message)
      return shown
    }
    shown.notApplicable = capture.notApplicable?.map {
      NightCapture.Inapplicable(stage: $0.stage, reason: text($0.reason))
    }
    shown.quality?.reasons = capture.quality?.reasons.map { text($0) } ?? []
    shown.custody?.lacks = capture.custody?.lacks.map { text($0) } ?? []
    shown.failures = capture.failures.map { failure in
      var shown = failure
      shown.failure.message = text(failure.message)
      shown.log = nil
      return shown
    }
    return shown
  }

  /// A warning without anything private in its words.
  func applied(_ warning: CaptureWarning) -> CaptureWarning {
    var shown = warning
    shown.subject = text(warning.subject)
    shown.message = text(warning.message)
    return shown
  }
}
