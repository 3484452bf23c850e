import Captures
import Logging
import Engine

/// Writes the events of a run as log lines with structured metadata.
public struct EventLog: EventSink {
  private let logger: Logger

  public init(_ logger: Logger) {
    self.logger = logger
  }

  public func send(_ event: RunEvent) {
    logger.log(level: Self.level(of: event), "\(event.kind.rawValue)", metadata: metadata(event))
  }

  private static func level(of event: RunEvent) -> Logger.Level {
    switch event.kind {
    case .progress: .trace
    case .retried, .stopping, .blocked, .waiting, .locksNotShared: .warning
    case .finished where event.outcome == .failed: .error
    default: .info
    }
  }

  private func metadata(_ event: RunEvent) -> Logger.Metadata {
    var metadata: Logger.Metadata = [:]
    metadata["capture"] = event.capture.map { "\($0)" }
    metadata["stage"] = event.stage.map { "\($0)" }
    metadata["action"] = event.action.map { "\($0.rawValue)" }
    metadata["outcome"] = event.outcome.map { "\($0.rawValue)" }
    metadata["reason"] = event.reason.map { "\($0.rawValue)" }
    metadata["message"] = event.message.map { "\($0)" }
    metadata["cause"] = event.cause.map { "\($0.rawValue)" }
    metadata["seconds"] = event.seconds.map { "\($0)" }
    metadata["frames"] = event.frames.map { "\($0)" }
    for warning in event.warnings ?? [] {
      metadata["\(warning.severity.rawValue).\(warning.code.rawValue).\(warning.subject)"] =
        "\(warning.count)"
    }
    return metadata
  }
}
