import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

/// The tests run one after the other: `Process.run` of Foundation, which other tests call, reads beyond its list of
/// descriptors when a process has more than 1,350, and ends with SIGSEGV.
@Suite("Connections over which nothing comes", .serialized, .runsPrograms)
struct IdleConnectionTests {
  /// What a client does and then leaves undone.
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sends: String
    /// Whether an answer comes to it.
    var isAnswered = false
    /// Comes again and again, as long as it is taken.
    var drips: String?
    /// Whether nothing is under way, for which the connection would be kept.
    var isResting = false
  }

  private static let tus =
    "Host: h\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
  private static let file = "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\n"
  private static let form =
    "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=\(FormReaderTests.boundary)\r\n"

  static let kinds = [
    Kind(testDescription: "nothing", sends: "", isResting: true),
    Kind(testDescription: "half a request line", sends: "GET /hea", isResting: true),
    Kind(testDescription: "half a header", sends: "GET /health HTTP/1.1\r\nHo", isResting: true),
    Kind(testDescription: "a header that drips", sends: "GET /health HTTP/1.1\r\nA: ", drips: "x"),
    Kind(testDescription: "empty lines", sends: "\r\n", isResting: true),
    Kind(
      testDescription: "a request, and no other", sends: "GET /health HTTP/1.1\r\nHost: h\r\n\r\n",
      isAnswered: true, isResting: true),
    Kind(
      testDescription: "a request, and half of another",
      sends: "GET /health HTTP/1.1\r\nHost: h\r\n\r\nGET /he", isAnswered: true, isResting: true),
    Kind(
      testDescription: "no body of an answered request",
      sends: "GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n", isAnswered: true),
    Kind(
      testDescription: "no chunk of an answered request",
      sends: "GET /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
      isAnswered: true),
    Kind(
      testDescription: "an answered body that drips",
      sends: "GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n",
      isAnswered: true, drips: "x"),
    Kind(
      testDescription: "no body of a refused upload",
      sends: "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.exe\r\nContent-Length: 9\r\n\r\n",
      isAnswered: true),
    Kind(
      testDescription: "a request behind the last one",
      sends: "GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        + "GET /health HTTP/1.1\r\nHost: h\r\n\r\n", isAnswered: true),
    Kind(testDescription: "a body with a length", sends: file + "Content-Length: 9\r\n\r\nabc"),
    Kind(
      testDescription: "a chunk", sends: file + "Transfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    Kind(testDescription: "no chunk", sends: file + "Transfer-Encoding: chunked\r\n\r\n"),
    Kind(
      testDescription: "a body that was asked for",
      sends: file + "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", isAnswered: true),
    Kind(
      testDescription: "a file of the newer interface",
      sends: "PUT /captures/c/files/a.imu HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"),
    Kind(
      testDescription: "a list of files",
      sends: "POST /captures/c/complete HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\n{"),
    Kind(
      testDescription: "an upload of tus",
      sends: "POST /tus/ HTTP/1.1\r\n\(tus)Upload-Length: 9\r\n"
        + "Upload-Metadata: filename YS5pbXU=\r\nContent-Length: 9\r\n\r\nabc"),
    Kind(testDescription: "a form", sends: form + "Content-Length: 999\r\n\r\n"),
    Kind(
      testDescription: "a part of a form",
      sends: form + "Content-Length: 999\r\n\r\n"
        + "--\(FormReaderTests.boundary)\r\nContent-Disposition: form-data; name=\"media_file\"; filename=\"t.mov\"\r\n\r\nabc"
    ),
    Kind(
      testDescription: "answers that nobody reads",
      sends: String(repeating: "GET /style.css HTTP/1.1\r\nHost: h\r\n\r\n", count: 4000)),
  ]

  /// 256 of a kind take minutes; a few show the same.
  private static let count = Rounds.isSoak ? 256 : 4

  private static var patient: ReceiverSettings {
    var settings = ReceiverSettings()
    settings.headerTimeout = 3000
    settings.idleTimeout = 3000
    settings.keepAlive = 3000
    settings.minimumRate = 0
    return settings
  }

  /// Connections from as many addresses as it takes, each with what a kind sends.
  private static func hold(_ kind: Kind, _ count: Int, _ port: Int) throws -> [RawConnection] {
    try (0..<count).map { number in
      let connection = try RawConnection(port: port, from: "127.0.0.\(2 + number / 48)")
      connection.send(kind.sends)
      return connection
    }
  }

  private static func health(_ port: Int) throws -> Int? {
    let connection = try RawConnection(port: port)
    connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
    return connection.answer()?.status
  }

  @Test("Held within the limits, they leave the receiver serving", arguments: kinds)
  func held(_ kind: Kind) async throws {
    try await ServerScene.run(Self.patient) { scene in
      let held = try Self.hold(kind, Rounds.isSoak ? 255 : Self.count, scene.port)
      if kind.isAnswered { for connection in held { #expect(connection.answer() != nil) } }
      #expect(try Self.health(scene.port) == 200)
      withExtendedLifetime(held) {}
    }
  }

  @Test("Each ends by itself", arguments: kinds)
  func ended(_ kind: Kind) async throws {
    var settings = ReceiverSettings()
    settings.headerTimeout = 0.3
    settings.idleTimeout = 0.3
    settings.keepAlive = 0.3
    settings.lingerSeconds = 0.3
    try await ServerScene.run(settings) { scene in
      let held = try Self.hold(kind, Self.count, scene.port)
      Waiting.until("the end of \(kind.testDescription)") {
        if let drips = kind.drips { for connection in held { connection.send(drips) } }
        return scene.openConnections == 0
      }
      Waiting.until("an answer") { (try? Self.health(scene.port)) == 200 }
      #expect(try scene.contents() == [:])
    }
  }

  @Test(
    "When they take all connections there are, those over which nothing is under way give way",
    arguments: kinds.filter(\.isResting))
  func yielding(_ kind: Kind) async throws {
    var settings = Self.patient
    settings.maximumConnections = Self.count
    settings.yieldSeconds = 0.05
    try await ServerScene.run(settings) { scene in
      let held = try Self.hold(kind, Self.count, scene.port)
      Waiting.until("a connection that is served") {
        (try? Self.health(scene.port)) == 200
      }
      withExtendedLifetime(held) {}
    }
  }

  @Test("Beyond the limits every connection is answered, however many come at once")
  func beyond() async throws {
    var settings = ReceiverSettings()
    settings.maximumConnections = 2
    settings.refusedConnections = 8
    settings.lingerSeconds = 0.1
    settings.yieldSeconds = 3000
    try await ServerScene.run(settings) { scene in
      let all = try (0..<80).map { _ in
        let connection = try scene.connect()
        connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
        return connection
      }
      var counts: [Int: Int] = [:]
      for connection in all { counts[connection.answer()?.status ?? 0, default: 0] += 1 }
      #expect(Set(counts.keys).isSubset(of: [200, 503]), "\(counts)")
      #expect(counts[503, default: 0] >= 78)
    }
  }

  /// Only one thread at a time has it.
  private final class Held: @unchecked Sendable { var connections: [RawConnection] = [] }

  @Test("A receiver that ends closes connections that it has not begun to serve, too")
  func ending() async throws {
    for _ in 0..<(Rounds.isSoak ? 400 : 20) {
      let held = Held()
      try await ServerScene.run { scene in
        held.connections = try (0..<12).map { _ in try scene.connect() }
      }
      for connection in held.connections { #expect(connection.isEnded()) }
    }
  }

  @Test("One beyond the limits that asks for nothing is told so, too")
  func silentBeyond() async throws {
    var settings = ReceiverSettings()
    settings.maximumConnections = 1
    settings.headerTimeout = 0.2
    settings.keepAlive = 3000
    settings.yieldSeconds = 3000
    try await ServerScene.run(settings) { scene in
      var served: RawConnection?
      Waiting.until("a connection that is served") {
        served = try? scene.connect()
        served?.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
        return served?.answer()?.status == 200
      }
      let refused = try scene.connect().answer()
      #expect(refused?.status == 503 && refused?.fields["retry-after"] == "10")
      #expect(refused?.message?.contains("too many connections") == true)
      withExtendedLifetime(served) {}
    }
  }

  @Test(
    "A receiver that was asleep gives a sender its time again",
    .enabled(if: Rounds.isSoak, "SCANMILL_SOAK=1 runs it"))
  func asleep() throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram(folder.path.appending("s"), ["--idle-timeout", "8s"])
    let connection = try RawConnection(port: receiver.port)
    connection.send(
      "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: 6\r\n\r\nabc")
    #expect(try Self.health(receiver.port) == 200)
    kill(receiver.running.process.processIdentifier, SIGSTOP)
    Thread.sleep(forTimeInterval: 12)
    kill(receiver.running.process.processIdentifier, SIGCONT)
    #expect(try Self.health(receiver.port) == 200)
    connection.send("def")
    #expect(connection.answer()?.status == 200)
    try receiver.running.kill()
  }
}
