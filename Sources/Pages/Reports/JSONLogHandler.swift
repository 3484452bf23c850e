import Logging
import Engine
import Core

/// Writes log lines as JSON objects, one per line: `level`, `message`, `time` and the metadata. What a terminal would
/// interpret is escaped everywhere, also in keys, which hold names of files.
public struct JSONLogHandler: LogHandler {
  public var logLevel = Logger.Level.info
  public var metadata: Logger.Metadata = [:]
  private let time: @Sendable () -> String
  private let write: @Sendable (String) -> Void

  /// `write` receives whole lines.
  public init(
    time: @escaping @Sendable () -> String, write: @escaping @Sendable (String) -> Void
  ) {
    self.time = time
    self.write = write
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
    _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]
  ) -> String {
    var fields = metadata.mapValues { "\($0)" }
    fields["level"] = level.rawValue
    fields["message"] = message
    fields["time"] = time()
    guard let line = try? JSONText.canonical(fields) else { return "" }
    return String(decoding: line, as: UTF8.self).shownAsJSON + "\n"
  }
}
