import Captures
import Core
import Engine
import SystemPackage

/// Runs an external program as a stage: its output is published, fingerprinted and logged like that
/// of other stages.
public enum ExternalCommand: Stage {
  public static let name = "command"
  public static let version = 1
  public static let sentence =
    "Runs an external program without a shell; what it writes into {output} is published."
  public static let ports: [Port] = []
  public static let takesAnyArtifact = true
  public static let parameters: [ParameterDescription] = [
    ParameterDescription(
      "command", .list,
      "The program and its arguments; {output}, {capture}, {input:NAME}, {id} and {cores} are replaced."
    ),
    ParameterDescription(
      "files", .list,
      "Scripts and other files whose content matters: a change runs the stage again."),
    ParameterDescription(
      "programVersion", .text,
      "Any text that identifies the program's version: another text runs the stage again."),
    ParameterDescription(
      "environment", .list,
      "NAME=VALUE, in addition to the variables that scanmill runs with. Records show a digest of the value."
    ).secret(),
  ]

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .files }

  /// All parts, if the program gets the capture's folder.
  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    readsFolder(parameters) ? Set(CapturePart.allCases) : []
  }

  public static func readsFolder(_ parameters: ParameterValues) -> Bool {
    texts(parameters).contains { $0.pieces.contains(.capture) }
  }

  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    Dictionary(parameters.list("files").map { ($0, FilePath(text: $0)) }) { first, _ in first }
  }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability { .applies }

  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    let command = stage.parameters.list("command")
    guard let program = command.first, !program.isEmpty else {
      return [
        StageProblem("stage '\(stage.name)' has no 'command': [program, argument, …]")
      ]
    }
    var problems: [StageProblem] = []
    if command.count == 1, program.contains(" ") {
      problems.append(
        StageProblem(
          parameter: "command",
          "'\(program)' is one argument; no shell splits it: write [program, argument, …]"))
    }
    for text in command {
      do throws(CommandText.Problem) {
        for case .input(let name) in try CommandText(text).pieces
        where !stage.inputs.contains(where: { $0.port == name }) {
          problems.append(
            StageProblem(
              parameter: "command",
              "'\(text)': no input '\(name)'"
                + NearestName.suggestion(name, among: stage.inputs.map(\.port))))
        }
      } catch {
        problems.append(StageProblem(parameter: "command", error.message))
      }
    }
    for text in stage.parameters.list("environment") where !text.dropFirst().contains("=") {
      problems.append(
        StageProblem(parameter: "environment", "'\(text)' is not NAME=VALUE"))
    }
    return problems
  }

  /// Checks `files`, whose content is part of the fingerprint.
  public static func fileProblems(_ parameters: ParameterValues) -> [StageProblem] {
    parameters.list("files").compactMap { StageProblem.ofFile($0, parameter: "files") }
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let arguments = try texts(context.parameters).map { text in
      try text.pieces.map { try replacement(of: $0, context) }.joined()
    }
    guard let program = arguments.first else { throw StageFailure("there is no command") }
    var order = ProcessOrder(program, Array(arguments.dropFirst()))
    order.environment = environment(context.parameters)
    order.dataLimitBytes = context.memoryBytes
    let end = try context.budget.withCore { try ExternalProgram.run(order, context) }
    guard end.isSuccess else {
      let lines = ExternalProgram.lastLines(of: order, in: context.log.path)
      throw StageFailure(
        "\(program) \(end.phrase)"
          + (lines.isEmpty ? "" : "; its last lines:\n" + lines.joined(separator: "\n")),
        // sysexits.h: the program requests to be run again later.
        isTemporary: end.way == .exited(75))
    }
    try adoptFiles(in: context.staging)
    var result = StageResult(frames: 0)
    result.externalCPUSeconds = end.cpuSeconds
    result.externalPeakMemoryBytes = end.peakMemoryBytes
    return result
  }

  private static func texts(_ parameters: ParameterValues) -> [CommandText] {
    parameters.list("command").compactMap { try? CommandText($0) }
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
    for text in parameters.list("environment") {
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
