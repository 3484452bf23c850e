import ArgumentParser
import Core
import Engine
import FoundationEssentials
import Pages
import SystemPackage

struct ReportCommand: ListingVerb {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "The report of a night: what is done, what failed, what never arrived.",
    discussion: """
      Covers every capture that a selected run worked on, and every one that is waiting now or is \
      quarantined. HTML is written into the output folder and the path of its first page printed; the \
      other formats are printed.
      """)

  @Argument(help: "An output folder.", completion: Completion.folder)
  var folder: String

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp("Only this run, by the beginning of its id.", valueName: "run"))
  var runID: String?

  @Option(
    help: ArgumentHelp(
      "Runs since 2026-11-20, 2026-11-20T22:00 (local time), or 24h ago; default: the last local noon.",
      valueName: "date"))
  var since: String?

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case html, json, csv, geojson
  }

  @Option(help: "html, json, csv, or geojson: a point on the map for each capture.")
  var format = Format.html

  @Flag(help: "Print one JSON object on standard output, as --format json.")
  var json = false

  @Flag(help: "Leave out the names of people, devices and scenes, device ids and positions.")
  var redact = false

  /// How many pages of earlier nights stay; the watcher asks for them.
  @Option(help: .hidden)
  var keepNights = 0

  /// Pages of captures stay as they are; the watcher asks for it on a full disk.
  @Flag(help: .hidden)
  var nightPageOnly = false

  @Flag(help: "List only captures that need you; totals count all.")
  var needsPerson = false

  @Flag(help: "End with 1 when a capture needs you.")
  var exitCode = false

  func validate() throws {
    if runID != nil, since != nil { throw ValidationError("--run or --since, not both") }
    if let since { _ = try DateArgument.nanoseconds(since) }
    if json, format != .html {
      throw ValidationError("--json or --format \(format.rawValue), not both")
    }
    if redact, format == .geojson {
      throw ValidationError("--redact leaves out positions, and a map has nothing else")
    }
  }

  func run() throws {
    // The watcher runs this verb and requests its thread stacks if it does not respond.
    ThreadStacks.answerRequests()
    let reader = try OutputReader()
    let looked = try ReadOutput(folder, reader)
    if let capture = looked.capture {
      throw CommandFailure(
        ExitStatus.usage,
        "\(folder) is the folder of one capture, \(capture); name the output folder above it")
    }
    try looked.tellOddRuns()
    var report = try NightReporting.report(looked.view, selection(looked.view))
    if let since, report.runs.isEmpty {
      let last = looked.view.runs.map(\.id).max().map { "; the last is \($0)" } ?? ""
      Console.error(
        "note: no run was at work since \(since)\(last): only what is waiting or quarantined now is listed"
      )
    }
    if needsPerson { report.captures.removeAll { !$0.needsPerson } }
    switch form {
    case .html:
      let pages = try NightReporting.writePages(
        report, looked.view, isRedacted: redact, keptNights: keepNights,
        makesCapturePages: !nightPageOnly)
      Console.print(pages.page.text)
      if let error = pages.error {
        throw CommandFailure(ExitStatus.cannotWrite, error.description)
      }
    case .json:
      Console.print(json: try NightReporting.shown(report, looked.view, redact).json())
    case .csv:
      let shown = NightReporting.shown(report, looked.view, redact)
      Console.print(piece: CaptureCSV.csv(shown.captures, ofReport: true))
    case .geojson:
      Console.print(piece: CaptureMap.geoJSON(report.captures, root: looked.view.root))
    }
    if exitCode, report.totals.needsPerson > 0 {
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  private var form: Format { json ? .json : format }

  func empty(_ reason: String) -> EmptyAnswer? {
    form == .json
      ? .report(reason, program: Version.program, host: ProcessHome.hostName) : nil
  }

  private func selection(_ view: OutputSnapshot) throws -> RunSelection {
    if let runID { return .run(runID) }
    if let since { return .since(try DateArgument.nanoseconds(since)) }
    return .since(NightClock.lastNoon(before: view.now))
  }
}

/// The report of a night, for `report` and the watcher.
enum NightReporting {
  static func report(
    _ view: OutputSnapshot, _ selection: RunSelection
  ) throws -> NightReport {
    do {
      return try NightReportBuilder(view, selection).report(
        program: Version.program, host: ProcessHome.hostName)
    } catch RunSelection.Problem.noSuchRun(let text) {
      throw CommandFailure(
        ExitStatus.usage,
        "no run '\(text)' here" + NearestName.suggestion(text, among: view.runs.map(\.id))
          + (view.runs.map(\.id).max().map { "; the last is \($0)" } ?? ""))
    } catch RunSelection.Problem.several(let ids) {
      throw CommandFailure(
        ExitStatus.usage,
        "it is the beginning of several runs:" + ids.prefix(20).map { "\n  \($0)" }.joined())
    }
  }

  /// The report itself, or without personal data if `isRedacted`.
  static func shown(_ report: NightReport, _ view: OutputSnapshot, _ isRedacted: Bool)
    -> NightReport
  {
    isRedacted ? view.redaction.applied(to: report) : report
  }

  /// Writes the pages. Errors of the captures' pages are in the result.
  static func writePages(
    _ report: NightReport, _ view: OutputSnapshot, isRedacted: Bool, keptNights: Int = 0,
    makesCapturePages: Bool = true
  ) throws -> PageWriter.Written {
    try PageWriter(root: view.root, redaction: isRedacted ? view.redaction : nil)
      .writeAll(report, keptNights: keptNights, makesCapturePages: makesCapturePages)
  }
}

/// The date syntax shared by all `--since` options.
enum DateArgument {
  /// Nanoseconds since 1970.
  static func nanoseconds(_ text: String) throws -> Int64 {
    guard let time = MomentText.nanoseconds(text, nowNanoseconds: FileStamp.nowNanoseconds()) else {
      throw ValidationError(
        "--since is a date such as 2026-11-20, 2026-11-20T22:00, or a duration back from now such as 24h, not '\(text)'"
      )
    }
    return time
  }
}
