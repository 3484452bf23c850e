import ArgumentParser
import Captures
import Core
import Engine
import FoundationEssentials
import Pages
import SystemPackage
import Watch

struct StatusCommand: ListingVerb {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "How captures stand: totals, then those that are not simply done, and why.",
    discussion: """
      Compares what is published with all that runs have asked for and `clean` has not taken back, and with the \
      pipeline that is named, as `run` with it would add it. Other stages are not-requested and count nowhere. \
      Changes no results, even while a run is in progress. A capture is listed if it matches all filters.
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

  @Flag(help: "All captures with the states of their stages, and all that there is to say.")
  var all = false

  @Flag(help: "End with 1 when a capture needs you.")
  var exitCode = false

  func validate() throws {
    if json, csv { throw ValidationError("--json or --csv, not both") }
  }

  func run() throws {
    let filter = try filter.filter()
    let reader = try OutputReader(comparison, of: FilePath(text: folder))
    // A look at STAGING leaves out what the output has.
    let chosen = staging == nil && filter.leavesOut ? filter : nil
    var looked = try ReadOutput(
      folder, reader, mayBeEmpty: staging != nil, filter: chosen)
    // Words about names that nothing has are chosen among all names.
    if looked.view.rows.isEmpty, chosen != nil,
      looked.view.leftOut == 0 || filter.names != NameChoice()
    {
      looked = try ReadOutput(folder, reader, mayBeEmpty: staging != nil)
    }
    try looked.tellOddRuns()
    var rows = looked.view.rows
    var unrecognized = looked.view.unrecognized
    if let staging {
      let found = try StagingLook(staging, for: looked.view)
      for note in found.notes { Console.error("note: \(note)") }
      rows = (rows + found.rows).inOrder
      let known = Set(unrecognized.map(\.path))
      unrecognized += found.unrecognized.filter { !known.contains($0.path) }
    }
    try self.filter.selection.checkIDs(among: rows.flatMap(\.callNames))
    self.filter.selection.tellIdleExclusions(among: rows.flatMap(\.matchNames))
    if filter != StatusFilter(), !rows.allSatisfy(filter.holds) { rows = rows.filter(filter.holds) }
    if !filter.states.isEmpty, !filter.states.contains(.unrecognized) { unrecognized = [] }
    var answer = StatusAnswer(looked.view, rows: rows, unrecognized: unrecognized)
    answer.runs = try ClusterRuns.active(in: looked.view.root)
    answer.retired = looked.view.retired
    if json {
      Console.print(json: try answer.json())
    } else if csv {
      Console.print(piece: CaptureCSV.csv(answer.rows, ofReport: false))
    } else {
      Console.print(answer.text(columns: Console.outputColumns, all: all))
    }
    if exitCode, answer.needsPerson { throw Exit(code: ExitStatus.jobFailed) }
  }

  func empty(_ reason: String) -> EmptyAnswer? { json ? .status(reason) : nil }
}

/// The options that select captures for `status`.
struct StatusFilterArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only captures in this state (repeatable, or separated by commas).", valueName: "state"),
    completion: Completion.states)
  var state: [String] = []

  @Flag(help: "Only captures that need you.")
  var needsPerson = false

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
    filter.needsPerson = needsPerson
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

/// Captures in a staging folder that have not been processed yet. One look sees no changes: an upload in progress is
/// told by what an upload server has on its way and by the temporary files of transfers only. Other captures are
/// `queued` if they are complete, else `incomplete`.
struct StagingLook {
  private(set) var rows: [CaptureRow] = []
  private(set) var unrecognized: [RunReport.Unrecognized] = []
  /// What is odd about the notes of upload servers, one line each.
  private(set) var notes: [String] = []

  init(_ staging: String, for view: OutputSnapshot) throws {
    let path = FilePath(text: staging)
    guard try FileSystem.hasFolder(at: path) else {
      throw CommandFailure(ExitStatus.noCapture, "\(staging): no such folder")
    }
    let root = view.root
    let finding = CaptureFinder(
      Toolbox.captures,
      isLeftOut: { folder in folder == root || folder.starts(with: root) }
    ).find(path)
    let marks = MarkBook(ofOutput: root)
    // Rows already tell of folders that a watcher takes for captures that arrive or wait.
    let waiting = Set(view.rows.compactMap(\.path))
    unrecognized = finding.unrecognized.filter { folder in
      !waiting.contains(folder.path.shown)
        && marks.mark(of: nil, at: CaptureLocation(folder.path))?.isCurrent != true
    }.map {
      RunReport.Unrecognized(path: $0.path.shown, holds: $0.holds.map(PathText.shown))
    }
    let known = Set(view.rows.map(\.id))
    let copies = ConflictCopies.among(finding.captures)
    unrecognized += copies.map {
      RunReport.Unrecognized(path: $0.place.shown, holds: [$0.reason])
    }
    let copied = Set(copies.map(\.location))
    let captures = finding.captures.filter { !copied.contains(CaptureLocation($0)) }
    let evidence = try UploadEvidence.of(captures)
    notes = captures.compactMap { evidence[CaptureLocation($0)]?.problem }
    for capture in captures {
      guard let version = evidence[CaptureLocation(capture)]?.conflict else { continue }
      unrecognized.append(
        RunReport.Unrecognized(
          path: capture.folder.appending(version).shown,
          holds: [ConflictCopies.reason(fileOf: capture.id)]))
    }
    let targets = Ownership(root: root).resolve(captures)
      .filter { !known.contains($0.layout.name) }
    let client = try InspectionCommand.client(atOnce: MachineLimits.cores)
    let retired = Set(view.retired.map(\.id))
    rows = try concurrentMap(count: targets.count) { index -> CaptureRow? in
      let target = targets[index]
      let mark = marks.mark(of: target.layout, at: CaptureLocation(target.recognition))
      if mark?.isRetired == true, retired.contains(target.layout.name) { return nil }
      let upload = evidence[CaptureLocation(target.recognition)] ?? UploadEvidence()
      var missing: [String] = []
      if !upload.isComplete, !upload.isArriving {
        // If a capture cannot be opened, no files are known to be missing; its run reports the error.
        missing = (try? client.look(at: target.recognition))?.summary.missingFiles ?? []
        missing += upload.waitsFor.filter { !missing.contains($0) }
      }
      var waiting = WatchRecord.Waiting(
        id: target.layout.name, family: target.recognition.family.rawValue,
        path: target.recognition.path.text,
        state: upload.isArriving ? .arriving : missing.isEmpty ? .queued : .incomplete,
        since: "", missing: missing)
      waiting.twinOf = upload.twinOf
      return CaptureRow(waiting: waiting, mark: mark)
    }.compactMap(\.self)
    rows += finding.unreadable.map(Self.hidden)
  }

  /// What could not be looked at: a capture may be hidden behind it.
  private static func hidden(_ place: UnreadablePlace) -> CaptureRow {
    var waiting = WatchRecord.Waiting(
      id: place.path.shownName, family: "", path: place.path.text, state: .failed, since: "")
    waiting.failure = FailureClassifier.failure(place.error, .input)
    return CaptureRow(waiting: waiting)
  }
}

/// The current state of an output folder that a user named, or of one capture in it.
struct ReadOutput {
  var view: OutputSnapshot
  /// The named capture; `nil` for all.
  var capture: String?

  /// Throws with exit code 65 if the folder is not an output, and with 64 if it abbreviates several
  /// names.
  ///
  /// - Parameters:
  ///   - reader: reads the output.
  ///   - mayBeEmpty: whether an output without captures is accepted.
  ///   - filter: which captures are looked at; there may be none.
  init(
    _ folder: String, _ reader: OutputReader, mayBeEmpty: Bool = false,
    filter: StatusFilter? = nil
  ) throws {
    let path = FilePath(text: folder)
    guard let (root, name) = try Self.place(path) else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(folder): no such folder; name the folder that --output named")
    }
    capture = name
    view = try reader.view(
      of: root, capture: name, filter: name == nil ? filter : nil)
    if let name { view.rows.removeAll { $0.id != name } }
    guard view.rows.isEmpty, view.runs.isEmpty, view.retired.isEmpty, view.watch == nil,
      !mayBeEmpty,
      filter == nil
    else { return }
    throw CommandFailure(
      ExitStatus.noCapture,
      "\(folder): no results of any capture here (name the folder that --output named)")
  }

  /// Names every `run.json` that cannot be understood, and runs that a wrong clock dates in the future, on standard
  /// error.
  func tellOddRuns() throws(FileError) {
    let damaged = DamagedRun.notes(try DamagedRun.all(in: view.root, known: view.runs))
    for note in damaged + (view.futureRuns.map { [$0] } ?? []) {
      Console.error("note: \(note)")
    }
  }

  /// The output folder with links resolved, and the name of the capture's folder in it, if one was
  /// named.
  private static func place(_ path: FilePath) throws -> (root: FilePath, id: String?)? {
    guard try FileSystem.hasFolder(at: path) else {
      return try OutputFinder.abbreviated(path, orWaiting: true).map { ($0.root, $0.id) }
    }
    let folder = OutputCatalog(root: path, layouts: []).resolvedRoot
    guard let layout = OutputLayout.candidate(folder), !isWholeOutput(folder) else {
      return (folder, nil)
    }
    return OutputCatalog.isOutput(layout) ? (layout.root, layout.name) : (folder, nil)
  }

  private static func isWholeOutput(_ folder: FilePath) -> Bool {
    let signs = [
      OutputNames.runs, "\(OutputNames.notes)/\(OutputNames.watch)",
      "\(OutputNames.notes)/\(OutputNames.watchLock)",
      "\(OutputNames.notes)/\(OutputNames.aliases)",
    ]
    return signs.contains { FileSystem.exists(folder.appending($0)) }
  }
}

extension OutputReader {
  /// A reader with the settings of this program.
  ///
  /// - Parameter comparison: what results are compared with. The catalog is used only if this is each capture's own
  ///   request.
  init(_ comparison: ComparisonArguments, of output: FilePath) throws {
    self.init(
      try comparison.examiner(of: output),
      signature: comparison.isNone ? Self.programSignature : nil)
  }

  /// A reader that compares with each capture's own request.
  init() throws {
    self.init(
      try ComparisonArguments.examiner(comparing: nil), signature: Self.programSignature)
  }

  /// Identifies this build and its libraries, because another build may interpret the same files
  /// differently.
  static var programSignature: String {
    let program = Version.program
    let libraries = program.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let file = ProgramPath.ofThisProgram.flatMap { FileStamp(of: $0) }
    let stamp = file.map { "\($0.bytes) \($0.modifiedNanoseconds)" } ?? ""
    return ([program.version, program.commit ?? "", stamp] + libraries).joined(separator: "\n")
  }
}
