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
  private let turn = Mutex<Void>(())

  /// Makes the run's folder under `root`. The id sorts by time and is unique to the process.
  public init(root: FilePath, clock: RunClock) throws(FileError) {
    let time = clock.wallText().filter { $0.isNumber || $0 == "T" }
    id = "\(time.prefix(15))-\(getpid())"
    folder = OutputLayout.run(id, in: root)
    try FileSystem.makeFolder(folder)
    let path = folder.appending("events.jsonl")
    do {
      events = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .append, .closeOnExec],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    } catch {
      throw FileError(error as? Errno ?? .ioError, path: path, operation: "create")
    }
  }

  deinit {
    try? events.close()
  }

  /// Appends one line. A full disk must not stop the work that is still possible: what cannot be
  /// written here is dropped.
  public func send(_ event: RunEvent) {
    guard let line = try? JSONText.canonical(event) else { return }
    turn.withLock { _ in
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
