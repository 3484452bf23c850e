import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Counts requests and answers behind the parser of HTTP, and answers in JSON what the parser refuses.
final class ConnectionWatch: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private(set) var state = ConnectionState(address: "unknown")
  private let tally: ConnectionTally
  private let settings: ReceiverSettings
  private let onRefusal: @Sendable (Int, String) -> Void

  init(
    _ tally: ConnectionTally, _ settings: ReceiverSettings,
    onRefusal: @escaping @Sendable (Int, String) -> Void
  ) {
    self.tally = tally
    self.settings = settings
    self.onRefusal = onRefusal
  }

  func handlerAdded(context: ChannelHandlerContext) {
    state = ConnectionState(address: context.remoteAddress?.ipAddress ?? "unknown")
    let watch = ByteWatch(state, tally, settings, onRefusal: onRefusal)
    do {
      try context.pipeline.syncOperations.addHandler(watch, position: .first)
    } catch {
      context.close(promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    state.with { state in
      switch unwrapInboundIn(data) {
      case .head:
        state.headsSeen += 1
        state.headerSince = nil
        state.samples = []
      case .body: break
      case .end: state.endsSeen += 1
      }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      state.with { state in
        state.answered += 1
        state.idleSince = .now()
      }
    }
    context.write(data, promise: promise)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let (isLingering, isAnswering) = state.with {
      ($0.isLingering, $0.headsSeen > $0.answered)
    }
    if isLingering { return }
    // While a request is answered, its handler gets the error.
    guard error is HTTPParserError, !isAnswering else { return context.fireErrorCaught(error) }
    let isTooLarge = (error as? HTTPParserError).map { $0 == .headerOverflow } ?? false
    if case .invalidEOFState? = error as? HTTPParserError {
      return context.close(promise: nil)
    }
    let answer =
      isTooLarge
      ? Answer.message(
        .requestHeaderFieldsTooLarge, "the header of the request is too large", closes: true)
      : Answer.message(.badRequest, "this is not a request that HTTP/1.1 allows", closes: true)
    onRefusal(answer.status.code, state.address)
    var head = HTTPResponse(status: answer.status, headerFields: answer.fields)
    head.headerFields[.contentLength] = "\(answer.body.count)"
    head.headerFields[.connection] = "close"
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(
      wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: answer.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.triggerUserOutboundEvent(ByteWatch.Linger(), promise: nil)
  }
}
