import CPlatform
import Core
import SystemPackage
import Glibc

/// The command of `--notify`: `/bin/sh -c COMMAND`, the report's JSON on standard input, `SCANMILL_PAGE` in
/// its environment. What it prints goes to a log.
///
/// The input is a file in memory, not a pipe: a program that never reads it is as good as one that reads
/// all of it. What the command leaves in the background ends with it, daemons included.
public struct Notification: Sendable {
  var command: String
  /// After that it is ended, with all that it has started.
  var limitSeconds = 60.0
  /// The most that it may print before it is ended; the log is cut there and says so. A log that has more already is
  /// begun anew.
  var limitLogBytes: Int64 = 1 << 20

  public init(_ command: String) {
    self.command = command
  }

  /// Runs the command and waits for it. Never throws.
  ///
  /// - Parameters:
  ///   - json: the report.
  ///   - page: of the night; `nil`: there is none, and no variable.
  ///   - keepWaiting: asked about ten times a second, for a watcher that must say that it is alive; `false`
  ///     ends the command.
  /// - Returns: what went wrong, for people; `nil`: nothing.
  public func send(
    _ json: [UInt8], page: FilePath?, log: LogFile, keepWaiting: () -> Bool = { true }
  ) -> String? {
    do {
      var isRun = false
      do {
        let problem = try log.withDescriptor { log in
          isRun = true
          return try run(json, page: page, log: log, keepWaiting: keepWaiting)
        }
        return problem.map { "\($0); what it printed is in \(log.path)" }
      } catch  where !isRun {
        // Without its log it is run all the same: what it sends is waited for.
        let nowhere = try FileDescriptor.open("/dev/null", .writeOnly, options: .closeOnExec)
        defer { try? nowhere.close() }
        return try run(json, page: page, log: nowhere, keepWaiting: keepWaiting)
          ?? "--notify: the command was run without its log, which cannot be written: \(error)"
      }
    } catch {
      return "--notify: \(error)"
    }
  }

  private func run(
    _ json: [UInt8], page: FilePath?, log: FileDescriptor, keepWaiting: () -> Bool
  ) throws -> String? {
    let input = FileDescriptor(rawValue: scanmill_memory_file())
    guard input.rawValue >= 0 else { throw Errno(rawValue: errno) }
    defer { try? input.close() }
    _ = try input.writeAll(json)
    try input.seek(offset: 0, from: .start)
    var order = ProcessOrder("/bin/sh", ["-c", command])
    var environment = SystemdNotifier.withoutVariables(ProcessOrder.foreignEnvironment)
    environment["SCANMILL_PAGE"] = page?.text
    order.environment = environment
    order.input = input
    order.output = log
    order.error = log
    order.isGuarded = true
    // The command ends with this thread, which waits for it.
    order.diesWithStarter = true
    // Months of a command that says much each night.
    if Self.size(of: log) > limitLogBytes { ftruncate(log.rawValue, 0) }
    let most = Self.size(of: log) + limitLogBytes
    let child = try ChildProcess(order)
    defer { cut(log, at: most) }
    let end = child.wait(pauseMilliseconds: 100) { seconds -> String? in
      if seconds >= limitSeconds {
        return "was stopped after \(Int(limitSeconds.rounded(.up))) s"
      }
      if Self.size(of: log) > most {
        return "was stopped because it printed more than \(limitLogBytes >> 10) KiB"
      }
      return keepWaiting() ? nil : "was stopped because the watcher is ending"
    }
    switch end {
    case .ended(let end): return end.isSuccess ? nil : "--notify: the command \(end.phrase)"
    case .killed(let reason): return "--notify: the command \(reason)"
    }
  }

  /// Leaves no more than `most` bytes of what was printed, and a line that says so.
  private func cut(_ log: FileDescriptor, at most: Int64) {
    guard Self.size(of: log) > most, ftruncate(log.rawValue, off_t(most)) == 0 else { return }
    _ = try? log.seek(offset: 0, from: .end)
    let mark = "\n[cut: the command printed more than \(limitLogBytes >> 10) KiB]\n"
    _ = try? log.writeAll(Array(mark.utf8))
  }

  private static func size(of file: FileDescriptor) -> Int64 {
    (try? FileStatus(file))?.bytes ?? 0
  }
}
