import Core
import Glibc
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The server: accepts connections, checks who sends, and hands requests to the routes.
public final class Receiver: Sendable {
  private let settings: ReceiverSettings
  private let tokens: Mutex<TokenList?>
  private let onRecord: @Sendable (RequestRecord) -> Void
  private let work: StoreWork
  private let tally: ConnectionTally
  private let uploads: UploadRoutes
  private let views: ViewRoutes
  private let resumable: TusRoutes
  private let running = Mutex<(task: Task<Void, any Error>?, requests: Int, isEnding: Bool)>(
    (nil, 0, false))
  private let executor: (any TaskExecutor)?

  /// - Parameters:
  ///   - tokens: `nil` if anybody may upload.
  ///   - executor: where connections are served; `nil`: on the threads that all tasks of the process share.
  ///   - onRecord: told of each request when it is over.
  public init(
    _ store: UploadStore, settings: ReceiverSettings, tokens: TokenList? = nil,
    states: (any CaptureStates)? = nil, executor: (any TaskExecutor)? = nil,
    onRecord: @escaping @Sendable (RequestRecord) -> Void = { _ in }
  ) {
    var settings = settings
    settings.prefixes = ["/multiscan"] + settings.prefixes
    self.settings = settings
    self.tokens = Mutex(tokens)
    self.executor = executor
    self.onRecord = onRecord
    tally = ConnectionTally(settings)
    work = StoreWork(store)
    resumable = TusRoutes(work: work)
    uploads = UploadRoutes(work: work)
    views = ViewRoutes(work: work, states: states)
  }

  /// How many connections are open.
  var openConnections: Int { tally.open }

  /// Puts other tokens in place of those that are accepted.
  public func replaceTokens(_ list: TokenList) { tokens.withLock { $0 = list } }

  // MARK: Running

  public struct ListenError: Error, CustomStringConvertible {
    /// Another program has the address.
    public var isInUse: Bool
    public var description: String
  }

  /// Listens; returns the port once connections are accepted.
  public func start() async throws(ListenError) -> Int {
    let (tally, settings, metrics) = (tally, settings, work.metrics)
    let logger = Logger(label: "receive") { _ in SwiftLogNoOpLogHandler() }
    let http = HTTP1Channel(
      responder: { [weak self] request, writer, channel in
        guard let self else { return try await channel.close() }
        try await self.respond(request, writer, channel)
      },
      configuration: .init(
        additionalChannelHandlers: [ConnectionWatch(tally, settings, metrics)],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 200)))
    // When the server ends, it drops connections that were accepted and wait to be served. The library ends the process
    // (`Deinited NIOAsyncWriter without calling finish()`) when one is dropped that is still open: each is held until it
    // is closed.
    @Sendable func accept(_ channel: any Channel) -> EventLoopFuture<HTTP1Channel.Value> {
      http.setup(channel: channel, logger: logger).map { connection in
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(connection) {} }
        return connection
      }
    }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
    do {
      let server =
        if let socket = settings.inheritedSocket {
          try await bootstrap.bind(socket, childChannelInitializer: accept)
        } else {
          try await bootstrap.serverChannelOption(ChannelOptions.backlog, value: 256)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .bind(host: settings.host, port: settings.port, childChannelInitializer: accept)
        }
      tally.watch(server.channel)
      let task = Task(executorPreference: executor) {
        try await withThrowingDiscardingTaskGroup { group in
          try await server.executeThenClose { inbound in
            for try await connection in inbound {
              group.addTask { await http.handle(value: connection, logger: logger) }
            }
          }
        }
      }
      running.withLock { $0.task = task }
      return server.channel.localAddress?.port ?? 0
    } catch {
      let place =
        settings.inheritedSocket == nil
        ? "listen on \(settings.host):\(settings.port)" : "serve the socket that was handed over"
      throw ListenError(
        isInUse: (error as? IOError)?.errnoCode == EADDRINUSE,
        description: "cannot \(place): \(error)")
    }
  }

  /// Refuses what is new, gives uploads their grace, then cuts what is left.
  public func end(grace: Double? = nil) async {
    running.withLock { $0.isEnding = true }
    let limit = ContinuousClock.now + .seconds(grace ?? settings.grace)
    while work.store.snapshot().activeUploads > 0 || running.withLock({ $0.requests }) > 0,
      ContinuousClock.now < limit
    {
      try? await Task.sleep(for: .milliseconds(20))
    }
    let task = running.withLock { $0.task }
    task?.cancel()
    tally.closeAll()
    _ = await task?.result
    // Interrupted requests remove their parts.
    let last = ContinuousClock.now + .seconds(5)
    while running.withLock({ $0.requests }) > 0, ContinuousClock.now < last {
      try? await Task.sleep(for: .milliseconds(5))
    }
    await work.end()
  }

  // MARK: Requests

  private func respond(
    _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
  ) async throws {
    let started = ContinuousClock.now
    let time = work.store.now()
    let connection = try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: ConnectionWatch.self).state
    }.get()
    let isEnding = running.withLock { running in
      running.requests += 1
      return running.isEnding
    }
    defer { running.withLock { $0.requests -= 1 } }
    // Requests of a connection come one after the other.
    let number = connection.with { fields in
      fields.begun += 1
      return fields.begun
    }
    var body = BodyReader(request.body, connection, number: number)
    let target = RequestTarget(request.head.path ?? "/", prefixes: settings.prefixes)
    let (sender, isAllowed) = identify(request.head, target, connection.address)
    var exchange = Exchange(request: request.head, target: target, sender: sender)
    let answer: Answer
    do {
      if connection.with({ $0.isRefused }) { throw Answer.tooManyConnections }
      let isHealth = target.path == "/health"
      if isEnding, !isHealth {
        throw Answer.unavailable("the server is shutting down: try again later")
      }
      guard isAllowed || isHealth else {
        throw Answer.message(
          .unauthorized, "a token is needed: ask whoever runs this server", outcome: "no token"
        ).with("WWW-Authenticate", "Bearer")
      }
      // Files are stored as they come: one that is coded for the way would be stored coded.
      if let coding = exchange.coding {
        throw Answer.message(
          .unsupportedMediaType, "the body is coded (\(coding.onOneLine)): send the file as it is",
          outcome: "coded"
        ).with("Accept-Encoding", "identity")
      }
      switch try await plan(&exchange, isEnding: isEnding) {
      case .answer(let ready):
        answer = ready
      case .read(let read):
        connection.with { $0.writingSince = .now() }
        if exchange.expectsContinue {
          try? await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        connection.with { $0.writingSince = nil }
        answer = try await read(&body)
      }
    } catch {
      answer = .refusal(error)
    }
    // What is left of the body would have to be read before the next request, and may never come; where nothing is left,
    // the connection stays, for an app that uses it again.
    let closes =
      connection.with { number > $0.endsSeen || $0.isRefused } || isEnding
      || exchange.endsConnection
    let seconds = Double((ContinuousClock.now - started) / .milliseconds(1)) / 1000
    work.metrics.count(answer.status, bytes: body.bytes, seconds: seconds)
    onRecord(
      RequestRecord(
        time: UTCText.text(milliseconds: time / 1_000_000), sender: sender.onOneLine,
        method: request.method.rawValue.onOneLine, capture: exchange.capture.onOneLine,
        name: exchange.name.onOneLine, bytes: body.bytes, seconds: seconds,
        status: answer.status.code, outcome: answer.outcome))
    connection.with { $0.writingSince = .now() }
    defer { connection.with { $0.writingSince = nil } }
    try await writer.write(
      response: answer.head(closes: closes),
      body: ResponseBody(
        byteBuffer: ByteBuffer(bytes: request.method == .head ? [] : answer.body)))
    if closes {
      try? await channel.triggerUserOutboundEvent(ByteWatch.Linger()).get()
    }
  }

  /// Who sends, for notes and the log, and whether that is allowed.
  private func identify(
    _ head: HTTPRequest, _ target: RequestTarget, _ address: String
  ) -> (sender: String, isAllowed: Bool) {
    var address = address
    if settings.trustedProxies.contains(address), let name = HTTPField.Name("X-Forwarded-For"),
      let last = head.headerFields[name]?.split(separator: ",").last
    {
      let text = last.filter { $0 != " " }
      if !text.isEmpty, text.utf8.count <= 64 { address = String(text) }
    }
    guard let tokens = tokens.withLock({ $0 }) else { return (address, true) }
    var name = target.token.flatMap { tokens.name(of: $0) }
    if name == nil, let field = head.headerFields[.authorization] {
      let words = field.split(separator: " ")
      if words.count == 2, words[0].lowercased() == "bearer" {
        name = tokens.name(of: words[1].utf8)
      }
    }
    guard let name else { return (address, false) }
    return ("\(name) (\(address))", true)
  }

  // MARK: Routes

  private func plan(_ exchange: inout Exchange, isEnding: Bool) async throws -> Plan {
    let path = exchange.target.path
    let method = exchange.request.method
    let isReading = method == .get || method == .head
    if path.hasSuffix("upload"), method == .post,
      exchange.fields[.contentType]?.lowercased().hasPrefix("multipart/form-data") == true
    {
      return try UploadForm.plan(exchange, work)
    }
    switch path {
    case "/upload", "/upload/":
      guard method == .put || method == .post else { throw Self.notAllowed("PUT, POST") }
      return try await uploads.upload(&exchange)
    case "/verify", "/verify/":
      guard isReading else { throw Self.notAllowed("GET") }
      return .answer(try await uploads.verify(&exchange).readOnly())
    case "/health":
      return .answer(await views.health(isEnding: isEnding).readOnly())
    case "/metrics":
      return .answer(await views.metricsText().readOnly())
    case "/style.css":
      return .answer(views.style.readOnly())
    case "/icon.svg":
      return .answer(views.icon.readOnly())
    case "/" where isReading:
      if exchange.target.isBareBase {
        return .answer(views.toFolder(of: exchange.request.path ?? "/").readOnly())
      }
      return .answer(await views.page(exchange.target).readOnly())
    default: break
    }
    guard let parts = exchange.target.parts, let first = parts.first else {
      throw Self.unknownPath
    }
    if first == "tus" {
      return try await resumable.plan(&exchange, Array(parts.dropFirst()))
    }
    switch (first, parts.count) {
    case ("process", 2) where isReading:
      return .answer(try await uploads.process(parts[1], &exchange).readOnly())
    case ("captures", 1) where isReading:
      return .answer(await views.captures(exchange.target).readOnly())
    case ("captures", 2) where isReading:
      return .answer(await views.capture(parts[1]).readOnly())
    case ("reports", 2) where isReading:
      return .answer(await views.report(parts[1]))
    case ("captures", 3) where parts[2] == "complete" && method == .post:
      return uploads.complete(parts[1], &exchange)
    case ("captures", 4...) where parts[2] == "files" && method == .put:
      return try await uploads.put(
        parts[1], parts[3...].joined(separator: "/"), &exchange)
    default: throw Self.unknownPath
    }
  }

  private static let unknownPath = Answer.unknown("There is nothing at this address")

  private static func notAllowed(_ methods: String) -> Answer {
    .message(.methodNotAllowed, "use \(methods)", outcome: "method").with("Allow", methods)
  }
}

/// What a server does, as told on its command line. A limit of 0 is none.
public struct ReceiverSettings: Sendable {
  public var host = "127.0.0.1"
  /// 0 for any free one.
  public var port = 8000
  /// A socket that listens already, in place of host and port.
  public var inheritedSocket: Int32?
  /// Paths in front of everything, without a slash at the end; `/multiscan` is always one.
  public var prefixes: [String] = []
  public var maximumConnections = 256
  public var connectionsPerAddress = 64
  /// How many connections beyond these limits are open at a time, to be told so.
  var refusedConnections = 256
  /// Seconds until the header of a request must be there.
  public var headerTimeout = 30.0
  /// Seconds without a byte.
  public var idleTimeout = 60.0
  /// Bytes per second, over `rateWindow`.
  public var minimumRate: Int64 = 1024
  var rateWindow = 60.0
  /// Seconds that a connection may be idle between two requests.
  var keepAlive = 90.0
  /// Seconds after which a connection over which nothing is asked gives way to a new one, when there are too many.
  var yieldSeconds = 5.0
  /// After an early refusal: how much is read and dropped, and how long the connection stays, so that the answer arrives.
  var lingerBytes = 1 << 20
  var lingerSeconds = 2.0
  /// Seconds that uploads have after the server was told to end.
  public var grace = 30.0
  /// Addresses whose `X-Forwarded-For` is believed.
  public var trustedProxies: Set<String> = []

  public init() {}

  /// Whether only this machine can reach the address.
  public static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".")
    let isIPv4 = parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    return host == "localhost" || host == "::1" || isIPv4
  }
}
