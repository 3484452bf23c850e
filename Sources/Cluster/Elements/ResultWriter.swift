import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Appends an element's lines to its file of results, which nobody else writes: a line in one `write`,
/// flushed where something was decided.
final class ResultWriter: Sendable {
  private let file: FileDescriptor
  private let state = Mutex(State())

  private struct State {
    var started: [String: Double] = [:]
    var written: Set<String> = []
  }

  private let clock: RunClock

  private let output: FilePath

  private let isCancelled = Mutex(false)

  /// From now on failures are not told: what a batch system cancels it may signal as a whole, programs of
  /// stages included.
  func noteCancellation() { isCancelled.withLock { $0 = true } }

  /// - Parameter output: where results of captures go.
  init(_ folder: HeldFolder, name: String, output: FilePath, clock: RunClock) throws(FileError) {
    self.output = output
    file = try folder.append(to: name)
    self.clock = clock
  }

  deinit { try? file.close() }

  /// Captures that have a line.
  var written: Set<String> { state.withLock { $0.written } }

  /// What cannot be written is lost: the supervisor then takes the element for one that said nothing.
  func write(_ line: ArrayTaskLine, durably: Bool) {
    guard var bytes = try? JSONText.canonical(line) else { return }
    bytes.append(UInt8(ascii: "\n"))
    state.withLock { _ in
      _ = try? bytes.withUnsafeBytes { try file.writeAll($0) }
      if durably { fsync(file.rawValue) }
    }
  }
}

extension ResultWriter: ReportSink {
  /// All but progress, which nobody reads from a file in time.
  func send(_ event: RunEvent) {
    switch event.kind {
    case .progress, .runStarted, .runFinished, .captureFinished: return
    case .captureStarted:
      state.withLock { $0.started[event.capture ?? ""] = clock.monotonicSeconds() }
    default: break
    }
    write(.event(event), durably: false)
  }

  /// One that was interrupted has no line: it is left.
  func send(_ outcome: CaptureOutcome) {
    let report = outcome.report
    guard report.outcome != .interrupted, !(outcome.hasFailed && isCancelled.withLock { $0 }) else {
      return
    }
    let began = state.withLock { state in
      state.written.insert(report.id)
      return state.started[report.id]
    }
    let made = Set(report.stages.filter { $0.outcome == .ran }.map(\.stage))
    let artifacts = ArtifactMark.all(
      of: report, in: OutputLayout(root: output, name: report.id)
    ).filter { made.contains($0.stage) }
    let line = CaptureLine(
      name: report.id, outcome: outcome,
      peakMemoryBytes: report.stages.compactMap(\.peakMemoryBytes).max(),
      seconds: clock.monotonicSeconds() - (began ?? clock.monotonicSeconds()),
      artifacts: artifacts)
    write(.capture(line), durably: true)
  }
}
