@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("Limits of the server, tokens and what is seen from outside", .runsPrograms)
struct ServerLimitTests {
  @Test func connectionsOfOneAddressAreLimited() async throws {
    var settings = ReceiverSettings()
    settings.connectionsPerAddress = 1
    settings.headerTimeout = 600
    settings.yieldSeconds = 600
    try await ServerScene.run(settings) { scene in
      let held = try scene.connect()
      held.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(held.answer()?.status == 200)
      #expect(try scene.get("/health")?.status == 503)
      let other = try RawConnection(port: scene.port, from: "127.0.0.2")
      other.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(other.answer()?.status == 200)
    }
  }

  @Test func anUploadThatIsTooSlowEnds() async throws {
    var settings = ReceiverSettings()
    settings.rateWindow = 0.4
    settings.minimumRate = 1000
    try await ServerScene.run(settings) { scene in
      let connection = try scene.connect()
      connection.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: 1000000\r\n\r\n")
      // A byte at a time, for as long as it is taken.
      Waiting.until("the end of a slow upload") { !connection.send("x") }
      try scene.waitForNoLeftovers()
      #expect(scene.records.last?.status == 408)
    }
  }

  @Test("An address of IPv4 that comes over a socket for both kinds is the same address")
  func mappedAddresses() {
    for (told, noted) in [
      ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::1", "::1"),
      ("2001:db8::7", "2001:db8::7"), ("::ffff:1:2", "::ffff:1:2"),
    ] {
      #expect(ConnectionState(address: told).address == noted)
    }
  }

  static let secret = "0123456789abcdef0123"

  @Test func withoutATokenThereIsOnlyHealth() async throws {
    let tokens = try TokenList(text: "# who\nipad-3 \(Self.secret)\n\n")
    try await ServerScene.run(tokens: tokens) { (scene: ServerScene) throws in
      for target in [
        "/", "/captures", "/metrics", "/verify?filename=a.imu&checksum=x", "/style.css",
        "/process/a",
      ] {
        #expect(try scene.get(target)?.status == 401, "\(target)")
        #expect(try scene.get("/t/\(String(Self.secret.reversed()))\(target)")?.status == 401)
      }
      #expect(try scene.get("/health")?.status == 200)
      #expect(try scene.send("a.imu", "x")?.status == 401)
      #expect(try scene.contents() == [:])
      #expect(try scene.send("a.imu", "x", path: "/t/\(Self.secret)/upload")?.status == 200)
      #expect(
        try scene.send("a.imu", "x", path: "/t/\(Self.secret)/multiscan/upload")?.status == 200)
      #expect(
        try scene.ask(
          "GET /captures HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(Self.secret)\r\n\r\n")?
          .status
          == 200)
      #expect(try scene.get("/t/\(Self.secret)/")?.body.contains(Self.secret) == false)
      // The file is noted as sent by the name of the token.
      #expect(
        scene.store.snapshot().captures.first?.manifest.files.first?.sender
          == "ipad-3 (127.0.0.1)")
      for record in scene.records {
        #expect(!record.text.contains(Self.secret) && !record.json.contains(Self.secret))
        #expect(!record.text.contains(String(Self.secret.reversed())))
      }
      #expect(try scene.get("/t/\(Self.secret)/metrics")?.body.contains(Self.secret) == false)
    }
  }

  @Test func linesOfTheLogAreOneLineEach() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      #expect(try scene.send("a\u{202E}b.imu", "x")?.status == 200)
      #expect(try scene.get("/captures/%0A%1B%5Bm")?.status == 404)
      for record in scene.records {
        #expect(!record.text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        #expect(!record.json.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
      }
    }
  }

  @Test func thePageEscapesEveryName() async throws {
    try await ServerScene.run { scene in
      #expect(try scene.send("<script>alert(1)<b>.imu", "x")?.status == 200)
      #expect(try scene.send("\"onload=\"x.imu", "x")?.status == 200)
      let page = try #require(try scene.get("/"))
      #expect(page.status == 200)
      #expect(!page.body.contains("<script"))
      #expect(page.body.contains("&lt;script&gt;"))
      #expect(page.body.contains(#"content="width=device-width"#))
      #expect(page.body.contains(#"http-equiv="refresh" content="10""#))
      #expect(
        page.fields["content-security-policy"]
          == "default-src 'none'; style-src 'self'; img-src 'self'")
      #expect(page.fields["x-content-type-options"] == "nosniff")
      #expect(page.fields["referrer-policy"] == "no-referrer")
      #expect(page.fields["cache-control"] == "no-store")
      #expect(page.fields["access-control-allow-origin"] == nil)
      #expect(try scene.get("/style.css")?.fields["content-type"] == "text/css; charset=utf-8")
      let found = try #require(try scene.get("/?search=%22onload"))
      #expect(found.body.contains("onload"))
      #expect(!found.body.contains("alert"))
      for (asked, told) in [
        ("/multiscan", "./multiscan/"), ("/multiscan?search=a", "./multiscan/"),
        ("/t/https:evil.example", "./https:evil.example/"), ("/t/javascript:x", "./javascript:x/"),
        ("//t//..", "./../"),
      ] {
        let redirect = try scene.get(asked)
        #expect(redirect?.status == 308 && redirect?.fields["location"] == told, "\(asked)")
      }
    }
  }

  @Test(.enabled(if: Browser.isPresent, "\(Browser.absence)"))
  func thePageFitsAPhoneWhateverNamesAre() async throws {
    try await ServerScene.run(states: States()) { scene in
      let long = String(repeating: "W", count: 240)
      for name in [
        "s.imu", "\(long).imu", "<img src=x onerror=alert(1)>.depth", "\u{202E}right.h264",
        "a&amp;b.rot",
      ] {
        #expect(try scene.send(name, "x")?.status == 200)
      }
      let open = try scene.connect()
      open.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: \(long)_thumb.jpg\r\nContent-Length: 9999\r\n\r\nabc"
      )
      // A damaged file, and other content under an id.
      #expect(
        try scene.get("/verify?filename=a%26amp%3Bb.rot&checksum=\(StoreScene.md5("y"))")?.status
          == 400)
      #expect(
        try scene.get("/verify?filename=s.imu&checksum=\(StoreScene.md5("x"))")?.status == 200)
      #expect(try scene.send("s.imu", "y")?.status == 200)
      let base = "http://127.0.0.1:\(scene.port)/"
      let result = try Browser.check(served: [base, base + "?search=s", base + "?search=nothing"])
      #expect(result.status == 0, "\(result.output)")
    }
  }

  struct States: CaptureStates {
    func states(of folders: [String]) -> [String: WatchedState] {
      ["s": WatchedState(state: "failed", note: "<no video>", hasReport: true)]
    }
    func report(of folder: String) -> [UInt8]? { folder == "s" ? Array("report".utf8) : nil }
  }

  @Test func thePageTellsWhatWatchHasMadeOfACapture() async throws {
    try await ServerScene.run(states: States()) { scene in
      #expect(try scene.send("s.imu", "x")?.status == 200)
      let page = try #require(try scene.get("/"))
      #expect(page.body.contains("failed: &lt;no video&gt;"))
      #expect(page.body.contains(#"href="./reports/s""#))
      #expect(page.body.contains("Waits for"))
      // The end of a name that begins with the id.
      #expect(page.body.contains(">.depth<") && !page.body.contains("s.depth"))
      #expect(try scene.get("/reports/s")?.body == "report")
      #expect(try scene.get("/reports/t")?.status == 404)
      #expect(try scene.get("/reports/..%2Fs")?.status == 404)
    }
  }

  @Test func thePageTellsOfOtherContentUnderAnIdAndOfDamagedFiles() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      func verify(_ content: String) throws -> Int? {
        try scene.get("/verify?filename=s.imu&checksum=\(StoreScene.md5(content))")?.status
      }
      #expect(try scene.send("s.imu", "x")?.status == 200)
      #expect(try scene.get("/")?.body.contains("other content") == false)
      #expect(try verify("x") == 200)
      #expect(try scene.send("s.imu", "y")?.status == 200)
      #expect(try scene.get("/")?.body.contains("Same id, other content") == true)
      #expect(try scene.get("/")?.body.contains("Damaged") == false)
      #expect(try verify("z") == 400)
      #expect(try scene.get("/")?.body.contains("Damaged on the way") == true)
    }
  }

  @Test func healthAndMetricsTellWhatIsWrong() async throws {
    try await ServerScene.run { scene in
      #expect(try scene.get("/health")?.body == #"{"status":"ok"}"#)
      #expect(try scene.send("s.imu", "abc")?.status == 200)
      #expect(try scene.send("s.exe", "abc")?.status == 415)
      let metrics = try #require(try scene.get("/metrics"))
      for line in [
        "scanmill_receive_bytes_total 3", "scanmill_receive_files_total 1",
        "scanmill_receive_rejected_total{status=\"415\"} 1",
        "scanmill_receive_captures{state=\"incomplete\"} 1", "scanmill_receive_active_uploads 0",
      ] {
        #expect(metrics.body.contains(line + "\n"), "\(line)")
      }
      // The folder of parts is made again; STAGING is not.
      try FileSystem.remove(scene.path.appending(".incoming"))
      #expect(try scene.get("/health")?.status == 200)
      #expect(try scene.send("s.depth", "abc")?.status == 200)
      try FileSystem.remove(scene.path)
      let health = try #require(try scene.get("/health"))
      #expect(health.status == 503)
      #expect(health.body.contains("reason"))
    }
  }

  @Test(arguments: ["a 123", "a", "a b c", "a 0123456789/123456789012", ""])
  func aTokenFileSaysWhatIsWrongWithIt(_ text: String) {
    #expect(throws: TokenList.ParseError.self) { _ = try TokenList(text: text) }
  }
}
