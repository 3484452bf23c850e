import HummingbirdCore
import Logging
import NIOCore

/// Connections of HTTP/1, each of which is held until it is closed.
///
/// When the server ends, it drops connections that were accepted and wait to be served. The library ends the process
/// (`Deinited NIOAsyncWriter without calling finish()`) when one is dropped that is still open.
struct HeldConnections: ServerChildChannel {
  var http: HTTP1Channel

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    http.setup(channel: channel, logger: logger).map { value in
      channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
      return value
    }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    await http.handle(value: value, logger: logger)
  }
}
