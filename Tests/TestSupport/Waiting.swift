import Foundation
import Synchronization
import Testing

/// Waiting for other programs. Nobody waits for ever: a run of the tests that hangs tells nobody why. Who waited
/// too long fails, and what ran below the tests stands in the message.
public enum Waiting {
  /// Far beyond what anything takes on a busy machine.
  private static let mostSeconds = 600.0
  /// Once something has hung, the rest is not given as long again: the whole must come to its end.
  private static let mostSecondsLater = 120.0
  private static let hasHung = Mutex(false)

  /// Until `condition` holds; whether it did in time. `note`: what else is to be said when it did not.
  @discardableResult
  public static func until(
    _ what: String, at location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool,
    note: () -> String = { "" }
  ) rethrows -> Bool {
    let start = Date()
    while try !condition() {
      let passed = Date().timeIntervalSince(start)
      if passed > (hasHung.withLock { $0 } ? mostSecondsLater : mostSeconds) {
        hasHung.withLock { $0 = true }
        Issue.record(
          "waited \(Int(passed)) s for \(what); \(note()); at work are:\n\(ProcessTree.text())",
          sourceLocation: location)
        return false
      }
      pause()
    }
    return true
  }

  /// Lets others go on, for as long as nobody notices.
  public static func pause() { usleep(10_000) }
}

extension Process {
  /// Waits for its end. One that does not end is killed with all that it has started.
  public func waitForEnd(at location: SourceLocation = #_sourceLocation) {
    let name = ([executableURL?.path ?? ""] + (arguments ?? [])).joined(separator: " ")
    // The run loop of this thread hears of the end: `isRunning` by itself may stay true.
    let isOver = Waiting.until("the end of \(name.prefix(300))", at: location) {
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
      return !isRunning
    }
    guard !isOver else { return }
    ProcessTree.kill(from: processIdentifier)
    waitUntilExit()
  }
}

/// Processes below the tests, as `/proc` lists them.
enum ProcessTree {
  private struct Entry {
    var id: Int32
    var parent: Int32
    /// Name and state.
    var words: String
  }

  private static var all: [Entry] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { name in
      guard let id = Int32(name),
        let data = FileManager.default.contents(atPath: "/proc/\(id)/stat")
      else { return nil }
      let text = String(decoding: data, as: UTF8.self)
      // The name, in parentheses, may hold anything.
      guard let end = text.lastIndex(of: ")") else { return nil }
      let rest = text[end...].dropFirst(2).split(separator: " ")
      guard rest.count > 1, let parent = Int32(rest[1]) else { return nil }
      return Entry(id: id, parent: parent, words: text[...end] + " " + rest[0])
    }
  }

  private static func below(_ id: Int32, _ all: [Entry], depth: Int = 1) -> [(Entry, Int)] {
    all.filter { $0.parent == id }
      .flatMap { [($0, depth)] + below($0.id, all, depth: depth + 1) }
  }

  /// A line per process with what it is about and where in the kernel it waits.
  static func text() -> String {
    below(getpid(), all).map { entry, depth in
      func read(_ name: String) -> String {
        let data = FileManager.default.contents(atPath: "/proc/\(entry.id)/\(name)") ?? Data()
        return String(decoding: data.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
      }
      let indent = String(repeating: "  ", count: depth)
      return "\(indent)\(entry.words) \(read("wchan")) \(read("cmdline").prefix(160))"
    }
    .joined(separator: "\n")
  }

  static func kill(from id: Int32) {
    let ids = below(id, all).map(\.0.id)
    for id in [id] + ids { Foundation.kill(id, SIGKILL) }
  }
}
