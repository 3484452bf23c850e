import Captures
import Core
import Engine
import Glibc
import SystemPackage

/// Runs an external program as a stage: its output is published, fingerprinted and logged like that
/// of other stages.
enum ExternalCommand: Stage {
  static let name = "command"
  static let version = 1
  static let sentence =
    "Runs an external program without a shell; what it writes into {output} is published."
  static let ports: [Port] = []
  static let takesAnyArtifact = true
  static let parameters = ParameterDescription.list(
    command, files, programVersion, environment, requires)

  private static let command = Parameter(
    "command", .list,
    "The program and its arguments; {output}, {capture}, {input:NAME}, {id} and {cores} are replaced."
  )
  private static let files = Parameter(
    "files", .list, "Scripts and other files whose content matters: a change runs the stage again.")
  private static let programVersion = Parameter(
    "programVersion", .text,
    "Any text that identifies the program's version: another text runs the stage again.")
  private static let environment = Parameter(
    "environment", .list,
    "NAME=VALUE, in addition to the variables that scanmill runs with. Records show a digest of the value."
  ).secret()
  private static let requires = Parameter(
    "requires", .list,
    "What the capture must have, such as depth and poses; without one of them the stage is not possible."
  ).added()

  static let content = ArtifactContent.files

  static let reads: Set<CapturePart> = []

  /// All parts, if the program gets the capture's folder.
  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    // The files of a second camera are among those of the folder.
    readsFolder(parameters) ? Set(CapturePart.allCases).subtracting([.secondColor]) : []
  }

  static func readsFolder(_ parameters: ParameterValues) -> Bool {
    texts(parameters).contains { $0.pieces.contains(.capture) }
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    Dictionary((parameters[files] ?? []).map { ($0, FilePath(text: $0)) }) { first, _ in first }
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    for part in (parameters[requires] ?? []).compactMap(CapturePart.init) {
      switch capture.state(of: part) {
      case .present where part == .poses && capture.exports.poses == 0:
        return .notApplicable("no poses: no frame was tracked")
      case .present: continue
      case .absent(let why): return .notApplicable("no \(part.rawValue): \(why)")
      case .unreadable(let why): return .unreadable(why)
      }
    }
    return .applies
  }

  static func problems(_ stage: StageDefinition) -> [StageProblem] {
    let command = stage.parameters[command] ?? []
    guard let program = command.first, !program.isEmpty else {
      return [
        StageProblem("stage '\(stage.name)' has no 'command': [program, argument, …]")
      ]
    }
    var problems: [StageProblem] = []
    if command.count == 1, program.contains(" ") {
      problems.append(
        StageProblem(
          parameter: Self.command.name,
          "'\(program)' is one argument; no shell splits it: write [program, argument, …]"))
    }
    for text in command {
      do throws(StageFailure) {
        for case .input(let name) in try CommandText(text).pieces
        where !stage.inputs.contains(where: { $0.port == name }) {
          problems.append(
            StageProblem(
              parameter: Self.command.name,
              "'\(text)': no input '\(name)'"
                + NearestName.suggestion(name, among: stage.inputs.map(\.port))))
        }
      } catch {
        problems.append(StageProblem(parameter: Self.command.name, "\(error)"))
      }
    }
    let parts = CapturePart.allCases.map(\.rawValue)
    for name in stage.parameters[requires] ?? [] where !parts.contains(name) {
      problems.append(
        StageProblem(
          parameter: requires.name,
          "a capture has no '\(name)'\(NearestName.suggestion(name, among: parts))"))
    }
    for text in stage.parameters[environment] ?? [] where !text.dropFirst().contains("=") {
      problems.append(
        StageProblem(parameter: environment.name, "'\(text)' is not NAME=VALUE"))
    }
    return problems
  }

  /// Checks `files`, whose content is part of the fingerprint.
  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    (parameters[files] ?? []).compactMap { StageProblem.ofFile($0, parameter: files.name) }
  }

  static func run(_ context: StageContext) throws -> StageResult {
    let arguments = try texts(context.parameters).map { text in
      try text.pieces.map { try replacement(of: $0, context) }.joined()
    }
    guard let program = arguments.first else { throw StageFailure("there is no command") }
    var order = ProcessOrder(program, Array(arguments.dropFirst()))
    order.environment = environment(context.parameters)
    order.dataLimitBytes = context.memoryBytes
    let end = try context.budget.withCore { try run(order, context) }
    guard end.isSuccess else {
      let lines = lastLines(of: order, in: context.log.path)
      throw StageFailure(
        "\(program) \(end.phrase)"
          + (lines.isEmpty ? "" : "; its last lines:\n" + lines.joined(separator: "\n")),
        // sysexits.h: the program requests to be run again later.
        isTemporary: end.way == .exited(75), detail: FailureDetail(end.way))
    }
    try adoptFiles(in: context.staging)
    var result = StageResult(frames: 0)
    result.externalCPUSeconds = end.cpuSeconds
    result.externalPeakMemoryBytes = end.peakMemoryBytes
    return result
  }

  private static func texts(_ parameters: ParameterValues) -> [CommandText] {
    (parameters[command] ?? []).compactMap { try? CommandText($0) }
  }

  private static func replacement(
    of piece: CommandText.Piece, _ context: StageContext
  ) throws -> String {
    switch piece {
    case .text(let text): return text
    case .output: return try FileSystem.absolute(context.staging.path).text
    case .capture: return try FileSystem.absolute(context.capture.path).text
    case .id: return context.capture.id
    case .cores: return "\(context.budget.cores)"
    case .input(let name):
      guard let input = context.inputs[name] else {
        throw StageFailure("its input '\(name)' is not there")
      }
      return try FileSystem.absolute(input.folder).text
    }
  }

  private static func environment(_ parameters: ParameterValues) -> [String: String] {
    var all = ProcessOrder.foreignEnvironment
    for text in parameters[environment] ?? [] {
      guard let equals = text.firstIndex(of: "=") else { continue }
      all[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    return all
  }

  /// Adds every file that the program left to the artifact.
  private static func adoptFiles(in staging: StagingFolder) throws {
    try staging.adoptAll()
    if staging.outputs.isEmpty {
      throw StageFailure("the program wrote nothing into {output}")
    }
  }
}

/// An argument of an external program with placeholders that are filled in when it runs.
///
/// `{output}`, `{capture}`, `{input:NAME}`, `{id}`, `{cores}`; `{{` and `}}` stand for braces. No
/// shell is involved: a placeholder is one argument or part of one, whatever its value.
struct CommandText {
  enum Piece: Hashable {
    case text(String)
    case output
    case capture
    case id
    case cores
    case input(String)
  }

  let pieces: [Piece]

  /// Throws for an unknown placeholder.
  init(_ text: String) throws(StageFailure) {
    var pieces: [Piece] = []
    var plain = ""
    var rest = Substring(text)
    while let first = rest.first {
      if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
        plain.append(first)
        rest = rest.dropFirst(2)
      } else if first == "{" {
        guard let end = rest.firstIndex(of: "}") else {
          throw StageFailure("'\(text)': a '{' has no '}'; write {{ for the brace itself")
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        plain = ""
        pieces.append(try Self.place(rest[rest.index(after: rest.startIndex)..<end], in: text))
        rest = rest[rest.index(after: end)...]
      } else if first == "}" {
        throw StageFailure("'\(text)': a '}' has no '{'; write }} for the brace itself")
      } else {
        plain.append(first)
        rest = rest.dropFirst()
      }
    }
    if !plain.isEmpty { pieces.append(.text(plain)) }
    self.pieces = pieces
  }

  private static func place(_ name: Substring, in text: String) throws(StageFailure) -> Piece {
    switch name {
    case "output": return .output
    case "capture": return .capture
    case "id": return .id
    case "cores": return .cores
    default:
      if name.hasPrefix("input:"), name.count > 6 { return .input(String(name.dropFirst(6))) }
      throw StageFailure(
        "'\(text)': no place '{\(name)}'; there are {output}, {capture}, {input:NAME}, "
          + "{id} and {cores}")
    }
  }
}

extension ExternalCommand {
  /// How long a program may take to end after SIGTERM.
  private static let graceSeconds = 2.0
  /// How long each wait for output lasts.
  private static let waitMilliseconds: Int32 = 50
  /// Number of waits between checks of whether the program has used the processor.
  private static let turnsPerActivityCheck = 40

  /// Start of the log line that shows the command.
  private static let prompt = "$ "

  private static func commandLine(_ order: ProcessOrder) -> String {
    prompt + ([order.program] + order.arguments).joined(separator: " ")
  }

  /// The last ten lines that the program printed. In the log they follow its command line.
  private static func lastLines(of order: ProcessOrder, in log: FilePath) -> [String] {
    let lines = LogFile.tail(of: log, lines: 11)
    let command = commandLine(order).split(separator: "\n").last.map { String($0).shown }
    let start = lines.lastIndex { $0 == command }.map { $0 + 1 } ?? max(0, lines.count - 10)
    return Array(lines[start...])
  }

  /// Runs a program. Its output goes to the log of the job; cancellation ends it and all processes that it has started.
  private static func run(_ order: ProcessOrder, _ context: StageContext) throws -> ProcessEnd {
    try context.cancellation.check()
    var order = order
    order.isGuarded = true
    order.diesWithStarter = true
    context.log.write(commandLine(order))
    let pipe = try Pipe()
    defer { try? pipe.reading.close() }
    order.output = pipe.writing
    order.error = pipe.writing
    let child: ChildProcess
    do {
      // This thread lives until the program has ended: the kernel ends the program together with
      // it.
      child = try ChildProcess(order)
      try pipe.writing.close()
    } catch {
      try? pipe.writing.close()
      throw error
    }
    var output = ProgramOutput(pipe.reading, context.log)
    let end = follow(child, &output, context)
    output.finish()
    try context.cancellation.check()
    return end
  }

  /// Waits until the program has ended. Needs no other thread.
  private static func follow(
    _ child: ChildProcess, _ output: inout ProgramOutput, _ context: StageContext
  ) -> ProcessEnd {
    var activity = ProgramActivity(of: child.id)
    var stoppingSinceSeconds: Double?
    var turns = 0
    return child.wait { seconds in
      if output.take(withinMilliseconds: waitMilliseconds) { context.progress.showLife() }
      turns += 1
      if turns % turnsPerActivityCheck == 0, activity.hasUsedProcessor() {
        context.progress.showLife()
      }
      guard context.cancellation.isCancelled else { return .goOn }
      guard let since = stoppingSinceSeconds else {
        stoppingSinceSeconds = seconds
        return .terminate
      }
      return seconds - since > graceSeconds ? .kill : .goOn
    }
  }
}

/// Copies a program's output into a log of limited size: the beginning at once, the end when the
/// program has ended, and between them the number of bytes left out.
struct ProgramOutput {
  /// Number of bytes kept of each end.
  static let bytesKept = 1 << 20

  private let source: FileDescriptor
  private let log: LogFile
  private let kept: Int
  private var head = 0
  /// The latest bytes; a ring buffer once it is full.
  private var tail: [UInt8] = []
  private var tailStart = 0
  private var leftOut = 0
  private var isAtEnd = false

  init(_ source: FileDescriptor, _ log: LogFile, keeping kept: Int = bytesKept) {
    self.source = source
    self.log = log
    self.kept = kept
  }

  /// Waits for output and reads it. Returns whether there was any.
  mutating func take(withinMilliseconds wait: Int32) -> Bool {
    guard !isAtEnd else {
      usleep(UInt32(max(0, wait)) * 1000)
      return false
    }
    var one = pollfd(fd: source.rawValue, events: Int16(POLLIN), revents: 0)
    guard poll(&one, 1, wait) > 0 else { return false }
    var piece = [UInt8](repeating: 0, count: 65536)
    guard let count = try? piece.withUnsafeMutableBytes({ try source.read(into: $0) }), count > 0
    else {
      isAtEnd = true
      return false
    }
    add(piece[..<count])
    return true
  }

  /// Reads what is left in the pipe, without waiting for processes that still hold it, and writes
  /// the end.
  mutating func finish() {
    while take(withinMilliseconds: 0) {}
    if leftOut > 0 {
      log.write(bytes: Array("\n[... \(leftOut) bytes of output left out here ...]\n".utf8))
    }
    log.write(bytes: Array(tail[tailStart...] + tail[..<tailStart]))
  }

  private mutating func add(_ piece: ArraySlice<UInt8>) {
    let first = piece.prefix(max(0, kept - head))
    if !first.isEmpty {
      log.write(bytes: Array(first))
      head += first.count
    }
    for byte in piece.dropFirst(first.count) {
      if tail.count < kept {
        tail.append(byte)
      } else {
        tail[tailStart] = byte
        tailStart = tailStart + 1 == kept ? 0 : tailStart + 1
        leftOut += 1
      }
    }
  }
}
