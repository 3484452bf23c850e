import Core
import Pages
import Synchronization
import SystemPackage
import Glibc

/// Standard output for results, standard error (`ErrorOutput`) for everything else.
///
/// All printing goes through this type. Text may contain foreign names and messages, so everything
/// that a terminal would interpret is escaped (`String.shown`).
///
/// If a result cannot be written, the program has failed: the first error is stored and leads to
/// exit code 73. A closed pipe is not an error, because its reader needs no more.
enum Console {
  private static let failure = Mutex<Errno?>(nil)
  /// The progress display on standard error through which lines must be printed, if any.
  private static let display = Mutex<ProgressDisplay?>(nil)

  /// The first error on standard output, if any.
  static var outputFailure: Errno? { failure.withLock { $0 } }

  /// To be called first. Opens closed standard descriptors on `/dev/null`: otherwise the next opened
  /// file would get such a number, and output would be written into it. They are opened in the wrong
  /// direction, so that using them is an error.
  static func prepare() {
    ProgramStart.prepare()
    for (descriptor, flags) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ] where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // `open` returns the lowest free number, which is this one because all lower ones are open.
      _ = open("/dev/null", flags)
    }
  }

  /// Closes standard output, which can report delayed write errors. Prints and returns the first
  /// error.
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

  /// Columns of the terminal on standard output; 80 if there is none.
  static var outputColumns: Int {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col >= 20
    return isKnown ? Int(size.ws_col) : 80
  }

  static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  static func print(_ text: String) {
    write((text.hasSuffix("\n") ? text : text + "\n").shown)
  }

  static func print(json bytes: [UInt8]) {
    write(String(decoding: bytes, as: UTF8.self).shownAsJSON)
  }

  /// Prints a part of a text, consisting of whole characters, without adding a line end.
  static func print(piece bytes: [UInt8]) {
    write(String(decoding: bytes, as: UTF8.self).shown)
  }

  static func error(_ text: String) {
    if let display = display.withLock({ $0 }) {
      display.say(text)
    } else {
      progress(text.shown + "\n")
    }
  }

  /// Sends lines on standard error through `display` from now on, so that they do not mix with its
  /// output.
  static func shareErrors(with display: ProgressDisplay) {
    self.display.withLock { $0 = display }
  }

  /// Prints unchanged text, for lines that are redrawn. The caller must have escaped foreign text.
  static func progress(_ text: String) {
    ErrorOutput.standard.write(PathText.shown(Array(text.utf8)))
  }

  /// Writes a result, behind what was said before: both may go to one place.
  private static func write(_ text: String) {
    ErrorOutput.standard.flush()
    var rest = PathText.shown(Array(text.utf8))[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count <= 0 {
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN {
          // Another program made it non-blocking.
          var one = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
          _ = poll(&one, 1, 1000)
          continue
        }
        if errno != EPIPE { note(errno) }
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}
