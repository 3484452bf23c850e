import ArgumentParser
import Codecs
import Output
import Runner
import Watch

/// What a run calls for each capture. Nobody else has a use for it.
struct WorkerCommand: ParsableCommand {
  static let name = "worker"
  private static let niceFlag = "--nice"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Work on one capture for a run.", shouldDisplay: false)

  @Flag(help: .hidden)
  var nice = false

  @Flag(help: .hidden)
  var video = false

  /// What the program is called with; `Supervisor` adds `--video`.
  static func arguments(isNice: Bool = false) -> [String] { [name] + (isNice ? [niceFlag] : []) }

  /// The same verb without the argument parser, whose description of all verbs takes longer than all else that a
  /// worker does before its work. `false`: these are the words of another verb, or of a person.
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
