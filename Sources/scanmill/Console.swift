import Processes
import Reports
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Standard output for results, standard error for everything else.
///
/// The one place that prints. Whatever comes here may hold names and texts of others: what a terminal
/// would obey is escaped, also where nobody thought of it (`String.shown`).
///
/// A result that cannot be written is a failure of the program that was asked for it: the first error is
/// kept and makes the exit code 73. A closed pipe is none: who read it has read enough.
enum Console {
  private static let failure = Mutex<Errno?>(nil)
  /// What lines on standard error go through while it draws there.
  private static let display = Mutex<ProgressDisplay?>(nil)

  /// What kept a result from standard output, if anything has.
  static var outputFailure: Errno? { failure.withLock { $0 } }

  /// Before anything else is done: a closed pipe is an error to look at, not a signal; and a standard
  /// descriptor that is closed is opened on `/dev/null`, lest the next file that is opened gets its number
  /// and text for people lands in it. It is opened the wrong way round, so that a use of it is an error.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    DescriptorLimit.raise()
    for (descriptor, flags) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ] where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // The lowest free number: this one, since those below it are open by now.
      _ = open("/dev/null", flags)
    }
  }

  /// Closes standard output, which tells of errors that writing has not, and says what went wrong.
  static func closeOutput() -> Errno? {
    if close(STDOUT_FILENO) != 0, errno != EBADF, errno != EINTR { note(errno) }
    guard let found = outputFailure else { return nil }
    error("error: standard output: \(found): the result is not complete there")
    return found
  }

  private static func note(_ number: Int32) {
    failure.withLock { $0 = $0 ?? Errno(rawValue: number) }
  }

  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Of the terminal on standard error, now; one that does not say it has 80 columns and 24 rows.
  static var terminalSize: TerminalSize {
    var size = winsize()
    let isKnown =
      ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
    return isKnown
      ? TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
      : TerminalSize(columns: 80, rows: 24)
  }

  static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  static func print(_ text: String) {
    write((text.hasSuffix("\n") ? text : text + "\n").shown, to: STDOUT_FILENO)
  }

  static func print(json bytes: [UInt8]) {
    write(String(decoding: bytes, as: UTF8.self).shownAsJSON, to: STDOUT_FILENO)
  }

  /// A piece of a text, whole characters, without a line end of its own.
  static func print(piece bytes: [UInt8]) {
    write(String(decoding: bytes, as: UTF8.self).shown, to: STDOUT_FILENO)
  }

  static func error(_ text: String) {
    if let display = display.withLock({ $0 }) {
      display.say(text)
    } else {
      write(text.shown + "\n", to: STDERR_FILENO)
    }
  }

  /// From now on lines on standard error take the place of those that are drawn there.
  static func shareErrors(with display: ProgressDisplay) {
    self.display.withLock { $0 = display }
  }

  /// As it is, for lines that are drawn again: whoever draws has escaped what is not its own.
  static func progress(_ text: String) {
    write(text, to: STDERR_FILENO)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    write(PathText.shown(Array(text.utf8))[...], to: descriptor)
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 {
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN {
          wait(for: descriptor)
          continue
        }
        if descriptor == STDOUT_FILENO, errno != EPIPE { note(errno) }
        return
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Somebody made the descriptor non-blocking: waits until it takes more.
  private static func wait(for descriptor: Int32) {
    var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&one, 1, 1000)
  }
}
