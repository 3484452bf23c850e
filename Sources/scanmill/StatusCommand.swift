import ArgumentParser
import Captures
import Engine
import Cluster
import FoundationEssentials
import Pages
import Core
import SystemPackage
import Watch

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Captures, their states and stages: done, stale (why), failed, blocked, missing.",
    discussion: """
      Compares what is published with what was asked for: the stages and settings of each capture's last run, \
      and every stage with a published result; or with the pipeline that is named. Other stages are \
      not-requested and count nowhere. Changes no results, even while a run is in progress. A capture is \
      listed if it matches all filters.
      """)

  @Argument(
    help: "An output folder, or the folder of one capture in it.", completion: Completion.folder)
  var folder = "."

  @OptionGroup var comparison: ComparisonArguments

  @OptionGroup var filter: StatusFilterArguments

  @Option(
    help: ArgumentHelp(
      "Look at this folder of uploads as well, for captures that have not been processed yet.",
      valueName: "dir"), completion: Completion.folder)
  var staging: String?

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  @Flag(help: "Print one row per capture, separated by commas.")
  var csv = false

  @Flag(help: "Also show columns of stages that were not asked for.")
  var allStages = false

  @Flag(
    help:
      "End with 1 when something listed needs a person: failed, quarantined, or a stage that is not done."
  )
  var exitCode = false

  @Flag(help: "With --exit-code: also for captures with warnings or missing files.")
  var strict = false

  func validate() throws {
    if strict, !exitCode { throw ValidationError("--strict goes with --exit-code here") }
    if json, csv { throw ValidationError("--json or --csv, not both") }
  }

  func run() throws {
    let filter = try filter.filter()
    let reader = try OutputReader(comparison)
    let looked = try ReadOutput(folder, reader, mayBeEmpty: staging != nil)
    looked.tellDamagedRuns()
    var rows = looked.view.rows
    var unrecognized = looked.view.unrecognized
    if let staging {
      let found = try StagingLook(staging, for: looked.view)
      for note in found.notes { Console.error("note: \(note)") }
      rows = (rows + found.rows).sorted { $0.id < $1.id }
      let known = Set(unrecognized.map(\.path))
      unrecognized += found.unrecognized.filter { !known.contains($0.path) }
    }
    try self.filter.selection.checkIDs(among: rows.flatMap(\.callNames))
    var answer = StatusAnswer(
      looked.view, rows: rows.filter(filter.holds), unrecognized: unrecognized)
    answer.runs = ClusterRuns.active(in: looked.view.root).map { active in
      RunInProgress(
        run: active.run, elements: active.elements, ended: active.ended, running: active.running,
        waiting: active.waiting, longestWaitSeconds: active.longestWaitSeconds,
        reason: active.reason, abandoned: active.isAbandoned, line: active.line)
    }
    answer.showsAllStages = allStages
    answer.retired = looked.view.retired
    if json {
      Console.print(json: try answer.json())
    } else if csv {
      Console.print(piece: CaptureCSV.csv(answer.rows))
    } else {
      Console.print(answer.text)
    }
    if exitCode, answer.needsPerson(isStrict: strict) { throw Exit(code: ExitStatus.jobFailed) }
  }
}

/// The options that select captures for `status`.
struct StatusFilterArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only captures in this state (repeatable, or separated by commas).", valueName: "state"),
    completion: Completion.states)
  var state: [String] = []

  @OptionGroup var selection: SelectionArguments

  @Option(
    help: ArgumentHelp(
      "Only captures of a device whose name, model or id contains this.", valueName: "text"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Only captures that were worked on, or came into their state, since 2026-11-20, 2026-11-20T22:00 (local time), or 24h ago.",
      valueName: "date"))
  var since: String?

  @Option(
    help: ArgumentHelp("Only captures with this warning.", valueName: "code"),
    completion: Completion.warnings)
  var warning: String?

  @Option(
    help: ArgumentHelp(
      "Only captures with this verdict on their quality: good, usable, poor or unjudged (repeatable, or separated by commas).",
      valueName: "verdict"), completion: Completion.qualities)
  var quality: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only captures whose scene, device or id contains this, letters in any case.",
      valueName: "text"))
  var search: String?

  func validate() throws { _ = try filter() }

  func filter() throws -> StatusFilter {
    var filter = StatusFilter()
    filter.states = Set(
      try SelectionArguments.split(state).map { name in
        try SelectionArguments.known(
          name, CaptureState(rawValue: name), "state", CaptureState.allCases.map(\.rawValue))
      })
    filter.families = Set(selection.families.map(\.rawValue))
    filter.names = selection.names
    filter.warning = try warning.map { name in
      try SelectionArguments.known(
        name, WarningCode(rawValue: name), "warning", WarningCode.allCases.map(\.rawValue))
    }
    filter.qualities = Set(
      try SelectionArguments.split(quality).map { name in
        try SelectionArguments.known(
          name, CaptureQuality.Level(rawValue: name), "verdict",
          CaptureQuality.Level.allCases.map(\.rawValue))
      })
    filter.device = device
    filter.search = search
    filter.sinceNanoseconds = try since.map(DateArgument.nanoseconds)
    return filter
  }
}
