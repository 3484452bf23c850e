import Foundation
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

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
    _ states: any CaptureStates, _ files: any StagingFiles
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
    states: any CaptureStates = NoCaptureStates(), files: any StagingFiles = SystemStagingFiles(),
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
    for folder in try FileManager.default.contentsOfDirectory(atPath: path.string)
    where !folder.hasPrefix(".") {
      let inner = path.appending(folder)
      for name in try FileManager.default.contentsOfDirectory(atPath: inner.string)
      where !name.hasPrefix(".") {
        let bytes = inner.appending(name).contents
        found["\(folder)/\(name)"] = bytes.map { String(decoding: $0, as: UTF8.self) }
      }
    }
    return found
  }

  func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path.appending(".incoming").string)
  }

  /// The server notices the end of a connection a moment later.
  func waitForNoLeftovers() throws {
    try Waiting.until("no part of an upload") { try leftovers().isEmpty }
  }
}
