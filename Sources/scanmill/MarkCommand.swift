import ArgumentParser
import Benchmarking
import Core
import Engine
import FoundationEssentials
import SystemPackage

struct MarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Say that captures need nobody, are to be left alone, or are to leave the output.",
    usage: """
      scanmill mark done-as-is|ignore|retire <capture> ... [--note <text>] [--until changed|<date>]
      scanmill mark undo <capture> ...
      scanmill mark list [<output>]
      """,
    discussion: """
      done-as-is: the capture needs nobody as it is. ignore: it is not processed by `watch` and not tried again \
      either. retire: its results move to OUTPUT/.scanmill/retired (with --yes they are removed), and it is \
      built again only when its files change or `run` names it. undo takes marks back; results that were moved away \
      move back. list shows the marks of an output.

      A capture is OUTPUT/ID, or the beginning of an ID; with --output, an ID or the place of the capture. \
      With --id or --from the captures are chosen in the output folder that is named. Who marked it, when and \
      why is shown by `status` and on the pages. A capture that a run holds is refused (75).
      """)

  enum Action: String, CaseIterable, ExpressibleByArgument {
    case doneAsIs = "done-as-is"
    case ignore, retire, undo, list
  }

  @Argument(help: "What is to be done.")
  var action: Action

  @Argument(
    help: ArgumentHelp("Captures; with list, an output folder.", valueName: "capture"),
    completion: Completion.captures)
  var captures: [String] = []

  @Option(help: ArgumentHelp("Why, for others.", valueName: "text"))
  var note: String?

  @Option(
    help: ArgumentHelp(
      "How long it counts: until the files of the capture change, or until 2026-11-30, 2026-11-30T08:00 (local time), or for 7d.",
      valueName: "changed|date"))
  var until = MarkRecord.untilChanged

  @Option(
    help: ArgumentHelp(
      "Captures whose id begins with this or matches this glob (repeatable); '*': all.",
      valueName: "prefix|glob"))
  var id: [String] = []

  @Option(
    help: ArgumentHelp(
      "Captures whose ids stand in this file, one on a line; '-': standard input.",
      valueName: "file"), completion: CompletionKind.file())
  var from: String?

  @Option(
    name: [.customShort("o"), .long], help: "Where results go.", completion: Completion.folder)
  var output: String?

  @Flag(help: "With retire: remove the results.")
  var yes = false

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  /// The mark that is made; `nil` with undo and list.
  private var kind: MarkRecord.Kind? { MarkRecord.Kind(rawValue: action.rawValue) }

  func validate() throws {
    if kind == nil, note != nil || yes || until != MarkRecord.untilChanged {
      throw ValidationError("--note, --until and --yes do not go with \(action.rawValue)")
    }
    if yes, kind != .retire { throw ValidationError("--yes goes with retire") }
    if action == .list {
      guard captures.count + (output == nil ? 0 : 1) <= 1, id.isEmpty, from == nil else {
        throw ValidationError("list shows the marks of one output folder, and takes no captures")
      }
    } else if captures.isEmpty, output == nil || (id.isEmpty && from == nil) {
      throw ValidationError("name a capture, or an output folder with --id or --from")
    }
    if id.contains("") {
      throw ValidationError("--id is the beginning of an id or a pattern, not an empty string")
    }
    for pattern in id {
      if let problem = GlobCheck.problem(of: pattern) {
        throw ValidationError("--id '\(pattern)': \(problem)")
      }
    }
    _ = try untilText(FileStamp.nowNanoseconds())
  }

  /// `changed`, or a time in UTC.
  private func untilText(_ now: Int64) throws -> String {
    if until == MarkRecord.untilChanged { return until }
    let ahead = MomentText.durationNanoseconds(until).map { now.addingReportingOverflow($0) }
    let end =
      ahead.map { $0.overflow ? Int64.max : $0.partialValue }
      ?? MomentText.nanoseconds(until, nowNanoseconds: now)
    guard let end else {
      throw ValidationError(
        "--until is 'changed', a date such as 2026-11-30 or 2026-11-30T08:00, or a duration such as 7d, not '\(until)'"
      )
    }
    guard end > now else { throw ValidationError("--until \(until): that is in the past") }
    return UTCText.text(nanoseconds: end)
  }

  func run() throws {
    guard action != .list else { return try list() }
    let found = try MarkFinder(captures, ids: id, from: from, output: output)
    guard let root = found.root else { return }
    let marking = Marking(
      ofOutput: root, holder: "scanmill mark (process \(ProcessInfo.processInfo.processIdentifier))"
    )
    let now = FileStamp.nowNanoseconds()
    let (until, by, at) = (
      try untilText(now), AccessRefusal.ownName, UTCText.text(nanoseconds: now)
    )
    var outcomes: [Marking.Outcome]
    do throws(FileError) {
      if let kind {
        outcomes = try marking.mark(found.subjects, removesResults: yes) { subject in
          MarkRecord(
            kind, note: note, until: until, by: by, at: at, id: subject.id, folder: subject.folder,
            stem: subject.stem)
        }
      } else {
        outcomes = try marking.undo(found.subjects)
      }
    } catch {
      throw CommandFailure(ExitStatus.cannotWrite, error.description)
    }
    // A pattern means the marked ones among those that match it.
    if !id.isEmpty, outcomes.contains(where: { $0.kind == .undone }) {
      outcomes.removeAll { $0.kind == .unmarked }
    }
    for unknown in found.unknown { Console.error("error: \(unknown)") }
    if json {
      try Self.print(
        json: outcomes.map { outcome in
          let mark = outcome.kind == .marked ? outcome.record.map { CaptureMark($0) } : nil
          return Self.row(outcome.subject, outcome.kind, mark, outcome.message)
        })
    } else {
      for outcome in outcomes { Console.print(Self.line(outcome)) }
    }
    let kinds = Set(outcomes.map(\.kind))
    if kinds.contains(.failed) { throw Exit(code: ExitStatus.cannotWrite) }
    if kinds.contains(.locked) { throw Exit(code: ExitStatus.locked) }
    if kinds.contains(.unmarked) || !found.unknown.isEmpty {
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  private func list() throws {
    let folder = captures.first ?? output ?? "."
    let rows = try MarkFinder.marks(in: folder)
    // "No marks" is a statement about an output, so the folder must be one.
    if rows.isEmpty { _ = try OutputFinder.catalog(folder) }
    if json {
      try Self.print(json: rows.map { subject, mark in Self.row(subject, .marked, mark) })
    } else {
      for (subject, mark) in rows { Console.print("\(subject.id): \(mark.words)") }
      if rows.isEmpty { Console.print("no capture is marked") }
    }
  }

  private static func line(_ outcome: Marking.Outcome) -> String {
    let id = outcome.subject.id
    let more = outcome.message.map { "; \($0)" } ?? ""
    switch outcome.kind {
    case .marked:
      return "\(id): \(outcome.record.map { CaptureMark($0).words } ?? "marked")\(more)"
    case .undone: return "\(id): no longer marked\(more)"
    case .unmarked: return "\(id): has no mark"
    case .locked, .failed: return "\(id): not marked\(more)"
    }
  }

  private static func print(json rows: [JSONObject]) throws {
    let document: JSONObject = ["schema": 1, "captures": rows.map(\.withoutNulls)]
    Console.print(json: try JSONText.pretty(document))
  }

  private static func row(
    _ subject: Marking.Subject, _ outcome: Marking.Outcome.Kind, _ mark: CaptureMark?,
    _ message: String? = nil
  ) -> JSONObject {
    [
      "id": subject.id, "path": subject.folder.map(PathText.shown), "outcome": outcome.rawValue,
      "mark": mark, "message": message,
    ]
  }
}

/// The context in `run.json`: program, machine, user and command line.
enum RunRecording {
  /// - Parameters:
  ///   - given: the pipeline as the user named it.
  ///   - source: the pipeline that this name refers to.
  static func context(_ given: String, _ source: PipelineSource) -> RunContext {
    let machine = MachineDescription.current()
    let isBuiltIn = PipelineFinder.builtIn.contains(given)
    return RunContext(
      program: Version.program,
      host: RunContext.Host(
        name: ProcessHome.hostName, os: machine.system, cpu: machine.processor,
        cores: machine.cores, memoryBytes: machine.memoryBytes),
      user: AccessRefusal.ownName, commandLine: commandLine(ProgramStart.arguments, source),
      pipeline: given,
      path: isBuiltIn ? nil : (try? FileSystem.absolute(FilePath(given)))?.string,
      text: source.text)
  }

  /// The given words, without values of secrets after `--set`.
  static func commandLine(_ words: [String], _ source: PipelineSource) -> [String] {
    var result: [String] = []
    for word in words {
      let isValue = result.last == "--set"
      let text = isValue ? word : word.hasPrefix("--set=") ? String(word.dropFirst(6)) : nil
      guard let text, let setting = ParameterSetting(text),
        source.isSecret(setting, Toolbox.stages)
      else {
        result.append(word)
        continue
      }
      let hidden =
        "\(setting.stage).\(setting.parameter)=\(SecretText.omitted(setting.value))"
      result.append((isValue ? "" : "--set=") + hidden)
    }
    return result
  }
}
