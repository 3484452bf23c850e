import ArgumentParser
import Benchmarking
import Captures
import Core
import Engine
import Pages
import SystemPackage
import Glibc

/// The root command.
struct Scanmill: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill",
    abstract: "Batch post-processing of captures made by iOS scanner and logger apps.",
    discussion: """
      Reads \(families) captures; writes color, depth, \
      aligned depth, IMU matches and tables. Results go to standard output, logs and progress to \
      standard error.
      """,
    // The page asks every library, which takes milliseconds.
    version: ProgramStart.arguments.contains(Version.flag) ? Version.page : Version.text,
    subcommands: [
      RunCommand.self, WatchCommand.self, ReceiveCommand.self, InspectCommand.self,
      ViewCommand.self, StatusCommand.self,
      ExplainCommand.self, ReportCommand.self, ListCommand.self, GraphCommand.self,
      SendCommand.self, PackCommand.self, MarkCommand.self, CleanCommand.self, BenchCommand.self,
      SynthesizeCommand.self,
      WorkerCommand.self,
      InspectionCommand.self, FloorCommand.self, ElementCommand.self, ConcludeCommand.self,
      GenerateManualCommand.self,
    ])

  /// `ScanNet, MultiScan and Strabo`.
  private static var families: String {
    let titles = Toolbox.captures.readers.map { $0.description.title }
    return titles.dropLast().joined(separator: ", ") + " and " + (titles.last ?? "")
  }

  /// Uses the same prefix for the argument parser's errors as for others.
  static var _errorPrefix: String { "error: " }

  /// All verbs, including hidden ones.
  static var verbs: [(name: String, isShown: Bool)] {
    configuration.subcommands.map {
      ($0.configuration.commandName ?? "", $0.configuration.shouldDisplay)
    }
  }
}

@main
enum Main {
  static func main() {
    let arguments = Array(ProgramStart.arguments.dropFirst())
    Console.prepare()
    var verb: (any ParsableCommand)?
    do {
      if let shortage = ProcessLimits.shortage {
        throw CommandFailure(ExitStatus.jobFailed, shortage)
      }
      if arguments == [Version.flag] {
        Console.print(Version.page)
        ErrorText.exit(ExitStatus.success)
      }
      if try WorkerCommand.runIfMeant(arguments) { ErrorText.exit(ExitStatus.success) }
      if try InspectionCommand.runIfMeant(arguments) { ErrorText.exit(ExitStatus.success) }
      try VerbCheck.check(arguments)
      var command = try Self.command(arguments)
      verb = command
      do {
        try command.run()
      } catch let error as ValidationError {
        // Errors found during the run: the argument parser no longer knows the verb.
        throw CommandFailure(
          ExitStatus.usage,
          error.message + VerbCheck.seeHelp(of: command))
      }
      ErrorText.exit(ExitStatus.success)
    } catch {
      ErrorText.exit(with: error, of: verb)
    }
  }

  /// Lets the verb parse its own arguments: the root command would go through all options of the verb once more. What
  /// the verb refuses, and requests for help, are left to the root command, whose messages name the program.
  private static func command(_ arguments: [String]) throws -> any ParsableCommand {
    let verb = Scanmill.configuration.subcommands.first {
      $0.configuration.commandName == arguments.first
    }
    // A request for help is parsed to a command of another type.
    if let command = try? verb?.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == verb
    {
      return command
    }
    return try Scanmill.parseAsRoot(arguments)
  }
}

/// Starts the program that sends captures, which is installed beside this one.
struct SendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: SendArguments.abstract, discussion: SendArguments.discussion)

  @OptionGroup var arguments: SendArguments

  func run() throws { try ProgramBeside.become("send") }
}

/// Starts the program that receives uploads, which is installed beside this one.
struct ReceiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: ReceiveArguments.abstract,
    discussion: ReceiveArguments.discussion)

  @OptionGroup var arguments: ReceiveArguments

  func run() throws { try ProgramBeside.become("receive") }
}

/// Starts the program that makes captures with known truth, which is installed beside this one.
struct SynthesizeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "synthesize", abstract: SynthesizeArguments.abstract,
    discussion: SynthesizeArguments.discussion)

  @OptionGroup var arguments: SynthesizeArguments

  func run() throws { try ProgramBeside.become("synthesize") }
}

/// The programs behind verbs that are installed beside this one.
enum ProgramBeside {
  /// Puts `scanmill-VERB` in the place of this process, with everything behind the verb, byte for byte; returns only by
  /// an error.
  static func become(_ verb: String) throws {
    let name = "scanmill-\(verb)"
    let own = try ProgramPath.own(", beside which \(name) is")
    let program = own.removingLastComponent().appending(name)
    guard FileSystem.exists(program) else {
      throw CommandFailure(
        ExitStatus.notInstalled,
        "\(name) is not installed beside scanmill (\(program.shown)); install the package anew, or build it with"
          + " `swift build -c release --product \(name)`")
    }
    let words = ["scanmill \(verb)"] + ProgramStart.arguments.drop { $0 != verb }.dropFirst()
    var pointers = words.map { word in PathText.withCString(word) { strdup($0) } } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    _ = program.withPlatformString { execv($0, &pointers) }
    throw FileError(Errno(rawValue: errno), path: program, operation: "start")
  }
}

struct GraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "A pipeline as a drawing.")

  @Argument(help: "A pipeline by name, or a pipeline file.", completion: Completion.pipeline)
  var pipeline = "default"

  @Option(help: "dot, mermaid or text.")
  var format = GraphText.Format.text

  @Option(
    help: ArgumentHelp(
      "Draw it with this value of one parameter (repeatable): color.pick adds a connection.",
      valueName: "stage.param=value"),
    completion: Completion.setting)
  var set: [String] = []

  func validate() throws {
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError(SettingHint.message(text, pipeline: pipeline))
    }
  }

  func run() throws {
    let source = try PipelineFinder.source(pipeline, settings: set)
    let definition = try source.definition(Toolbox.stages)
    Console.print(GraphText.text(definition.withFollowedConnections(), as: format))
  }
}

extension GraphText.Format: ExpressibleByArgument {}

/// Checks the command line for errors that the argument parser does not detect or explain.
enum VerbCheck {
  /// Throws if there is no verb, the verb is unknown, or the output is given more than once.
  static func check(_ arguments: [String]) throws {
    guard let first = arguments.first else {
      Console.error(HelpText.completed(Scanmill.helpMessage()))
      throw Exit(code: ExitStatus.usage)
    }
    // `help VERB` asks for a verb as well.
    let words = first == "help" ? arguments.dropFirst() : arguments[...]
    let verb = words.first ?? first
    if let problem = Self.problem(verb, words.dropFirst()) {
      throw CommandFailure(ExitStatus.usage, problem)
    }
    if !verb.hasPrefix("-"), verb != "help", !Scanmill.verbs.contains(where: { $0.name == verb }) {
      let known = Scanmill.verbs.filter(\.isShown).map(\.name)
      throw CommandFailure(
        ExitStatus.usage,
        "no verb '\(verb)'" + NearestName.suggestion(verb, among: known) + "; verbs: "
          + known.joined(separator: ", ") + "\n  See 'scanmill --help'.")
    }
    let outputs = values(of: ["-o", "--output"], in: arguments)
    if outputs.count > 1 {
      throw CommandFailure(
        ExitStatus.usage,
        "--output is given \(outputs.count) times (\(outputs.joined(separator: ", "))): "
          + "name one folder")
    }
  }

  /// A line that refers to the help of a verb.
  static func seeHelp(of command: any ParsableCommand) -> String {
    "\n  See 'scanmill \(type(of: command).configuration.commandName ?? "") --help'."
  }

  /// The values of all occurrences of an option, up to `--`.
  private static func values(of names: [String], in arguments: [String]) -> [String] {
    var found: [String] = []
    for (index, word) in arguments.enumerated() {
      if word == "--" { break }
      if names.contains(word), index + 1 < arguments.count { found.append(arguments[index + 1]) }
      if word.hasPrefix("--output=") { found.append(String(word.dropFirst("--output=".count))) }
    }
    return found
  }

  /// Verbs of earlier versions, which people look for, with what does the same now.
  private static let verbs = [
    "params": "scanmill list parameters", "stages": "scanmill list stages",
    "families": "scanmill list families",
    "index": "scanmill status --csv, which every database imports",
  ]

  private static let options: [String: [String: String]] = [
    "run": [
      "--from": "use --only or --until with the stages, or -R to make them again",
      "-k": "every run goes on with other captures (--fail-fast ends it)",
      "--keep-going": "every run goes on with other captures (--fail-fast ends it)",
    ],
    "status": [
      "--strict": "use --exit-code alone",
      "--all-stages": "use --all",
    ],
    "mark": [
      "--undo": "use scanmill mark undo CAPTURE", "--list": "use scanmill mark list OUTPUT",
    ],
    "bench": Dictionary(
      uniqueKeysWithValues: ["synthesize", "frames", "seed", "noise", "exposure", "quality"].map {
        ("--\($0)", "use scanmill synthesize to make a capture, then scanmill bench CAPTURE")
      }),
  ]

  /// What to use in place of the verb, or of one of its options; `nil` if all are of this version.
  static func problem(_ verb: String, _ words: ArraySlice<String>) -> String? {
    if let now = verbs[verb] { return "the verb '\(verb)' is gone: use \(now)" }
    if verb == "mark", let first = words.first, !first.hasPrefix("-"),
      MarkCommand.Action(rawValue: first) == nil,
      let action = words.dropFirst().lazy.compactMap(MarkCommand.Action.init).first
    {
      return "what is to be done stands first now: use scanmill mark \(action.rawValue) CAPTURE"
    }
    guard let options = options[verb] else { return nil }
    for word in words.prefix(while: { $0 != "--" }) {
      let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : word
      if let now = options[name] { return "\(name) is gone: \(now)" }
    }
    return nil
  }
}

/// Writes the manual pages of the program and its verbs. Called by `make install`; not meant for
/// users.
struct GenerateManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate-manual",
    abstract: "Write the manual pages of the program and of each verb.",
    discussion: "They bear the date of SOURCE_DATE_EPOCH, else of today.", shouldDisplay: false)

  @Argument(help: "A folder that exists.")
  var folder: String

  func run() throws {
    let root = try ToolDescription.ofThisProgram().command
    let date = Self.date
    let pages =
      [ManualPage(verb: root, program: nil, date: date)]
      + root.shownVerbs.map {
        ManualPage(verb: $0, program: root.commandName, date: date)
      }
    for page in pages {
      let file = FilePath(text: folder).appending(page.fileName)
      try OutputFile.write(Array(page.text.utf8), to: file)
      Console.print(file.shown)
    }
  }

  /// Formatted as `November 22, 2026`, in UTC so that builds are reproducible.
  private static var date: String {
    let given = getenv("SOURCE_DATE_EPOCH").map { String(cString: $0) }.flatMap { Int($0) }
    var moment = time_t(given ?? time(nil))
    var parts = tm()
    guard gmtime_r(&moment, &parts) != nil else { return "January 1, 1970" }
    let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September",
      "October", "November", "December",
    ]
    let month = months.indices.contains(Int(parts.tm_mon)) ? months[Int(parts.tm_mon)] : months[0]
    return "\(month) \(parts.tm_mday), \(1900 + Int(parts.tm_year))"
  }
}

/// Measures one part of the floor in a separate process, so that the kernel's resource usage is for
/// that part alone. Called by `bench --floor`, and useful only to similar scripts.
struct FloorCommand: ParsableCommand {
  static let name = "floor"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Measure one part of the least that can be done.",
    discussion: """
      decode CAPTURE, convert CAPTURE, depth CAPTURE, confidence CAPTURE, copy FOLDER NEW-FOLDER: prints \
      what it took as a JSON object. touch BYTES: uses that much memory once.
      """,
    shouldDisplay: false)

  @Argument var part: String
  @Argument var subjects: [String]

  func validate() throws {
    guard subjects.count == (part == FloorPart.copy.rawValue ? 2 : 1) else {
      throw ValidationError("floor \(part) takes another number of words")
    }
    guard part == Self.touch ? Int64(subjects[0]) != nil : FloorPart(rawValue: part) != nil else {
      throw ValidationError("floor measures no '\(part) \(subjects[0])'")
    }
  }

  private static let touch = "touch"

  func run() throws {
    do {
      switch FloorPart(rawValue: part) {
      case nil: _ = HostMemory.touch(upTo: Int64(subjects[0]) ?? 0)
      case .copy:
        try tell(FloorCopy.measure(FilePath(text: subjects[0]), to: FilePath(text: subjects[1])))
      case let part?: try tell(FloorWork.measure(part, of: try capture(subjects[0])))
      }
    } catch let error as BenchmarkError {
      throw CommandFailure(ExitStatus.jobFailed, error.description)
    }
  }

  private func tell(_ sample: FloorSample) throws {
    Console.print(json: try JSONText.pretty(sample))
  }

  private func capture(_ path: String) throws -> Capture {
    let finding = CaptureFinder(Toolbox.captures).find(FilePath(text: path))
    guard let recognition = finding.captures.first else {
      throw CommandFailure(ExitStatus.noCapture, finding.declined ?? "no capture")
    }
    return try Toolbox.captures.open(recognition)
  }
}
