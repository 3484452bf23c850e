import CPlatform
import Core
import Synchronization
import Glibc

/// Tells the service manager (systemd) how the program stands: the protocol of `sd_notify(3)`, datagrams to
/// the socket that `NOTIFY_SOCKET` names. Does nothing where there is none.
///
/// Never waits longer than a second and never fails: a service manager that does not listen must not keep
/// captures from being processed.
final class SystemdNotifier: Sendable {
  /// What a service manager says to the program that it started, and to no child of that.
  static let variables = [
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    "FDSTORE",
  ]

  private let descriptor: Int32
  /// The last status, and when it was told, on the monotonic clock.
  private let told = Mutex<(line: String, seconds: Int)>(("", 0))
  private let address: [UInt8]

  /// How often the service manager must hear `alive()`, else it ends the program; `nil`: it does not ask.
  /// Half of this is a good pause between two calls.
  let watchdogSeconds: Double?

  /// Whether there is a listener.
  var isPresent: Bool { descriptor >= 0 }

  /// The notifier of this process, whose children do not see the variables from now on. To be called at the start,
  /// before there are threads that read variables.
  static func ofThisProcess() -> SystemdNotifier {
    let manager = SystemdNotifier(environment: ProcessOrder.currentEnvironment)
    for variable in variables { unsetenv(variable) }
    return manager
  }

  init(environment: [String: String], process: pid_t = getpid()) {
    address = environment["NOTIFY_SOCKET"].flatMap(Self.address) ?? []
    descriptor =
      address.isEmpty ? -1 : socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let isMeant = environment["WATCHDOG_PID"].map { pid_t($0) == process } ?? true
    let micros = environment["WATCHDOG_USEC"].flatMap { UInt64($0) } ?? 0
    watchdogSeconds = descriptor >= 0 && isMeant && micros > 0 ? Double(micros) / 1e6 : nil
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// `environment` without the variables that are not for children.
  static func withoutVariables(_ environment: [String: String]) -> [String: String] {
    environment.filter { !variables.contains($0.key) }
  }

  // MARK: What is told

  /// The program has started, or has read its settings again.
  func ready() { send("READY=1", waits: true) }

  /// One line about what it does, shown by `systemctl status`. Control characters are shown escaped. The
  /// same line is told once a minute at most.
  func status(_ text: String) {
    let line = "STATUS=" + Self.shortened(text.onOneLine)
    let seconds = Int(MonotonicClock.nanoseconds() / 1_000_000_000)
    let isNew = told.withLock { told in
      if told.line == line, seconds - told.seconds < 60 { return false }
      told = (line, seconds)
      return true
    }
    if isNew { send(line) }
  }

  /// Settings are read again; `ready()` follows.
  func reloading() {
    let micros = MonotonicClock.nanoseconds() / 1000
    send("RELOADING=1\nMONOTONIC_USEC=\(micros)", waits: true)
  }

  /// The program is about to end.
  func stopping() { send("STOPPING=1", waits: true) }

  /// Tells that the program goes on: to be called from the loop that does the work, at least every `watchdogSeconds`.
  func alive() { send("WATCHDOG=1") }

  // MARK: Sending

  /// systemd takes no message above 4,096 bytes (`NOTIFY_BUFFER_MAX`): one that is too long would be lost.
  private static func shortened(_ text: String) -> String {
    let most = 1024
    guard text.utf8.count > most else { return text }
    var short = ""
    var bytes = 0
    for character in text {
      bytes += character.utf8.count
      guard bytes < most else { break }
      short.append(character)
    }
    return short + "…"
  }

  /// A `sockaddr_un`: the family, then a path, or a name without a file where the text begins with `@`.
  /// `nil` for other kinds of sockets and for what is too long.
  private static func address(_ text: String) -> [UInt8]? {
    var name = PathText.bytes(of: text)
    guard name.count > 1, name.count < 108, !name.contains(0) else { return nil }
    switch name[0] {
    case UInt8(ascii: "@"): name[0] = 0
    case UInt8(ascii: "/"): name.append(0)
    default: return nil
    }
    return withUnsafeBytes(of: sa_family_t(AF_UNIX), Array.init) + name
  }

  /// Sends a message. A repeated one may be lost without a reader; one with `waits` waits up to a second.
  private func send(_ message: String, waits: Bool = false) {
    guard descriptor >= 0 else { return }
    let bytes = Array(message.utf8)
    address.withUnsafeBytes { address in
      guard let place = address.baseAddress else { return }
      repeat {
        let sent = sendto(
          descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT)),
          place.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
        guard sent < 0, errno == EINTR else { return }
      } while true
    }
  }
}
