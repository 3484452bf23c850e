import ArgumentParser
import Captures
import Engine
import Core

#if canImport(Glibc)
  import Glibc
#endif

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
    version: Version.page,
    subcommands: [
      RunCommand.self, WatchCommand.self, ReceiveCommand.self, InspectCommand.self,
      ViewCommand.self, StatusCommand.self,
      ExplainCommand.self, ReportCommand.self, IndexCommand.self,
      ParamsCommand.self, FamiliesCommand.self, StagesCommand.self, GraphCommand.self,
      SendCommand.self, MarkCommand.self, CleanCommand.self, BenchCommand.self,
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
    do {
      if let shortage = LeastResources.shortage {
        throw CommandFailure(code: ExitStatus.jobFailed, text: shortage)
      }
      if try WorkerCommand.runIfMeant(arguments) { ErrorText.exit(ExitStatus.success) }
      if try InspectionCommand.runIfMeant(arguments) { ErrorText.exit(ExitStatus.success) }
      try VerbCheck.check(arguments)
      var command = try Scanmill.parseAsRoot(arguments)
      do {
        try command.run()
      } catch let error as ValidationError {
        // Errors found during the run: the argument parser no longer knows the verb.
        throw CommandFailure(
          code: ExitStatus.usage,
          text: error.message + VerbCheck.seeHelp(of: command))
      }
      ErrorText.exit(ExitStatus.success)
    } catch {
      ErrorText.exit(with: error)
    }
  }
}
