import ArgumentParser
import Core
import SystemPackage
import Glibc

/// The program behind `scanmill send`.
@main
struct ScanmillSend: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scanmill send", abstract: SendArguments.abstract,
    discussion: SendArguments.discussion)

  @OptionGroup var arguments: SendArguments

  static func main() { main(Array(ProgramStart.arguments.dropFirst())) }

  func run() throws {
    defer { ErrorOutput.standard.flush() }
    // Nothing has to be put in order: what the receiver has stays there.
    for (number, code) in [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)] {
      Self.endsWith(code, on: number)
    }
    ProgramStart.prepare()
    let server: ReceiverAddress
    do throws(SendError) {
      server = try ReceiverAddress(arguments.to, tokenFile: arguments.tokenFile)
    } catch {
      Self.say("error: \(error.message)")
      throw ExitCode(64)
    }
    guard let client = ReceiverClient(server) else { throw ExitCode(70) }
    let progress = SendProgress(isShown: !arguments.quiet && isatty(2) == 1)
    var failures = 0
    for path in arguments.captures {
      do {
        let capture = try CaptureFiles(FilePath(text: path))
        let sender = CaptureSender(
          client: client, capture: capture, progress: progress, retries: arguments.retries)
        let counts = try sender.send()
        progress.clear()
        ErrorOutput.standard.flush()
        print(
          "\(capture.id.onOneLine) sent \(counts.sent)/\(capture.files.count) already=\(counts.known) "
            + "bytes=\(counts.bytes)")
        // A signal ends this program without a last look at what is to be printed.
        if fflush(nil) != 0, errno != EPIPE {
          Self.say(
            "error: standard output: \(Errno(rawValue: errno)): the result is not complete there")
          throw ExitCode(73)
        }
      } catch let error as SendError {
        progress.clear()
        failures += 1
        Self.say("error: \(path.onOneLine): \(error.message)")
        if error.kind == .unreachable { throw ExitCode(75) }
        if error.kind == .unreadable, arguments.captures.count == 1 { throw ExitCode(65) }
      }
    }
    if failures > 0 { throw ExitCode(1) }
  }

  private static func endsWith(_ code: Int32, on number: Int32) {
    if code == 130 {
      signal(number) { _ in _exit(130) }
    } else {
      signal(number) { _ in _exit(143) }
    }
  }

  private static func say(_ text: String) {
    ErrorOutput.standard.write(Array((text + "\n").utf8))
  }
}

/// Why a capture was not sent, in words.
struct SendError: Error {
  enum Kind { case unreadable, unreachable, refused }
  var kind: Kind
  var message: String

  static func unreadable(_ message: String) -> SendError {
    SendError(kind: .unreadable, message: message)
  }

  static func unreachable(_ message: String) -> SendError {
    SendError(kind: .unreachable, message: message)
  }

  static func refused(_ message: String) -> SendError {
    SendError(kind: .refused, message: message)
  }

  static func changed(_ path: FilePath) -> SendError {
    unreadable("\(path.shown) changed while it was sent: send it again")
  }
}

/// One line on a terminal, from two seconds after the start on: how much of a file was sent, how fast, and how long the
/// rest will take.
final class SendProgress {
  private let isShown: Bool
  private let started = ContinuousClock.now
  private var file = ""
  private var fileStarted = ContinuousClock.now
  private var told: ContinuousClock.Instant?
  private var isDirty = false

  init(isShown: Bool) { self.isShown = isShown }

  func show(_ name: String, done: Int64, of total: Int64, from begin: Int64) {
    guard isShown else { return }
    let now = ContinuousClock.now
    if name != file { (file, fileStarted) = (name, now) }
    guard now - started >= .seconds(2), told.map({ now - $0 >= .milliseconds(200) }) ?? true else {
      return
    }
    told = now
    let seconds = (now - fileStarted) / .seconds(1)
    write(
      "\r\u{1B}[K" + Self.text(name, done: done, of: total, from: begin, seconds: seconds))
    isDirty = true
  }

  /// `scan-1/scan-1.depth  45 % of 1.20 GB, 34.0 MB/s, 20 s left`.
  static func text(
    _ name: String, done: Int64, of total: Int64, from begin: Int64, seconds: Double
  ) -> String {
    let share = total > 0 ? Int(Double(done) / Double(total) * 100) : 100
    var text = "\(name.onOneLine)  \(share) % of \(ByteCount.text(total))"
    let rate = seconds > 0 ? Double(done - begin) / seconds : 0
    if rate >= 1, rate < 1e15 {
      text += ", \(ByteCount.text(Int64(rate)))/s"
      text += ", \(DurationText.estimated(Double(total - done) / rate)) left"
    }
    return text
  }

  func clear() {
    if isDirty { write("\r\u{1B}[K") }
    isDirty = false
  }

  private func write(_ text: String) {
    ErrorOutput.standard.write(Array(text.utf8))
  }
}
