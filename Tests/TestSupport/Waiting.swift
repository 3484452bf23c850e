import Foundation
import Glibc
import Synchronization
import SystemPackage
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

  /// Until nothing that was written at `path` or below it has changed within `seconds`, by the clock of the file
  /// system. There is no event for that: it is the age of the files that counts for who reads them.
  public static func untilAged(
    _ path: FilePath, seconds: Double, at location: SourceLocation = #_sourceLocation
  ) {
    let names = FileManager.default.enumerator(atPath: path.string)?.allObjects as? [String] ?? []
    let files = [path.string] + names.map { "\(path.string)/\($0)" }
    until("files of \(path) that are \(seconds) s old", at: location) {
      files.allSatisfy { file in
        var status = stat()
        guard lstat(file, &status) == 0 else { return true }
        let changed = Double(status.st_ctim.tv_sec) + Double(status.st_ctim.tv_nsec) / 1e9
        return Date().timeIntervalSince1970 - changed > seconds
      }
    }
  }

  /// Until the kernel has handed `signal` over to a process, or to one of its threads: signals that are sent before
  /// count once. One that is gone, or that blocks the signal, is not waited for.
  public static func untilTaken(
    _ signal: Int32, by process: Int32, thread: Int32? = nil,
    at location: SourceLocation = #_sourceLocation
  ) {
    let file = thread.map { "/proc/\(process)/task/\($0)/status" } ?? "/proc/\(process)/status"
    until("signal \(signal) to be taken by \(thread ?? process)", at: location) {
      guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return true }
      var fields: [Substring: Substring] = [:]
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2 { fields[parts[0]] = parts[1].drop { $0 == "\t" || $0 == " " } }
      }
      if ["Z", "X"].contains(fields["State"]?.prefix(1) ?? "X") { return true }
      func has(_ name: Substring) -> Bool {
        let bits = fields[name].flatMap { UInt64($0, radix: 16) } ?? 0
        return bits & (1 << UInt64(signal - 1)) != 0
      }
      return !has(thread == nil ? "ShdPnd" : "SigPnd") || (thread != nil && has("SigBlk"))
    }
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

/// Threads of servers in the process of the tests, which must not wait for tests that compute.
public let serverThreads: any TaskExecutor = WaitingThreads.ofServers

/// Threads that may block, for tests that wait for programs. As many tests as threads are at work at once.
/// `condition` guards all that changes.
final class WaitingThreads: TaskExecutor, @unchecked Sendable {
  static let shared = WaitingThreads(
    count: max(4, 3 * ProcessInfo.processInfo.activeProcessorCount))
  /// For suites whose tests run one after another: each would wait behind all tests of the others, and the last ones
  /// would be alone at the end.
  static let ofSequences = WaitingThreads(count: 2)
  static let ofServers = WaitingThreads(count: 4)

  /// Guards `jobs`.
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  /// Starts the threads, which live as long as the process.
  private init(count: Int) {
    for number in 1...count {
      let thread = Thread { [self] in work() }
      thread.name = "test \(number)"
      // Tests decode and compare whole captures.
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock { jobs.append(job) }
    condition.signal()
  }

  private func work() {
    while true { next().runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// The oldest job, as soon as there is one.
  private func next() -> UnownedJob {
    condition.withLock {
      while jobs.isEmpty { condition.wait() }
      return jobs.removeFirst()
    }
  }
}
