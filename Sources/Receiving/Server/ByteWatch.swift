import NIOCore
import Synchronization

/// The first handler of a connection: counts its bytes, closes it when a header or a body takes too
/// long, and reads on for a moment after an early refusal, so that the answer reaches the client.
final class ByteWatch: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// Asks the connection to end once the client had time to read the answer.
  struct Linger {}

  private let state: ConnectionState
  private let tally: ConnectionTally
  private let settings: ReceiverSettings
  private let metrics: ReceiverMetrics
  private var hasEntered = false
  private var looks: RepeatedTask?
  private var lastLook = NIODeadline.now()
  private var dropped = 0

  init(
    _ state: ConnectionState, _ tally: ConnectionTally, _ settings: ReceiverSettings,
    _ metrics: ReceiverMetrics
  ) {
    self.state = state
    self.tally = tally
    self.settings = settings
    self.metrics = metrics
  }

  func handlerAdded(context: ChannelHandlerContext) {
    hasEntered = true
    if !tally.enter(state, context.channel) { state.with { $0.isRefused = true } }
    let shortest = min(
      settings.headerTimeout > 0 ? settings.headerTimeout : 60,
      settings.idleTimeout > 0 ? settings.idleTimeout : 60, settings.rateWindow)
    let step = TimeAmount.milliseconds(Int64(max(10, min(1000, shortest * 1000 / 4))))
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    looks = context.eventLoop.scheduleRepeatedTask(initialDelay: step, delay: step) { _ in
      let (watch, context) = bound.value
      watch.look(context, step: step)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave(context) }

  func channelInactive(context: ChannelHandlerContext) {
    leave(context)
    context.fireChannelInactive()
  }

  private func leave(_ context: ChannelHandlerContext) {
    looks?.cancel()
    looks = nil
    guard hasEntered else { return }
    hasEntered = false
    tally.leave(context.channel)
  }

  // MARK: Bytes

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    let isLingering = state.with { state in
      state.bytes += Int64(count)
      state.lastByte = .now()
      if state.headsSeen == state.endsSeen, state.headerSince == nil { state.headerSince = .now() }
      return state.isLingering
    }
    guard isLingering else { return context.fireChannelRead(data) }
    dropped += count
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if state.with({ $0.isLingering }) {
      read(context: context)
    } else {
      context.fireChannelReadComplete()
    }
  }

  /// Once enough was dropped nothing more is read, and the connection stays until its time is over: closed at once, with
  /// bytes that were not read, it would be reset, and a sender or a proxy that is busy with sending loses the answer.
  func read(context: ChannelHandlerContext) {
    if state.with({ $0.isLingering }), dropped > settings.lingerBytes { return }
    context.read()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent, state.with({ $0.isLingering }) {
      return context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Linger else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    promise?.succeed()
    if state.with({ fields in
      defer { fields.isLingering = true }
      return fields.isLingering
    }) {
      return
    }
    context.flush()
    context.close(mode: .output, promise: nil)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: .milliseconds(Int64(settings.lingerSeconds * 1000))) {
      bound.value.close(promise: nil)
    }
    context.read()
  }

  // MARK: Time

  private enum Verdict {
    case goesOn, close
    /// Tells that there are too many connections.
    case refuse
    case fail(UploadRefusal)
  }

  /// After so many steps without a look, process or machine slept.
  private static let stepsOfSleep: Int64 = 4

  private func look(_ context: ChannelHandlerContext, step: TimeAmount) {
    let now = NIODeadline.now()
    let passed = now - lastLook
    lastLook = now
    if passed > step * Self.stepsOfSleep { state.with { $0.leaveOut(passed) } }
    let isPaused = state.with { $0.isRefused } && tally.isPaused
    switch state.with({ verdict(of: &$0, now, step, isPaused) }) {
    case .goesOn: break
    case .close: context.close(promise: nil)
    case .refuse:
      let answer = Answer.tooManyConnections
      metrics.countRefused(answer.status)
      context.write(
        wrapOutboundOut(.byteBuffer(ByteBuffer(bytes: answer.wireBytes))), promise: nil)
      triggerUserOutboundEvent(context: context, event: Linger(), promise: nil)
    case .fail(let error): context.fireErrorCaught(error)
    }
  }

  /// Every connection over which nothing is answered has a limit, whatever it is that does not come.
  private func verdict(
    of state: inout ConnectionState.Fields, _ now: NIODeadline, _ step: TimeAmount, _ isPaused: Bool
  ) -> Verdict {
    func isOver(_ since: NIODeadline, _ seconds: Double) -> Bool {
      seconds > 0 && (now - since).nanoseconds >= Int64(seconds * 1e9)
    }
    // A lingering connection ends by itself.
    if state.isLingering { return .goesOn }
    guard state.isAnswering else {
      if state.isRefused {
        let patience = isPaused ? settings.lingerSeconds / 2 : settings.headerTimeout
        return isOver(state.idleSince, patience) ? .refuse : .goesOn
      }
      if let since = state.headerSince {
        return isOver(since, settings.headerTimeout) ? .close : .goesOn
      }
      let patience =
        state.answered == 0
        ? settings.headerTimeout : max(settings.keepAlive, settings.idleTimeout)
      // A request that is not taken up yet counts from its last byte.
      let since = state.headsSeen > state.answered ? state.lastByte : state.idleSince
      return isOver(since, patience) ? .close : .goesOn
    }
    if let since = state.writingSince {
      return isOver(since, settings.idleTimeout) ? .close : .goesOn
    }
    guard state.endsSeen < state.begun, let since = state.waitingSince else { return .goesOn }
    if isOver(max(since, state.lastByte), settings.idleTimeout) { return .fail(.stalled) }
    guard settings.minimumRate > 0 else { return .goesOn }
    state.samples.append(state.bytes)
    let needed = Int(settings.rateWindow * 1e9) / Int(step.nanoseconds) + 1
    if state.samples.count > needed {
      state.samples.removeFirst(state.samples.count - needed)
      let came = state.bytes - (state.samples.first ?? 0)
      if Double(came) < Double(settings.minimumRate) * settings.rateWindow { return .fail(.slow) }
    }
    return .goesOn
  }
}

/// What is known of one connection, shared by its handlers and by whoever answers its requests.
final class ConnectionState: Sendable {
  struct Fields {
    var bytes: Int64 = 0
    var lastByte = NIODeadline.now()
    /// Requests that were handed to whoever answers them.
    var begun = 0
    var headsSeen = 0
    var endsSeen = 0
    var answered = 0
    /// When the first byte of a header came; `nil` between requests.
    var headerSince: NIODeadline?
    /// Since when nothing was asked.
    var idleSince = NIODeadline.now()
    /// Whether a route waits for bytes of a body, and since when.
    var waitingSince: NIODeadline?
    /// Bytes at each look while one waited.
    var samples: [Int64] = []
    /// Since when an answer is being written.
    var writingSince: NIODeadline?
    var isLingering = false
    /// Whether there are too many connections already.
    var isRefused = false

    /// Whether a request was handed to whoever answers, and the answer is not written.
    var isAnswering: Bool { begun > answered }

    /// Since when nothing is asked or answered, apart from a header that does not end.
    var restingSince: NIODeadline? {
      headsSeen > answered || isLingering ? nil : max(idleSince, headerSince ?? idleSince)
    }

    /// This process, or its machine, has slept: time in which nothing could be read is not held against the other side.
    mutating func leaveOut(_ slept: TimeAmount) {
      let now = NIODeadline.now()
      func later(_ time: NIODeadline) -> NIODeadline { min(time + slept, now) }
      lastByte = later(lastByte)
      idleSince = later(idleSince)
      headerSince = headerSince.map(later)
      waitingSince = waitingSince.map(later)
      writingSince = writingSince.map(later)
      samples = []
    }
  }

  let address: String
  private let fields = Mutex(Fields())

  /// - Parameter address: of the other side. A socket for both kinds tells `192.0.2.7` as `::ffff:192.0.2.7`; it is noted as
  ///   people write it, in lists of addresses too.
  init(address: String) {
    let mark = "::ffff:"
    let rest = address.dropFirst(mark.utf8.count)
    self.address = address.hasPrefix(mark) && rest.contains(".") ? String(rest) : address
  }

  func with<Result: Sendable>(_ body: (inout Fields) -> Result) -> Result {
    fields.withLock { body(&$0) }
  }
}
