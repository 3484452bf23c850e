import ArgumentParser
import Runner

/// The root command.
struct Scanmill: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill",
    abstract: "Batch post-processing of captures made by iOS scanner and logger apps.",
    discussion: """
      Reads ScanNet, ARKit-Scanner, MultiScan, VI-SLAM and Strabo captures; writes color, depth, \
      aligned depth, IMU matches and tables. Results go to standard output, logs and progress to \
      standard error.
      """,
    version: Version.text,
    subcommands: [
      RunCommand.self, InspectCommand.self, StatusCommand.self, ExplainCommand.self,
      StagesCommand.self, GraphCommand.self, CleanCommand.self, BenchCommand.self,
      SynthesizeCommand.self, WorkerCommand.self, LookCommand.self,
    ])
}

/// The version of this build.
enum Version {
  static let text = "0.1.0"
}

@main
enum Main {
  static func main() {
    Console.prepare()
    do {
      var command = try Scanmill.parseAsRoot()
      try command.run()
      ErrorText.exit(ExitStatus.success)
    } catch {
      ErrorText.exit(with: error)
    }
  }
}
