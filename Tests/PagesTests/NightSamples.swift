@testable import Core
@testable import Captures
@testable import Media
@testable import Engine

@testable import Pages

/// Reports of nights that never were, as `report --format json` would have them.
enum NightSamples {
  static func empty() -> NightReport {
    NightReport(
      from: "2026-11-20T11:00:00Z", to: "2026-11-21T06:00:00Z",
      program: ProgramIdentity(version: "0.12.0", commit: "0123456789abcdef", libraries: [:]),
      host: "scan-server", pipeline: "default",
      free: .init(
        bytes: 812_000_000_000, inodes: 1_000_000, totalBytes: 2_000_000_000_000,
        reserveBytes: 1 << 30))
  }

  static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]
  static let scenes = [
    "Kitchen, ground floor", "Lecture hall 3", "Stairs", "Workshop", "Courtyard, north side",
  ]
  static let users = ["Anna", "Ben", "Chandra", "Daniela"]

  static func time(_ minutes: Int) -> String {
    let day = minutes >= 0 ? 20 + (21 * 60 + minutes) / 1440 : 20
    let inDay = (21 * 60 + minutes) % 1440
    return
      "2026-11-\(day)T\((inDay / 60).padded(2)):\((inDay % 60).padded(2)):00Z"
  }

  static func capture(_ number: Int, _ state: CaptureState = .done) -> CaptureRow {
    let digits = "\(number)"
    let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    var capture = CaptureRow(
      id: "2026-11-20_\(families[number % 5])_\(padded)", family: families[number % 5],
      state: state)
    capture.path = "/srv/staging/2026-11-20/\(users[number % 4])/\(capture.id)"
    capture.sceneInfo.label = scenes[number % 5]
    capture.deviceInfo.name = "ipad-0\(number % 7)"
    capture.user = users[number % 4]
    capture.recordedAt = "2026-11-20T1\(number % 10):15:00Z"
    capture.page = "\(capture.id)/report.html"
    capture.outcome = .made
    capture.frames = 600 + 137 * (number % 13)
    capture.seconds = 40 + Double((number * 37) % 97)
    capture.lastRun = time(60 + number % 400)
    return capture
  }

  static func warned(_ number: Int) -> CaptureRow {
    var capture = capture(number, .done)
    capture.warnings = [
      CaptureWarning(.frameGap, "color", count: 12 + number, "12 gaps, the longest 0.33 s")
    ]
    return capture
  }

  /// A depth file that is cut.
  static func quarantined(_ number: Int) -> CaptureRow {
    var capture = capture(number, .quarantined)
    capture.outcome = .failed
    capture.attempts = 1
    capture.failures = [
      Failure(
        stage: "depth",
        message:
          "\(capture.path ?? "")/\(capture.id).depth: record \(number) at byte \(number * 4099) is no LZ4 block; copy the file again",
        cause: .input, log: "runs/r1/logs/\(capture.id)/depth.log")
    ]
    capture.reasons = [
      NeedReason(
        code: .quarantined, text: capture.failures[0].text,
        remedy: "Copy the .depth file again; watch then takes it.")
    ]
    capture.command = "scanmill run '\(capture.path ?? "")' --output /srv/out"
    return capture
  }

  static func failed(_ number: Int) -> CaptureRow {
    var capture = capture(number, .failed)
    capture.outcome = .failed
    capture.attempts = 2
    capture.retryAt = time(600)
    capture.failures = [
      Failure(
        stage: "color", message: "the worker ended by SIGSEGV in stage color", cause: .program,
        attempts: 2, log: "runs/r1/logs/\(capture.id)/color.log")
    ]
    capture.reasons = [
      NeedReason(
        code: .failed, text: capture.failures[0].text, remedy: "A program crashed: report it.")
    ]
    capture.command = "scanmill run '\(capture.path ?? "")' --output /srv/out"
    return capture
  }

  static func incomplete(_ number: Int) -> CaptureRow {
    var capture = capture(number, .incomplete)
    (capture.outcome, capture.page, capture.frames, capture.seconds) = (nil, nil, nil, nil)
    capture.missing = [".h264", ".imu"]
    capture.reasons = [
      NeedReason(
        code: .incomplete, text: "no video, no IMU",
        remedy: "Copy the .h264 and .imu files from the device to \(capture.path ?? "").")
    ]
    capture.since = time(15)
    return capture
  }

  static func waiting(_ number: Int, _ state: CaptureState) -> CaptureRow {
    var capture = capture(number, state)
    (capture.outcome, capture.page, capture.frames, capture.seconds) = (nil, nil, nil, nil)
    if state == .queued { capture.waitsFor = "worker" }
    return capture
  }

  /// 44 captures of five families: three failures for two reasons, one incomplete, one that arrives, two
  /// folders that nobody knows.
  static func ordinary() -> NightReport {
    var report = empty()
    report.captures = [quarantined(3), quarantined(8), failed(11), incomplete(17)]
    report.captures += [waiting(40, .arriving), waiting(41, .queued)]
    report.captures += [warned(5), warned(9), warned(12)]
    let used = Set(report.captures.map(\.id))
    report.captures += (0..<60).map { capture($0) }.filter { !used.contains($0.id) }
      .prefix(44 - report.captures.count)
    report.unrecognized = [
      .init(path: "/srv/staging/2026-11-20/photos", holds: ["IMG_1.heic", "IMG_2.heic"])
    ]
    finish(&report)
    return report
  }

  static func allWell(_ count: Int = 44) -> NightReport {
    var report = empty()
    report.captures = (0..<count).map { capture($0) }
    finish(&report)
    return report
  }

  static func large(_ count: Int = 5_000) -> NightReport {
    var report = empty()
    let failures = (0..<40).map { $0 < 30 ? quarantined($0) : failed($0) }
    report.captures =
      failures
      + (40..<count).map { number in
        number.isMultiple(of: 9) ? warned(number) : capture(number)
      }
    finish(&report)
    return report
  }

  static let hostileNames = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "'; alert(3); '",
    "javascript:alert(4)", "</title><script>alert(5)</script>", "abc\u{202E}gpj.exe",
    "שלום־עולם", "a\u{1B}[31mred\u{7}\r\nb", "<!-- --><svg onload=alert(6)>", "&lt;b&gt;",
    String(repeating: "<b>long\u{0}", count: 512), "{{7*7}}${7*7}", "\u{FFFE}odd\u{2028}x",
  ]

  /// Every text of others is hostile.
  static func hostile() -> NightReport {
    var report = empty()
    for (index, name) in hostileNames.enumerated() {
      var capture =
        [quarantined, failed, incomplete, warned, { Self.capture($0) }][index % 5](100 + index)
      capture.id = name
      (capture.sceneInfo.label, capture.deviceInfo.name, capture.user) = (name, name, name)
      capture.page = "\(name)/report.html"
      capture.path = "/srv/\(name)"
      capture.missing = capture.missing.isEmpty ? [] : [name]
      for place in capture.reasons.indices {
        (capture.reasons[place].text, capture.reasons[place].remedy) = (name, name)
        (capture.reasons[place].stream, capture.reasons[place].file) = (name, name)
      }
      capture.command = name
      capture.since = name
      for place in capture.failures.indices {
        capture.failures[place].message = name
        capture.failures[place].stage = name
      }
      report.captures.append(capture)
      report.unrecognized.append(.init(path: name, holds: [name]))
      report.devices.append(.init(device: name, captures: 1, lastUpload: name))
    }
    report.captures.sort { $0.needsPerson && !$1.needsPerson }
    finish(&report)
    (report.host, report.pipeline) = (hostileNames[0], hostileNames[1])
    report.watch = .init(
      alive: false, staging: hostileNames[2], lastLook: nil, trouble: hostileNames[1])
    return report
  }

  private static func finish(_ report: inout NightReport) {
    report.totals = NightTotals(
      counting: report.captures, unrecognized: report.unrecognized.count)
    report.totals.frames = report.captures.reduce(0) { $0 + ($1.frames ?? 0) }
    report.totals.bytes = 35_012_345_678
    report.totals.cpuSeconds = 45_211.25
    report.totals.seconds = 24_000
    report.runs = ["r1"]
    report.watch = .init(
      alive: true, staging: "/srv/staging", lastLook: "2026-11-21T05:59:40Z")
    for number in 0..<7 {
      report.devices.append(
        .init(
          device: "ipad-0\(number)",
          captures: report.captures.count { $0.device == "ipad-0\(number)" },
          lastUpload: number == 6 ? "2026-11-16T17:20:00Z" : "2026-11-20T1\(number):40:00Z"))
    }
    for day in 6..<20 where day != 15 {
      report.nights.append(
        .init(
          date: "2026-11-\(day < 10 ? "0" : "")\(day)", captures: 30 + (day * 7) % 19,
          failed: day % 4, hours: 4 + Double(day % 5) * 0.75, bytes: 30_000_000_000))
    }
    report.timeline = [
      .init(capture: nil, kind: "window", from: time(0), to: time(60)),
      .init(capture: nil, kind: "disk", from: time(300), to: time(318)),
    ]
    for (index, capture) in report.captures.enumerated() {
      guard let outcome = capture.outcome else { continue }
      let start = 60 + (index * 420) / max(1, report.captures.count)
      report.timeline.append(
        .init(
          capture: capture.id, kind: outcome.rawValue, from: time(start), to: time(start + 9)))
    }
    // Attempts of earlier runs at what failed, and one that was repaired.
    for (index, capture) in report.captures.enumerated()
    where capture.outcome == .failed || index == 12 {
      for number in 1...3 {
        report.timeline.append(
          .init(
            capture: capture.id, kind: "failed", from: time(number * 20),
            to: time(number * 20 + 4), run: "early-\(number)"))
      }
    }
    for index in report.timeline.indices
    where report.timeline[index].capture != nil && report.timeline[index].run == nil {
      report.timeline[index].run = "r1"
    }
    report.timeline.sort { $0.from < $1.from }
    let needing = report.captures.filter(\.needsPerson).map(\.id)
    report.changes = NightChanges(
      date: "2026-11-19", received: report.captures.count, receivedBefore: 31,
      repaired: report.captures.dropFirst(12).prefix(1).map(\.id),
      newlyNeeding: Array(needing.prefix(2)), stillNeeding: Array(needing.dropFirst(2)))
    report.forecast = NightForecast(captures: 38, bytes: 6_200_000_000)
    report.forecast?.doneAt = "2026-11-21T04:10:00Z"
    report.forecast?.due = "2026-11-21T04:00:00Z"
    report.forecast?.isAbout = true
    for index in report.devices.indices {
      (report.devices[index].receivedFiles, report.devices[index].expectedFiles) = (60, 60)
      report.devices[index].safe = report.devices[index].captures
      guard index % 3 == 1, let first = report.captures.first else { continue }
      report.devices[index].expectedFiles = 62
      report.devices[index].safe = max(0, report.devices[index].captures - 1)
      report.devices[index].notSafe = [
        .init(id: first.id, reasons: ["incomplete", "no video and no IMU log"])
      ]
    }
  }

  /// A small picture whose bytes differ from capture to capture.
  static func thumbnail(_ number: Int) throws -> PageThumbnail {
    let (width, height) = (96, 72)
    var rgb = [UInt8](repeating: 0, count: width * height * 3)
    for y in 0..<height {
      for x in 0..<width {
        let base = (y * width + x) * 3
        rgb[base] = UInt8((x * 2 + number * 7) % 256)
        rgb[base + 1] = UInt8((y * 3 + (x / 12 + y / 12) % 2 * 60) % 256)
        rgb[base + 2] = UInt8(120 + (number * 31) % 100)
      }
    }
    var writer = try JPEGWriter(quality: 60)
    var file: [UInt8] = []
    try writer.encode(rgb: rgb, width: width, height: height, into: &file)
    return PageThumbnail(jpeg: file, width: width, height: height)
  }

  static func supplies(_ report: NightReport, pictures: Int = 400) throws -> PageSupplies {
    let kinds = try (0..<8).map(thumbnail)
    var supplies = PageSupplies(log: { path in
      (1...15).map { "2026-11-20T23:1\($0 % 10):00Z [warning] line \($0) of \(path) <b>" }
    })
    for (index, capture) in NightPage.thumbnailOrder(report).prefix(pictures).enumerated()
    where capture.outcome != nil {
      supplies.thumbnails[capture.id] = kinds[index % 8]
    }
    return supplies
  }
}
