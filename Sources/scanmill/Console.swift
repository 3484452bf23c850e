#if canImport(Glibc)
  import Glibc
#endif

/// Standard output for results, standard error for everything else.
enum Console {
  /// Whether standard error is a terminal, and how wide.
  static var terminalColumns: Int? {
    guard isatty(STDERR_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  static func print(_ text: String) {
    write(text.hasSuffix("\n") ? text : text + "\n", to: STDOUT_FILENO)
  }

  static func print(json bytes: [UInt8]) {
    write(String(decoding: bytes, as: UTF8.self), to: STDOUT_FILENO)
  }

  /// As they are.
  static func print(bytes: [UInt8]) {
    write(bytes[...], to: STDOUT_FILENO)
  }

  static func error(_ text: String) {
    write(text + "\n", to: STDERR_FILENO)
  }

  /// As it is, for a line that is drawn again.
  static func progress(_ text: String) {
    write(text, to: STDERR_FILENO)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    write(Array(text.utf8)[...], to: descriptor)
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 {
        if count < 0, errno == EINTR { continue }
        return  // A closed pipe: nobody listens.
      }
      rest = rest.dropFirst(count)
    }
  }
}
