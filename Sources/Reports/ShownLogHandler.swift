import Logging
import Storage

/// Wraps a log handler and escapes whatever a terminal would interpret in messages and values.
public struct ShownLogHandler<Base: LogHandler>: LogHandler {
  private var base: Base

  public init(_ base: Base) {
    self.base = base
  }

  public var logLevel: Logger.Level {
    get { base.logLevel }
    set { base.logLevel = newValue }
  }

  public var metadata: Logger.Metadata {
    get { base.metadata }
    set { base.metadata = newValue.mapValues(Self.shown) }
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { base[metadataKey: key] }
    set { base[metadataKey: key] = newValue.map(Self.shown) }
  }

  public func log(event: LogEvent) {
    var event = event
    event.message = "\("\(event.message)".onOneLine)"
    event.metadata = event.metadata.map { metadata in
      Dictionary(metadata.map { ($0.key.onOneLine, Self.shown($0.value)) }) { first, _ in first }
    }
    base.log(event: event)
  }

  private static func shown(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
    .string("\(value)".onOneLine)
  }
}
