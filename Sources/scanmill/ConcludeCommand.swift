import ArgumentParser
import Captures
import Cluster
import Core
import Engine
import Pages
import SystemPackage
import Watch

/// The follow-up job of a detached run. Not meant for users: `run` on the same output concludes
/// abandoned runs.
struct ConcludeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conclude", abstract: "Go on with a detached run on a cluster.",
    shouldDisplay: false)

  @Argument(help: "The run's folder.")
  var folder: String

  func run() throws {
    guard let conclusion = ClusterFinalizer(run: FilePath(text: folder)) else {
      throw CommandFailure(ExitStatus.usage, "\(folder): no run on a cluster")
    }
    if let code = try DetachedRun(conclusion).perform(), code != 0 { throw Exit(code: code) }
  }
}

/// Continues a detached run.
struct DetachedRun {
  private let conclusion: ClusterFinalizer

  init(_ conclusion: ClusterFinalizer) { self.conclusion = conclusion }

  /// Returns the exit code of the run if it is over now.
  ///
  /// - Parameter given: an existing interruption; `nil` to handle signals here.
  func perform(_ given: Interruption? = nil) throws -> Int? {
    let plan = conclusion.plan
    let pipeline = try plan.pipeline.definition(Toolbox.stages)
    let batch = try Toolbox.batch(pipeline, plan.options, atOnce: 1)
    let interruption = given ?? Interruption()
    let signals =
      given == nil ? Signals(interruption, graceSeconds: plan.graceSeconds, .system) : nil
    let journal = try Self.journal(conclusion.files.run)
    var exit: Int?
    try conclusion.perform(
      batch, SlurmSystem(profile: plan.profile, runFolder: conclusion.files.run),
      events: journal, interruption: interruption
    ) { report, stop in
      var report = report
      report.exit = signals?.exitCode ?? report.exit
      report = report.withoutInnerStages
      try journal.finish(report)
      if let stop { Console.error("error: \(stop.message)") }
      try DetachedReport(output: plan.options.output, run: plan.run, notify: plan.notify).make()
      exit = report.exit
    }
    return exit
  }

  private static func journal(_ run: FilePath) throws -> RunJournal {
    do {
      return try RunJournal(resuming: run, clock: .system)
    } catch let error as DamagedRun {
      throw CommandFailure(ExitStatus.cannotWrite, error.description)
    }
  }
}

/// Unfinished cluster runs of an output.
enum ClusterRuns {
  static func active(in root: FilePath) throws(FileError) -> [ActiveRun] {
    try ActiveRun.all(in: root) { SlurmSystem(profile: $1, runFolder: $0, timeoutSeconds: 20) }
  }

  /// Concludes detached runs whose array tasks have all ended and whose follow-up job was lost.
  static func concludeAbandoned(in root: FilePath, _ interruption: Interruption) throws {
    for active in try active(in: root) where active.isAbandoned && active.isDetached {
      let folder = OutputLayout.run(active.run, in: root)
      guard let conclusion = ClusterFinalizer(run: folder) else { continue }
      Console.error("concluding run \(active.run), which has ended on the cluster")
      _ = try DetachedRun(conclusion).perform(interruption)
    }
  }
}

/// Writes the report pages at the end of a detached run, and runs the notification command.
struct DetachedReport {
  let output: FilePath
  let run: String
  /// A command for `/bin/sh`; `nil` for none.
  let notify: String?

  func make() throws {
    let reader = try OutputReader()
    let looked = try ReadOutput(output.text, reader)
    let report = try NightReporting.report(looked.view, .run(run))
    let pages = try NightReporting.writePages(report, looked.view, isRedacted: false)
    if let error = pages.error { Console.error("error: \(error)") }
    guard let notify else { return }
    let said = LogFile(
      OutputLayout.run(run, in: output).appending("notify.log"), below: output)
    if let problem = Notification(notify).send(
      try report.json(), page: pages.page, log: said)
    {
      Console.error(problem)
    }
  }
}
