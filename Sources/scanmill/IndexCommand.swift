import ArgumentParser
import Engine
import Core
import Synchronization
import SystemPackage

struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Build the catalog of an output folder again.",
    discussion: """
      `catalog.sqlite` holds what the folders, runs and notes of an output tell at that time, for questions \
      of your own in SQL. It may be deleted at any time; no other verb reads or changes it.
      """)

  @Argument(help: "An output folder.", completion: Completion.folder)
  var folder = "."

  func run() throws {
    let reader = try OutputReader(ComparisonArguments.parse([]))
    let catalog = try OutputFinder.catalog(folder)
    let root = catalog.resolvedRoot
    let progress = SlowProgress("reading captures")
    let counts = try reader.rebuild(root) { progress.show($0, of: $1) }
    func words(_ count: Int, _ one: String, _ many: String) -> String {
      "\(count) \(count == 1 ? one : many)"
    }
    Console.print(
      root.appending(CatalogTables.fileName).shown + ": "
        + [
          words(counts.captures, "capture", "captures"),
          words(counts.streams, "stream", "streams"),
          words(counts.stages, "stage", "stages"), words(counts.attempts, "attempt", "attempts"),
          words(counts.warnings, "warning", "warnings"), words(counts.runs, "run", "runs"),
        ].joined(separator: ", "))
  }
}

/// Progress lines on standard error: the first after two seconds, then one per second.
final class SlowProgress: Sendable {
  private let what: String
  private let clock = RunClock.system
  /// The time of the next line, and whether a line was printed.
  private let next: Mutex<(seconds: Double, isShown: Bool)>

  init(_ what: String) {
    self.what = what
    next = Mutex((RunClock.system.monotonicSeconds() + 2, false))
  }

  func show(_ done: Int, of all: Int) {
    let now = clock.monotonicSeconds()
    let isDue = next.withLock { next in
      guard now >= next.seconds else { return false }
      next = (now + 1, true)
      return true
    }
    if isDue { Console.error("\(what): \(done) of \(all)") }
  }

}
