import Core
import Engine
import Processing

/// A problem that does not belong to a capture: the watcher does not run, STAGING cannot be read,
/// the disk is full, no upload ever arrived.
struct NightProblem: Hashable {
  /// A few words without a period: `The watcher does not run`.
  var title: String
  var words: String
  var remedy: String
  /// Whether it needs attention; otherwise it is only reported.
  var isUrgent: Bool

  /// Seconds without a scan after which a night has passed without a watcher.
  private static let longestNight = 26.0 * 3600
  /// Seconds without a scan after which attention is needed. A watcher scans every half minute, but
  /// file systems may hang for some time.
  private static let longestLook = 3.0 * 3600

  static func all(_ report: NightReport) -> [NightProblem] {
    watcher(report) + deadline(report) + staging(report) + disk(report) + silence(report)
      + depth(report)
  }

  private static func watcher(_ report: NightReport) -> [NightProblem] {
    guard let watch = report.watch else { return [] }
    let look = watch.lastLook.flatMap { LocalTime($0) }
    let now = LocalTime(report.to)
    let age = look.flatMap { look in now.map { $0.seconds - look.seconds } }
    let said = look.map { "The last look at STAGING was on \($0.text)." } ?? "It has never looked."
    let waiting =
      [CaptureState.queued, .running, .arriving, .stalledUpload, .incomplete]
      .reduce(0) { $0 + report.totals[$1] }
    if watch.alive {
      guard let age, age > longestLook else { return [] }
      return [
        NightProblem(
          title: "The watcher does not respond",
          words: "It is running, but has not looked at STAGING for \(FigureText.age(age)). \(said)",
          remedy: "Check whether STAGING and the output can be reached, then restart the watcher.",
          isUrgent: true)
      ]
    }
    let isKilled = watch.killed == true || report.totals.running > 0
    let isForgotten = age.map { $0 > longestNight } ?? true
    if isKilled || isForgotten {
      return [
        NightProblem(
          title: "The watcher is not running",
          words:
            "\(said) What arrived later is not on this page."
            + (waiting > 0 ? " \(FigureText.counted(waiting, "capture")) cannot continue." : ""),
          remedy:
            "Start it again: `scanmill watch STAGING --output DIR`, or `systemctl start` of its service. It continues where it stopped.",
          isUrgent: true)
      ]
    }
    return [
      NightProblem(
        title: "No watcher runs at this moment",
        words: said
          + (waiting > 0
            ? " \(FigureText.counted(waiting, "capture")) will continue when it starts." : ""),
        remedy: "", isUrgent: false)
    ]
  }

  private static func deadline(_ report: NightReport) -> [NightProblem] {
    let now = Int64((LocalTime(report.made)?.seconds ?? 0) * 1e9)
    guard let forecast = report.forecast, let words = forecast.dueWords(now: now) else { return [] }
    return [
      NightProblem(
        title: words, words: forecast.words(now: now) ?? "",
        remedy:
          "Give the machine more hours (`--between`) or captures at once (`--jobs`), or process the rest elsewhere.",
        isUrgent: true)
    ]
  }

  private static func staging(_ report: NightReport) -> [NightProblem] {
    guard let watch = report.watch else { return [] }
    if let problem = watch.trouble, !problem.isEmpty {
      return [
        NightProblem(
          title: "STAGING cannot be read", words: problem,
          remedy:
            "Restore what is missing. The watcher then continues automatically; nothing is lost.",
          isUrgent: true)
      ]
    }
    guard let hold = watch.holds, watch.alive else { return [] }
    // Waiting for the permitted hours is not a problem; a full disk is reported below.
    let isWindow = watch.holdsFor == "window"
    if watch.holdsFor == "disk" {
      if report.free.bytes < report.free.reserveBytes { return [] }
      return [
        NightProblem(
          title: "Nothing new is started: the disk of the output is too full", words: hold,
          remedy:
            "Free space: `scanmill clean DIR --intermediate` lists what can be made again. Work then continues automatically.",
          isUrgent: true)
      ]
    }
    return [
      NightProblem(
        title: isWindow
          ? "Nothing is started outside the given hours" : "Nothing new is started",
        words: hold,
        remedy: isWindow
          ? ""
          : "Restore what is missing. The watcher then continues automatically; nothing is lost.",
        isUrgent: !isWindow)
    ]
  }

  private static func disk(_ report: NightReport) -> [NightProblem] {
    let free = report.free
    if free.bytes < free.reserveBytes {
      return [
        NightProblem(
          title: "The disk of the output is full",
          words: "\(ByteCount.text(free.bytes)) are free. Nothing new is started.",
          remedy:
            "Free space: `scanmill clean DIR --intermediate` lists what can be made again. Work then continues automatically.",
          isUrgent: true)
      ]
    }
    if let inodes = free.inodes, inodes < 1000 {
      return [
        NightProblem(
          title: "The disk of the output takes no more files",
          words: "\(FigureText.counted(Int(clamping: inodes), "inode")) are free.",
          remedy: "Remove or move folders with many small files.", isUrgent: true)
      ]
    }
    guard let nights = report.nightsUntilFull, nights < 3 else { return [] }
    return [
      NightProblem(
        title: "The disk of the output is nearly full",
        words:
          "\(ByteCount.text(free.bytes)) are free: enough for \(nights < 1 ? "less than a night" : FigureText.counted(Int(nights), "night")) like the last ones.",
        remedy: "Free space before the evening.", isUrgent: false)
    ]
  }

  /// Devices of which the depth has become worse.
  private static func depth(_ report: NightReport) -> [NightProblem] {
    report.devices.compactMap { device in
      let worse = (device.quality ?? []).filter(\.isWorse)
      guard !worse.isEmpty else { return nil }
      return NightProblem(
        title: "The depth of \(FigureText.cut(device.device, 80)) has become worse",
        words: worse.map { $0.words + "." }.joined(separator: " "),
        remedy:
          "Look at its last captures, clean the sensor, and take a test capture; calibrate it again if the errors stay.",
        isUrgent: false)
    }
  }

  private static func silence(_ report: NightReport) -> [NightProblem] {
    guard report.captures.isEmpty, report.unrecognized.isEmpty else { return [] }
    if let last = report.nights.last(where: { $0.captures > 0 }) {
      let day = CalendarDay(last.date)?.text ?? last.date
      return [
        NightProblem(
          title: "Nothing was received this night",
          words: "The last captures were processed on the night of \(day).",
          remedy: "Ask whether nothing was recorded, or whether uploads fail.", isUrgent: false)
      ]
    }
    return [
      NightProblem(
        title: "Nothing was ever received",
        words: report.watch == nil
          ? "No watcher has ever run on this output, and nothing was processed in it."
          : "The watcher has found no capture in \(report.watch?.staging ?? "STAGING") so far.",
        remedy: "Check where the devices upload to.", isUrgent: false)
    ]
  }
}

extension NightReport {
  /// Mean over the nights, including this one, in which anything was written; `nil` if there are
  /// none.
  var bytesPerNight: Double? {
    let written = (nights.map(\.bytes) + [totals.bytes]).filter { $0 > 0 }.map(Double.init)
    return written.isEmpty ? nil : written.reduce(0, +) / Double(written.count)
  }

  /// How long the disk space lasts at the rate of the last nights; `nil` if nothing was written.
  var nightsUntilFull: Double? {
    bytesPerNight.map { max(0, Double(free.bytes - free.reserveBytes)) / $0 }
  }
}

extension QualityTrend {
  /// `Depth differs by 9 ‰ from frame to frame in the last 5 captures, by 4 ‰ in the 20 before`.
  var words: String {
    let subject = QualityVerdict.Subject(rawValue: self.subject)
    func text(_ value: Double) -> String { subject?.text(value) ?? FigureText.significant(value) }
    let past = "in the last \(captures) captures, \(text(before)) in the \(capturesBefore) before"
    return switch subject {
    case .depthMissing: "Of the depth \(text(recent)) is missing \(past)"
    case .depthDisagreement: "Depth differs from frame to frame by \(text(recent)) \(past)"
    default: "\(self.subject) \(text(recent)) \(past)"
    }
  }
}
