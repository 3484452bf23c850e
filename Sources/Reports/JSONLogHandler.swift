import Logging
import Pipeline

/// Writes log lines as JSON objects, one per line: `level`, `message`, `time` and the metadata.
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
    var fields = metadata.merging(event.metadata ?? [:]) { _, new in new }.mapValues { "\($0)" }
    fields["level"] = event.level.rawValue
    fields["message"] = "\(event.message)"
    fields["time"] = time()
    guard let line = try? JSONText.canonical(fields) else { return }
    write(String(decoding: line, as: UTF8.self) + "\n")
  }
}
