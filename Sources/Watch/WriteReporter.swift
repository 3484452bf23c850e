import Logging
import Engine
import Core
import SystemPackage

/// Writes the watcher's own files of the output folder, and logs which of its files cannot be written: when that is
/// news, and again and again while it lasts (`WriteFailures`). Every part of the watcher that writes tells it how that
/// went; all of them on the watcher's thread.
final class WriteReporter {
  private let output: FilePath
  private let clock: RunClock
  private let log: Logger
  private var failures = WriteFailures()
  /// Space for what is written on a full disk.
  let reserve: DiskReserve

  init(output: FilePath, clock: RunClock, log: Logger) {
    reserve = DiskReserve(output: output)
    self.output = output
    self.clock = clock
    self.log = log
  }

  /// What became of something that was to be written.
  ///
  /// - Parameter problem: why it could not be; `nil`: it was written.
  func note(_ kind: WriteFailures.Kind, _ file: String, _ problem: String?) {
    if let problem {
      let text = failures.failed(kind, file, problem, nowSeconds: clock.monotonicSeconds())
      if let text { log.error("\(text)") }
    } else if let text = failures.succeeded(kind, file) {
      log.notice("\(text)")
    }
  }

  /// Replaces a file of the output's notes. Whether it was written.
  func write(_ bytes: [UInt8], as name: String) -> Bool {
    do {
      try reserve.writing { try NotesFile.write(bytes, name, ofOutput: output) }
      note(.notes, name, nil)
      return true
    } catch {
      note(.notes, name, "\(error)")
      return false
    }
  }

  /// Failures of a kind since the start.
  func count(_ kind: WriteFailures.Kind) -> Int { failures.count(kind) }

  /// Whether something could not be written when it was last tried.
  var areFailing: Bool { failures.areFailing }
}
