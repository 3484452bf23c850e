import ArgumentParser
import Media
import Engine
import Watch

/// The worker process that a run starts for each capture. Not meant for users.
struct WorkerCommand: ParsableCommand {
  static let name = "worker"
  private static let niceFlag = "--nice"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Work on one capture for a run.", shouldDisplay: false)

  @Flag(help: .hidden)
  var nice = false

  @Flag(help: .hidden)
  var video = false

  /// The arguments of the process; `Supervisor` adds `--video`.
  static func arguments(isNice: Bool = false) -> [String] { [name] + (isNice ? [niceFlag] : []) }

  /// Runs this verb without the argument parser, whose description of all verbs takes longer than
  /// everything else that a worker does before its work. Returns `false` if the arguments have
  /// another form.
  static func runIfMeant(_ arguments: [String]) throws -> Bool {
    let flags = arguments.dropFirst()
    guard arguments.first == name,
      flags.allSatisfy({ $0 == niceFlag || $0 == Supervisor.videoFlag })
    else { return false }
    try work(isNice: flags.contains(niceFlag), hasVideo: flags.contains(Supervisor.videoFlag))
    return true
  }

  func run() throws { try Self.work(isNice: nice, hasVideo: video) }

  private static func work(isNice: Bool, hasVideo: Bool) throws {
    if isNice { Niceness.lower() }
    try Worker.run(Toolbox.captures, Toolbox.stages) {
      if hasVideo { _ = FFmpegLibraries.problem }
    }
  }
}
