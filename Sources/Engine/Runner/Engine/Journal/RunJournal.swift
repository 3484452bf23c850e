import FoundationEssentials
import Core
import Synchronization
import SystemPackage

/// The folder of one run: `events.jsonl` while it goes on, `run.json` from its start and again at its end.
public final class RunJournal: EventSink {
  public let id: String
  public let folder: FilePath
  let held: HeldFolder
  private let events: FileDescriptor
  /// How many events could not be written, and why the first of them.
  private let unwritten = Mutex<(count: Int, reason: String)>((0, ""))
  /// When the progress of each job was last written, on the monotonic clock.
  private let lastProgress = Mutex<[String: Double]>([:])
  let clock: RunClock
  let recorded: Mutex<Recorded>

  /// A night of progress four times a second would be all that the journal holds.
  private static let secondsBetweenProgress = 5.0

  /// Makes the run's folder under `root`: one that no other run has made.
  public init(root: FilePath, clock: RunClock) throws(FileError) {
    self.clock = clock
    recorded = Mutex(
      Recorded(started: clock.wallText(), startedSeconds: clock.monotonicSeconds()))
    EnclosedPaths.enclose(root, links: .none)
    let runs = try HeldFolder.making(following: root).makeFolder(OutputNames.runs)
    var made: (String, HeldFolder)?
    while made == nil {
      let id = RunID.new(at: clock).text
      made = try runs.makeNewFolder(id).map { (id, $0) }
    }
    (id, held) = made ?? ("", runs)
    folder = held.path
    events = try held.append(to: OutputNames.events)
  }

  /// Goes on with a run that another process began: events are appended, `run.json` is replaced at its end
  /// and keeps what it said of who began it.
  ///
  /// Throws `DamagedRun` where its `run.json` is missing or cannot be understood.
  ///
  /// - Parameter folder: of the run.
  public init(resuming folder: FilePath, clock: RunClock) throws {
    self.clock = clock
    id = folder.name ?? ""
    self.folder = folder
    held = try HeldFolder.following(folder)
    events = try held.append(to: OutputNames.events)
    let bytes = try held.contents(of: OutputNames.run) ?? []
    do {
      recorded = Mutex(try Recorded(resuming: bytes, nowSeconds: clock.monotonicSeconds()))
    } catch {
      throw DamagedRun(file: folder.appending(OutputNames.run), hasEvents: true)
    }
  }

  deinit {
    try? events.close()
  }

  /// Appends one line; of a job's progress only the first and then one every few seconds. A full disk
  /// must not stop the work that is still possible: what cannot be written here is dropped.
  public func send(_ event: RunEvent) {
    guard let line = try? JSONText.canonical(event) else { return }
    lastProgress.withLock { last in
      if event.kind == .progress {
        let job = "\(event.capture ?? "") \(event.stage ?? "")"
        let now = clock.monotonicSeconds()
        if let before = last[job], now - before < Self.secondsBetweenProgress { return }
        last[job] = now
      }
      do {
        _ = try (line + [UInt8(ascii: "\n")]).withUnsafeBytes { try events.writeAll($0) }
      } catch {
        unwritten.withLock { unwritten in
          if unwritten.count == 0 { unwritten.reason = "\(error)" }
          unwritten.count += 1
        }
      }
    }
  }

  /// How many events are missing in `events.jsonl` because they could not be written, and why; `nil`: none.
  public var lost: String? {
    let (count, reason) = unwritten.withLock { $0 }
    guard count > 0 else { return nil }
    let file = folder.appending(OutputNames.events).shown.onOneLine
    return "\(file): \(Plural.text(count, "event")) could not be written: \(reason)"
  }

}

/// Passes every event on to several sinks.
public struct EventFan: EventSink {
  let sinks: [any EventSink]

  public init(_ sinks: [any EventSink]) {
    self.sinks = sinks
  }

  public func send(_ event: RunEvent) {
    for sink in sinks { sink.send(event) }
  }
}
