import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// Counts connections, in all and by address, and closes them all in the end.
///
/// Beyond the limits, one that has rested for a while gives way to a new one; if none has, the new one is admitted only
/// to be told so. When as many of these are open as is allowed, no more are accepted until some have ended: the system keeps
/// them waiting, where closing them would look like a broken network.
final class ConnectionTally: Sendable {
  private struct Entry {
    var address: String
    var channel: any Channel
    var state: ConnectionState
    /// Whether it is served, and counted among those that are.
    var isServed: Bool
  }

  private struct Counts {
    var entries: [ObjectIdentifier: Entry] = [:]
    var served = 0
    var servedByAddress: [String: Int] = [:]
    var listener: (any Channel)?
    var isPaused = false
    var isEnded = false

    mutating func countServed(_ address: String, _ change: Int) {
      served += change
      let count = servedByAddress[address, default: 0] + change
      servedByAddress[address] = count > 0 ? count : nil
    }
  }

  private let counts = Mutex(Counts())
  private let most: Int
  private let mostPerAddress: Int
  private let exempt: Set<String>
  private let yields: TimeAmount
  private let mostRefused: Int

  init(_ settings: ReceiverSettings) {
    most = settings.maximumConnections
    mostPerAddress = settings.connectionsPerAddress
    exempt = settings.trustedProxies
    mostRefused = settings.refusedConnections
    yields = .nanoseconds(Int64(settings.yieldSeconds * 1e9))
  }

  /// From now on `listener` stops accepting while too many connections wait to be refused.
  func watch(_ listener: any Channel) { counts.withLock { $0.listener = listener } }

  /// Whether no more are accepted: those that are to be refused must end soon.
  var isPaused: Bool { counts.withLock { $0.isPaused } }

  var open: Int { counts.withLock { $0.entries.count } }

  /// Returns whether the connection is served.
  func enter(_ state: ConnectionState, _ channel: any Channel) -> Bool {
    let (isServed, closing) = counts.withLock { counts -> (Bool, (any Channel)?) in
      let address = state.address
      let isAlone =
        mostPerAddress > 0 && !exempt.contains(address)
        && counts.servedByAddress[address, default: 0] >= mostPerAddress
      let isFull = isAlone || most > 0 && counts.served >= most
      let yielding = isFull ? restingLongest(counts, of: isAlone ? address : nil) : nil
      if let yielding, let entry = counts.entries[yielding] {
        counts.entries[yielding]?.isServed = false
        counts.countServed(entry.address, -1)
      }
      let isServed = !isFull || yielding != nil
      counts.entries[ObjectIdentifier(channel as AnyObject)] = Entry(
        address: address, channel: channel, state: state, isServed: isServed)
      if isServed { counts.countServed(address, 1) }
      pauseOrGoOn(&counts)
      return (isServed, counts.isEnded ? channel : yielding.flatMap { counts.entries[$0]?.channel })
    }
    // Later: the channel itself is being made.
    if let closing { closing.eventLoop.execute { closing.close(promise: nil) } }
    return isServed
  }

  func leave(_ channel: any Channel) {
    counts.withLock { counts in
      let entry = counts.entries.removeValue(forKey: ObjectIdentifier(channel as AnyObject))
      if let entry, entry.isServed { counts.countServed(entry.address, -1) }
      pauseOrGoOn(&counts)
    }
  }

  /// Cost: a look at every connection.
  private func restingLongest(_ counts: Counts, of address: String?) -> ObjectIdentifier? {
    var found: (id: ObjectIdentifier, since: NIODeadline)?
    let latest = NIODeadline.now() - yields
    for (id, entry) in counts.entries where entry.isServed {
      guard address == nil || address == entry.address,
        let since = entry.state.with({ $0.restingSince }), since <= latest,
        found.map({ since < $0.since }) ?? true
      else { continue }
      found = (id, since)
    }
    return found?.id
  }

  private func pauseOrGoOn(_ counts: inout Counts) {
    let isPaused = counts.entries.count - counts.served >= mostRefused
    guard isPaused != counts.isPaused, let listener = counts.listener else { return }
    counts.isPaused = isPaused
    // Later, and as it is then: connections that are accepted come here.
    listener.eventLoop.execute { [self] in
      _ = listener.setOption(ChannelOptions.autoRead, value: !self.isPaused)
    }
  }

  /// Closes every connection, whatever goes on there, and those that come from now on.
  func closeAll() {
    let entries = counts.withLock { counts in
      counts.isEnded = true
      return counts.entries
    }
    for entry in entries.values { entry.channel.close(promise: nil) }
  }
}

/// Counts requests and answers behind the parser of HTTP, and answers in JSON what the parser refuses.
final class ConnectionWatch: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private(set) var state = ConnectionState(address: "unknown")
  private let tally: ConnectionTally
  private let settings: ReceiverSettings
  private let metrics: ReceiverMetrics

  init(_ tally: ConnectionTally, _ settings: ReceiverSettings, _ metrics: ReceiverMetrics) {
    self.tally = tally
    self.settings = settings
    self.metrics = metrics
  }

  func handlerAdded(context: ChannelHandlerContext) {
    state = ConnectionState(address: context.remoteAddress?.ipAddress ?? "unknown")
    let watch = ByteWatch(state, tally, settings, metrics)
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
    let isTooLarge = error as? HTTPParserError == .headerOverflow
    if case .invalidEOFState? = error as? HTTPParserError {
      return context.close(promise: nil)
    }
    let answer =
      isTooLarge
      ? Answer.message(.requestHeaderFieldsTooLarge, "the header of the request is too large")
      : Answer.message(.badRequest, "this is not a request that HTTP/1.1 allows")
    metrics.countRefused(answer.status)
    context.write(wrapOutboundOut(.head(answer.head(closes: true))), promise: nil)
    context.write(
      wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: answer.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.triggerUserOutboundEvent(ByteWatch.Linger(), promise: nil)
  }
}
