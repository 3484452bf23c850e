import Core
import Glibc
import Synchronization

/// The size of a terminal, in characters.
public struct TerminalSize: Hashable, Sendable {
  var columns = 80
  var rows = 24

  /// That of the terminal on standard error now; the usual size if it is not known.
  public static var ofErrors: TerminalSize {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return TerminalSize() }
    return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }
}

/// Redrawn lines at the bottom of a terminal. Pure: returns the text to write.
struct TerminalLines {
  /// Width in columns of each line when it was drawn.
  private var widths: [Int] = []

  /// The text that clears the lines. In a window that has become narrower each takes more rows than
  /// before.
  mutating func clearing(_ size: TerminalSize) -> String {
    guard !widths.isEmpty else { return "" }
    let columns = max(1, size.columns)
    let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    widths = []
    // Rows that have scrolled out of the window cannot be reached.
    let up = min(rows, max(1, size.rows)) - 1
    return "\r" + (up > 0 ? "\u{1B}[\(up)A" : "") + "\u{1B}[J"
  }

  /// Usable columns of the last line, after which a terminal shows `^C`.
  static func lastColumns(_ size: TerminalSize) -> Int { max(size.columns - 3, 1) }

  /// The text that replaces the lines; lines that do not fit are cut.
  mutating func drawing(_ lines: [String], _ size: TerminalSize) -> String {
    let before = clearing(size)
    // The last column stays empty, because a terminal would wrap.
    let fitting = lines.enumerated().map { place, line in
      TextWidth.cut(
        line, to: place == lines.count - 1 ? Self.lastColumns(size) : max(size.columns - 1, 1))
    }
    widths = fitting.map { TextWidth.columns($0) }
    return before + fitting.joined(separator: "\n")
  }
}

/// Width of text in terminal columns.
enum TextWidth {
  /// Wide scripts and emoji take two columns, combining marks none. The text must not contain
  /// control characters.
  static func columns(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns($1) }
  }

  /// The longest prefix that fits, with `…` in its last column if cut.
  static func cut(_ text: String, to most: Int) -> String {
    guard columns(text) > most else { return text }
    guard most > 0 else { return "" }
    var used = 1
    var kept = ""
    for character in text {
      let width = columns(String(character))
      if used + width > most { break }
      used += width
      kept.append(character)
    }
    return kept + "…"
  }

  /// The text padded with blanks, or cut.
  static func fit(_ text: String, to count: Int) -> String {
    let cut = cut(text, to: count)
    return cut + String(repeating: " ", count: max(0, count - columns(cut)))
  }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar.value) ? 2 : 1
    }
  }

  /// Whether the scalar is in a wide block of Unicode's East Asian Width, roughly.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

/// One line on a terminal that tells what is looked at before work begins: shown at once or after some seconds, redrawn five times
/// per second at most, and removed at the end.
///
/// May be used from several threads.
public final class SearchProgress: Sendable {
  private struct State {
    var folders = 0
    var captures = 0
    var step: (words: String, done: Int, all: Int)?
    var beginSeconds: Double
    var drawnSeconds = -Double.infinity
    var isOpen = false
  }

  private static let secondsBetween = 0.2
  private let firstSeconds: Double
  private let state: Mutex<State>
  private let isShown: Bool
  private let nowSeconds: @Sendable () -> Double
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - isShown: whether there is a terminal to show it on; nothing is written otherwise.
  ///   - afterSeconds: how long nothing is shown: what is over by then needs no line.
  ///   - write: receives text for standard error.
  public init(
    isShown: Bool, afterSeconds: Double = 0, nowSeconds: @escaping @Sendable () -> Double,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.isShown = isShown
    firstSeconds = nowSeconds() + afterSeconds
    self.nowSeconds = nowSeconds
    self.write = write
    state = Mutex(State(beginSeconds: nowSeconds()))
  }

  /// Further folders that were looked at, and the captures that were found in them.
  public func looked(at folders: Int, found captures: Int) {
    draw { state in
      state.folders += folders
      state.captures += captures
    }
  }

  /// How far a step is that follows the search.
  ///
  /// - Parameter words: what is done, such as `making folders`.
  public func step(_ words: String, _ done: Int, of all: Int) {
    draw { state in
      if state.step?.words != words { state.beginSeconds = nowSeconds() }
      state.step = (words, max(done, state.step?.words == words ? state.step?.done ?? 0 : 0), all)
    }
  }

  /// Removes the line. It comes again with the next step.
  public func clear() {
    state.withLock { state in
      if state.isOpen { write("\r\u{1B}[K") }
      state.isOpen = false
    }
  }

  private func draw(_ change: (inout State) -> Void) {
    guard isShown else { return }
    state.withLock { state in
      change(&state)
      let now = nowSeconds()
      guard now >= firstSeconds, now - state.drawnSeconds >= Self.secondsBetween else { return }
      state.drawnSeconds = now
      state.isOpen = true
      write("\r\u{1B}[K" + Self.text(state, now - state.beginSeconds))
    }
  }

  private static func text(_ state: State, _ seconds: Double) -> String {
    let count = state.step?.done ?? state.folders
    let rate = seconds >= 1 ? Double(count) / seconds : nil
    let perSecond = rate.map { ", \(Int($0)) per second" } ?? ""
    guard let step = state.step else {
      return "looking for captures: \(state.captures) found in "
        + Plural.text(state.folders, "folder") + perSecond
    }
    let left = rate.map { $0 > 0 ? Double(step.all - step.done) / $0 : 0 }
    let rest = left.map { ", \(DurationText.estimated($0)) left" } ?? ""
    return "\(step.words): \(step.done) of \(step.all)\(perSecond)\(rest)"
  }
}
