import FoundationEssentials
import Engine
import Core
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Appends lines to the results file of an array task, which has no other writer. Each line is one
/// `write`. Lines that record a decision are flushed to disk.
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

  /// Suppresses failures from now on. A batch system may signal all processes of a cancelled job,
  /// including the programs of stages, which then fail.
  func noteCancellation() { isCancelled.withLock { $0 = true } }

  /// - Parameter output: the output folder, in which artifacts are looked up.
  init(_ folder: HeldFolder, name: String, output: FilePath, clock: RunClock) throws(FileError) {
    self.output = output
    file = try folder.append(to: name)
    self.clock = clock
  }

  deinit { try? file.close() }

  /// Names of captures that have a line.
  var written: Set<String> { state.withLock { $0.written } }

  /// Write errors are ignored: without results the supervisor treats the task as one that reported
  /// nothing.
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
  /// Omits progress, and events that the supervisor sends itself.
  func send(_ event: RunEvent) {
    switch event.kind {
    case .progress, .runStarted, .runFinished, .captureFinished: return
    case .captureStarted:
      state.withLock { $0.started[event.capture ?? ""] = clock.monotonicSeconds() }
    default: break
    }
    write(.event(event), durably: false)
  }

  /// Interrupted captures get no line and count as left.
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
