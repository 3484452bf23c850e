import Foundation
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Receiving

/// A server in this process, over a store in a folder of its own.
final class ServerScene: Sendable {
  let folder: TemporaryFolder
  let store: UploadStore
  let port: Int
  private let receiver: Receiver
  private let log: Log

  final class Log: Sendable {
    private let list = Mutex<[RequestRecord]>([])
    func add(_ record: RequestRecord) { list.withLock { $0.append(record) } }
    var records: [RequestRecord] { list.withLock { $0 } }
  }

  private init(
    _ settings: ReceiverSettings, _ limits: UploadLimits, _ tokens: TokenList?,
    _ states: (any CaptureStates)?, _ files: any StagingFiles
  ) async throws {
    folder = try TemporaryFolder()
    store = try UploadStore(at: folder.path.appending("staging"), limits: limits, files: files)
    let log = Log()
    self.log = log
    var settings = settings
    settings.port = 0
    // The machine may be busy for a minute, and a time limit that no test is about must not end a connection meanwhile.
    let standard = ReceiverSettings()
    if settings.headerTimeout == standard.headerTimeout { settings.headerTimeout = 3000 }
    if settings.idleTimeout == standard.idleTimeout { settings.idleTimeout = 3000 }
    if settings.keepAlive == standard.keepAlive { settings.keepAlive = 3000 }
    if settings.minimumRate == standard.minimumRate { settings.minimumRate = 0 }
    receiver = Receiver(
      store, settings: settings, tokens: tokens, states: states, executor: serverThreads
    ) { log.add($0) }
    port = try await receiver.start()
  }

  /// Runs a server while `body` talks to it, on a thread of its own: its calls wait for sockets.
  static func run(
    _ settings: ReceiverSettings = ReceiverSettings(),
    limits: UploadLimits = ServerScene.limits, tokens: TokenList? = nil,
    states: (any CaptureStates)? = nil, files: any StagingFiles = SystemStagingFiles(),
    _ body: @escaping @Sendable (ServerScene) throws -> Void
  ) async throws {
    let scene = try await ServerScene(settings, limits, tokens, states, files)
    let result = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: Result { try body(scene) })
      }
    }
    await scene.receiver.end(grace: 0)
    scene.store.close()
    try result.get()
  }

  static var limits: UploadLimits {
    var limits = UploadLimits()
    limits.reserve = 0
    return limits
  }

  var path: FilePath { folder.path.appending("staging") }
  var records: [RequestRecord] { log.records }
  var openConnections: Int { receiver.openConnections }

  func connect() throws -> RawConnection { try RawConnection(port: port) }

  /// One request on a connection of its own.
  func ask(_ text: String) throws -> RawConnection.Answer? {
    let connection = try connect()
    connection.send(text)
    return connection.answer(toHead: text.hasPrefix("HEAD "))
  }

  func get(_ target: String) throws -> RawConnection.Answer? {
    try ask("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
  }

  /// As the ScanNet app sends it.
  static func upload(_ name: String, _ content: String, path: String = "/upload") -> String {
    "PUT \(path) HTTP/1.1\r\nHost: h\r\nFILE_NAME: \(name)\r\n"
      + "Content-Type: application/ipad_scanner_data\r\nContent-Length: \(content.utf8.count)\r\n\r\n"
      + content
  }

  func send(_ name: String, _ content: String, path: String = "/upload") throws
    -> RawConnection.Answer?
  {
    try ask(Self.upload(name, content, path: path))
  }

  /// Files in STAGING without what has a leading dot.
  func contents() throws -> [String: String] {
    var found: [String: String] = [:]
    for folder in try FileSystem.names(in: path)
    where !folder.hasPrefix(".") {
      let inner = path.appending(folder)
      for name in try FileSystem.names(in: inner)
      where !name.hasPrefix(".") {
        let bytes = inner.appending(name).contents
        found["\(folder)/\(name)"] = bytes.map { String(decoding: $0, as: UTF8.self) }
      }
    }
    return found
  }

  func leftovers() throws -> [String] {
    try FileSystem.names(in: path.appending(".incoming"))
  }

  /// The server notices the end of a connection a moment later.
  func waitForNoLeftovers() throws {
    try Waiting.until("no part of an upload") { try leftovers().isEmpty }
  }
}

/// Between a client and a receiver: hands on the bytes of both, and notes them in their order. What is noted of a request
/// stands before what is noted of its answer.
final class RecordingRelay: Sendable {
  enum Side: Sendable { case client, receiver }

  enum Entry: Sendable, Equatable {
    case bytes(Side, [UInt8])
    /// A sentence between them.
    case remark(String)
  }

  /// That the client connects to.
  var port: Int { listener.port }
  private let listener: LoopbackListener
  private let target: Int
  private let list = Mutex<[Entry]>([])
  private let ended = Mutex(0)

  /// - Parameter target: the port of the receiver.
  init(to target: Int) throws {
    listener = try LoopbackListener()
    self.target = target
    listener.start { [self] in hand($0) }
  }

  /// Takes no more connections. Those that are open end with their client.
  func end() { listener.end() }

  /// What was noted, neighbors of one side in one piece.
  var entries: [Entry] {
    list.withLock { list in
      var merged: [Entry] = []
      for entry in list {
        if case .bytes(let side, let more) = entry, case .bytes(side, let before)? = merged.last {
          merged[merged.count - 1] = .bytes(side, before + more)
        } else {
          merged.append(entry)
        }
      }
      return merged
    }
  }

  /// How many clients have ended their connection. The receiver then has all that they sent, and their end.
  var endedClients: Int { ended.withLock { $0 } }

  func remark(_ sentence: String) { list.withLock { $0.append(.remark(sentence)) } }

  private func hand(_ client: Int32) {
    let receiver = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = LoopbackListener.address(target)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(receiver, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(client)
      close(receiver)
      return
    }
    // The last of both directions closes.
    let ends = Ends(client: client, receiver: receiver)
    let count = Counter(2)
    for side in [Side.client, .receiver] {
      Thread.detachNewThread { [self] in
        copy(of: side, ends)
        if count.isLast() {
          close(client)
          close(receiver)
        }
      }
    }
  }

  private final class Ends: Sendable {
    let client: Int32
    let receiver: Int32
    /// What the receiver says after its client has gone is heard by no client, and not noted.
    let isClientGone = Mutex(false)

    init(client: Int32, receiver: Int32) {
      (self.client, self.receiver) = (client, receiver)
    }
  }

  private final class Counter: Sendable {
    private let left: Mutex<Int>
    init(_ count: Int) { left = Mutex(count) }
    func isLast() -> Bool {
      left.withLock {
        $0 -= 1
        return $0 == 0
      }
    }
  }

  private func copy(of side: Side, _ ends: Ends) {
    let (from, to) =
      side == .client ? (ends.client, ends.receiver) : (ends.receiver, ends.client)
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &piece, piece.count, 0)
      guard count > 0 else { break }
      if side == .client || !ends.isClientGone.withLock({ $0 }) {
        list.withLock { $0.append(.bytes(side, Array(piece[..<count]))) }
      }
      var sent = 0
      while sent < count {
        let more = piece.withUnsafeBytes {
          Glibc.send(to, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
        }
        guard more > 0 else { break }
        sent += more
      }
      if sent < count { break }
    }
    // Before the receiver can know.
    if side == .client { ends.isClientGone.withLock { $0 = true } }
    shutdown(to, Int32(SHUT_WR))
    if side == .client { ended.withLock { $0 += 1 } }
  }
}

/// A socket that listens on this machine, on a port that was free.
struct LoopbackListener: Sendable {
  struct NoSocket: Error {}

  let port: Int
  private let listener: Int32

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isListening else {
      close(listener)
      throw NoSocket()
    }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  /// Hands over each connection, on a thread of its own, until `end`.
  func start(_ serve: @escaping @Sendable (Int32) -> Void) {
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          // Here, not where it is ended: its number would be that of another test's socket.
          close(listener)
          return
        }
        serve(client)
      }
    }
  }

  /// Takes no more connections. Those that are open end with their client.
  func end() { shutdown(listener, Int32(SHUT_RDWR)) }
}

/// The built program, as `scanmill receive` starts it.
final class ReceiverProgram {
  static let path: FilePath = {
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    return Fixtures.projectRoot.appending(".build").appending(configuration)
      .appending("scanmill-receive")
  }()

  let running: Running
  let port: Int

  /// Starts it and waits for its address.
  ///
  /// - Parameter errors: where its log goes; `nil` for where the test can read it.
  init(_ staging: FilePath, _ options: [String] = [], errors: FilePath? = nil) throws {
    let words = [staging.string, "--listen", "127.0.0.1:0", "--reserve", "0"] + options
    let running =
      if let errors {
        try Running(
          "/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>'\(errors)'", Self.path.string] + words)
      } else {
        try Running(Self.path, words)
      }
    self.running = running
    try Waiting.until("an address") {
      try !running.process.isRunning || running.outputSoFar().hasSuffix("/\n")
    }
    let line = try running.outputSoFar()
    let digits = line.split(separator: ":").last.map { $0.prefix { $0 != "/" } } ?? ""
    let errors = try running.errorsSoFar()
    port = try #require(Int(digits), "\(line) \(errors)")
    #expect(line == "listening on http://127.0.0.1:\(port)/\n")
  }

  static func run(_ arguments: [String]) throws -> Running.Result {
    try Running(path, arguments).finish()
  }
}
