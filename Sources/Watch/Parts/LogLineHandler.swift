import Engine
import Logging
import Core
import SystemPackage
import Glibc

/// Log lines for people and services: to the journal with the priority that `journalctl -p` and `-o` know, without
/// a time, since it has its own; to anything else with time and level, as text or as JSON.
///
/// Whatever controls a terminal or makes one line look like two is shown escaped, also in keys, which hold names of
/// files.
public struct LogLineHandler: LogHandler {
  public enum Style: Sendable {
    /// `<4>message`, as in `sd-daemon(3)`.
    case journal
    /// `2026-11-20T22:00:00.000Z warning: message key=value …`.
    case plain
    /// An object: `level`, `message`, `time` and the metadata.
    case json
  }

  public var logLevel = Logger.Level.info
  public var metadata: Logger.Metadata = [:]
  private let style: Style
  private let time: @Sendable () -> String
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - write: takes whole lines.
  public init(
    _ style: Style, time: @escaping @Sendable () -> String,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.style = style
    self.time = time
    self.write = write
  }

  /// `.journal` when the environment says that standard error is the journal, and it is: a program that
  /// was started by a service may have been given another one.
  public static func style(
    environment: [String: String], descriptor: Int32 = STDERR_FILENO
  ) -> Style {
    guard let stream = environment["JOURNAL_STREAM"],
      let found = try? FileStatus(FileDescriptor(rawValue: descriptor)),
      stream == "\(found.device):\(found.inode)"
    else { return .plain }
    return .journal
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    let fields = metadata.merging(event.metadata ?? [:]) { _, new in new }
    write(line(event.level, "\(event.message)", fields))
  }

  /// A whole line.
  public func line(
    _ level: Logger.Level, _ message: String, _ fields: Logger.Metadata = [:]
  ) -> String {
    if case .json = style { return json(level, message, fields) }
    let words =
      [message.onOneLine]
      + fields.sorted { $0.key < $1.key }.map { "\($0.key.onOneLine)=\(Self.value($0.value))" }
    let line = words.joined(separator: " ") + "\n"
    if case .journal = style { return "<\(Self.priority(level))>" + line }
    return "\(time()) \(level.rawValue): " + line
  }

  private func json(
    _ level: Logger.Level, _ message: String, _ fields: Logger.Metadata
  ) -> String {
    var members = fields.mapValues { "\($0)" }
    (members["level"], members["message"], members["time"]) = (level.rawValue, message, time())
    guard let line = try? JSONText.canonical(members) else { return "" }
    return String(decoding: line, as: UTF8.self).shownAsJSON + "\n"
  }

  /// Quoted where it would not be told from what follows.
  private static func value(_ value: Logger.Metadata.Value) -> String {
    let text = "\(value)".onOneLine
    guard text.isEmpty || text.contains(where: { " \"=".contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\\\"") + "\""
  }

  /// Priority as in `syslog(3)`, from LOG_ERR to LOG_DEBUG.
  static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .critical, .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}
