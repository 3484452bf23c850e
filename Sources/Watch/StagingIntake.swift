import Captures
import Core
import Engine
import FoundationEssentials
import Logging
import SystemPackage

/// Scans STAGING and takes what is found into the shared state. The watcher's loop calls it on its own thread.
///
/// Owns the scanner with its cache, and what earlier processes saw first.
final class StagingIntake {
  private let state: WatchState
  private let scanner: StagingScanner
  /// Has the kernel tell of changes; `nil`: only scans find them.
  private let notices: INotifyWatcher?
  /// What earlier processes noted; empty after the first scan that succeeded.
  private var recorded: [CaptureLocation: StagingEntry]
  /// Second copies of captures, and of files of captures, as of the last scan that succeeded.
  private var copies: [RunReport.Unrecognized] = []
  /// What was logged already: nothing is logged twice.
  private var told: Set<String> = []

  /// Keeps memory bounded where each scan finds other trouble.
  private static let mostTold = 10_000

  init(_ state: WatchState, _ notices: INotifyWatcher?) {
    self.state = state
    self.notices = notices
    scanner = StagingScanner(state.setup.staging)
    recorded = FirstSeenRecords.known(
      inOutput: state.setup.output, nowSeconds: state.startedSeconds)
  }

  /// Scans once, with the finder of `work`. Cost while nothing has changed: one listing per folder and one system call
  /// per file.
  ///
  /// - Parameter start: when this scan began, on the monotonic clock.
  func scan(_ work: WatchWork, startedSeconds start: Double) {
    do throws(FileError) {
      let snapshot = try scanner.look(work.supervisor.batch)
      let text = state.clock.wallText()
      state.with { [recorded] in
        $0.intake.take(snapshot, nowSeconds: start, nowText: text, recorded: recorded)
      }
      self.recorded = [:]
      if let notices {
        notices.watch(snapshot.folders)
        if let limit = notices.limit { logOnce("inotify: \(limit)", .notice) }
      } else {
        let seconds = state.setup.settings.pollSeconds
        logOnce("inotify is not available; changes are noticed every \(seconds) s", .notice)
      }
      copies = snapshot.copies.map {
        RunReport.Unrecognized(path: $0.place.shown, holds: [$0.reason])
      }
      for copy in snapshot.copies {
        logOnce("\(copy.place.shown): \(copy.reason)", .warning)
      }
      for seen in snapshot.captures {
        guard let version = seen.stamp.conflict, let capture = seen.recognition else { continue }
        let path = capture.folder.appending(version).shown
        let reason = ConflictCopies.reason(fileOf: capture.id)
        copies.append(RunReport.Unrecognized(path: path, holds: [reason]))
        logOnce("\(path): \(reason)", .warning)
      }
      for seen in snapshot.captures { tellUpload(seen) }
      tellDisappeared()
    } catch {
      state.with { $0.intake.takeTrouble("STAGING cannot be read: \(error)") }
    }
  }

  /// Logs what is odd about the notes of an upload server. While something is on its way they may be behind.
  private func tellUpload(_ seen: StagingSnapshot.Seen) {
    guard let folder = seen.recognition?.folder else { return }
    if let problem = seen.mark.problem, seen.incoming == nil {
      logOnce(
        "\(folder.appending(UploadManifest.fileName).shown) is not used: \(problem.onOneLine); "
          + "whether the capture is complete is told by the rule of its family", .warning)
    }
    if let twin = seen.mark.twinOf {
      logOnce(
        "\(folder.shown): same id as \(twin.onOneLine), other content; "
          + "a capture of its own with results of its own", .notice)
    }
  }

  /// What lies in STAGING and is no capture, in path order.
  var unrecognized: [RunReport.Unrecognized] {
    let unrecognized = state.with { state in
      state.intake.entries.values.compactMap { entry -> RunReport.Unrecognized? in
        guard case .unrecognized = entry.phase, entry.decision?.isCurrent != true else {
          return nil
        }
        return RunReport.Unrecognized(path: entry.location.path.shown, holds: entry.holds)
      }
    }
    return (unrecognized + copies).sorted { $0.path < $1.path }
  }

  /// Logs what went before anything of it was done.
  func tellDisappeared() {
    for gone in state.with({ $0.intake.takeDisappeared() }) {
      state.log.warning(
        "\(gone.id) disappeared from STAGING before anything of it was done (\(PathText.shown(gone.path)))",
        metadata: ["capture": "\(gone.id)"])
    }
  }

  private func logOnce(_ text: String, _ level: Logger.Level) {
    guard told.count < Self.mostTold, told.insert(text).inserted else { return }
    state.log.log(level: level, "\(text)")
  }
}
