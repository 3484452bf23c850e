import FoundationEssentials
import Pipeline
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The folder of one run: `events.jsonl` while it goes on, `run.json` at its end.
public final class RunJournal: EventSink {
  public let id: String
  public let folder: FilePath
  private let events: FileDescriptor
  /// When the progress of each job was last written, on the monotonic clock.
  private let lastProgress = Mutex<[String: Double]>([:])
  private let clock: RunClock

  /// A night of progress four times a second would be all that the journal holds.
  private static let secondsBetweenProgress = 5.0

  /// Makes the run's folder under `root`. The id sorts by time and is unique to the process.
  public init(root: FilePath, clock: RunClock) throws(FileError) {
    self.clock = clock
    let time = clock.wallText().filter { $0.isNumber || $0 == "T" }
    id = "\(time.prefix(15))-\(getpid())"
    folder = OutputLayout.run(id, in: root)
    try FileSystem.makeFolder(folder)
    let path = folder.appending("events.jsonl")
    do {
      events = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .append, .closeOnExec],
        permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    } catch {
      throw FileError(error as? Errno ?? .ioError, path: path, operation: "create")
    }
  }

  deinit {
    try? events.close()
  }

  /// Appends one line; of a job's progress only the first and then one every few seconds. A full disk must not stop the work that is still possible: what cannot be
  /// written here is dropped.
  public func send(_ event: RunEvent) {
    guard let line = try? JSONText.canonical(event) else { return }
    lastProgress.withLock { last in
      if event.kind == .progress {
        let job = "\(event.capture ?? "") \(event.stage ?? "")"
        let now = clock.monotonicSeconds()
        if let before = last[job], now - before < Self.secondsBetweenProgress { return }
        last[job] = now
      }
      _ = try? (line + [UInt8(ascii: "\n")]).withUnsafeBytes { try events.writeAll($0) }
    }
  }

  /// Writes `run.json`.
  public func finish(_ report: RunReport) throws {
    try OutputFile.replace(folder.appending("run.json"), with: JSONText.pretty(report))
  }
}

/// Passes every event on to several sinks.
public struct EventFan: EventSink {
  private let sinks: [any EventSink]

  public init(_ sinks: [any EventSink]) {
    self.sinks = sinks
  }

  public func send(_ event: RunEvent) {
    for sink in sinks { sink.send(event) }
  }
}
