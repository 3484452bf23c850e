import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Receiving

/// `Tests/Snapshots/upload-sessions.md` holds what each app and the receiver say to each other, recorded from the built
/// program.
@Suite("Sessions of the apps, as the page about them has them", .runsPrograms)
struct SessionTests {
  private static let page = Fixtures.projectRoot.appending("Tests/Snapshots/upload-sessions.md")

  /// What a session can do.
  struct Wire {
    let relay: RecordingRelay
    let receiver: ReceiverProgram
    let folder: TemporaryFolder

    func connect() throws -> RawConnection { try RawConnection(port: relay.port) }

    /// Sends a request and takes the answer.
    func ask(_ connection: RawConnection, _ lines: [String], _ body: String? = nil) -> Int? {
      var lines = lines
      if let body { lines.append("Content-Length: \(body.utf8.count)") }
      connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
      return connection.answer(toHead: lines[0].hasPrefix("HEAD "))?.status
    }
  }

  struct Session: Sendable, CustomTestStringConvertible {
    /// The heading on the page.
    var title: String
    var run: @Sendable (Wire) throws -> Void
    var testDescription: String { title }
  }

  private static let host = "Host: 192.0.2.7:8000"

  private static func put(_ path: String, _ name: String, _ type: String) -> [String] {
    ["PUT \(path) HTTP/1.1", host, "FILE_NAME: \(name)", "Content-Type: \(type)"]
  }

  private static func verify(_ path: String, _ name: String, _ content: String) -> [String] {
    ["GET \(path)?filename=\(name)&checksum=\(StoreScene.md5(content)) HTTP/1.1", host]
  }

  static let sessions: [Session] = [
    Session(title: "ScanNet app") { wire in
      let connection = try wire.connect()
      let type = "application/ipad_scanner_data"
      let id = "2026-11-20_10-15-00__5F0C"
      for name in ["\(id).imu", "\(id).depth"] {
        let content = "the bytes of \(name)"
        #expect(wire.ask(connection, put("/upload", name, type), content) == 200)
        #expect(wire.ask(connection, verify("/verify", name, content)) == 200)
      }
      wire.relay.remark(
        "The person taps upload again: the file that is still on the iPad is sent once more.")
      let name = "\(id).depth"
      #expect(
        wire.ask(connection, put("/upload", name, type), "the bytes of \(name)") == 200)
      wire.relay.remark("A file that was damaged on the way: the digest of the app is another one.")
      #expect(wire.ask(connection, put("/upload", "\(id).h264", type), "damaged bytes") == 200)
      #expect(wire.ask(connection, verify("/verify", "\(id).h264", "the bytes")) == 400)
      wire.relay.remark(
        "It is still on the iPad, and the next upload takes the place of the damaged one.")
      #expect(wire.ask(connection, put("/upload", "\(id).h264", type), "the bytes") == 200)
      #expect(wire.ask(connection, verify("/verify", "\(id).h264", "the bytes")) == 200)
    },
    Session(title: "MultiScan app for iOS") { wire in
      let connection = try wire.connect()
      let id = "20261120T101500+0100_A1B2"
      for ending in ["json", "mp4"] {
        let content = ending == "json" ? "{\"streams\":[]}" : "the bytes of the video"
        #expect(
          wire.ask(
            connection,
            put("/multiscan/upload", "\(id).\(ending)", "application/ipad_scanner_data"), content)
            == 200)
        // Encoded twice.
        let name = "\(id).\(ending)".replacing("+", with: "%252B")
        #expect(wire.ask(connection, verify("/multiscan/verify", name, content)) == 200)
      }
      wire.relay.remark(
        "A file of an ending that nothing knows: the app stops here and shows that it failed.")
      #expect(
        wire.ask(
          connection, put("/multiscan/upload", "\(id).exe", "application/ipad_scanner_data"), "x")
          == 415)
    },
    Session(title: "MultiScan app for Android") { wire in
      let connection = try wire.connect()
      let id = "20261120T101500+0100_C3D4"
      let endings = ["txt", "mp4", "rot"]
      for ending in endings {
        #expect(
          wire.ask(
            connection, put("/multiscan/upload", "\(id).\(ending)", "application/octet-stream"),
            "the bytes of .\(ending)") == 200)
      }
      for ending in endings {
        let name = "\(id).\(ending)".replacing("+", with: "%2B")
        #expect(
          wire.ask(connection, verify("/multiscan/verify", name, "the bytes of .\(ending)")) == 200)
      }
    },
    Session(title: "Strabo recorder SDK") { wire in
      let connection = try wire.connect()
      let boundary = FormReaderTests.boundary
      let body =
        [
          ("media_file", "A1B2.mov", "video/quicktime", "the bytes of the video"),
          ("thumbnail", "A1B2.png", "image/png", "the bytes of the picture"),
          ("capture_info", "capture-info.json", "application/json", "{}"),
          ("geo_data", "A1B2.json", "application/json", "{}"),
        ].map { field, name, type, content in
          "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"\(name)\"\r\n"
            + "Content-Type: \(type)\r\n\r\n\(content)\r\n"
        }.joined() + "--\(boundary)--\r\n"
      let head = [
        "POST /upload HTTP/1.1", host, "Content-Type: multipart/form-data; boundary=\(boundary)",
      ]
      #expect(wire.ask(connection, head, body) == 200)
      wire.relay.remark("A form without its media file.")
      #expect(wire.ask(connection, head, "--\(boundary)--\r\n") == 400)
    },
    Session(title: "A client of tus") { wire in
      let content = "the bytes of the file"
      func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
      let connection = try wire.connect()
      let tus = "Tus-Resumable: 1.0.0"
      #expect(wire.ask(connection, ["OPTIONS /tus/ HTTP/1.1", host]) == 204)
      connection.send(
        [
          "POST /tus/ HTTP/1.1", host, tus, "Upload-Length: \(content.utf8.count)",
          "Upload-Metadata: capture \(base64("walk-1")),filename \(base64("rgb.mp4"))",
          "Content-Length: 0",
        ].joined(separator: "\r\n") + "\r\n\r\n")
      let location = try #require(connection.answer()?.fields["location"])
      func piece(_ offset: Int, _ text: Substring) -> Int? {
        wire.ask(
          connection,
          [
            "PATCH \(location) HTTP/1.1", host, tus, "Upload-Offset: \(offset)",
            "Content-Type: application/offset+octet-stream",
          ], String(text))
      }
      #expect(piece(0, content.prefix(9)) == 204)
      #expect(wire.ask(connection, ["HEAD \(location) HTTP/1.1", host, tus]) == 200)
      #expect(piece(9, content.dropFirst(9)) == 204)
    },
    Session(title: "`scanmill send`") { wire in
      let capture = wire.folder.path.appending("walk-1")
      try FileSystem.makeFolder(capture)
      for (name, content) in [("imu.csv", "the bytes of the table"), ("rgb.mp4", "the video")] {
        try capture.appending(name).write(content)
      }
      let program = ReceiverProgram.path.removingLastComponent().appending("scanmill-send")
      try Running(
        program, [capture.string, "--to", "http://127.0.0.1:\(wire.relay.port)"]
      ).finish().succeeds()
    },
  ]

  @Test("The page has what is said", arguments: sessions)
  func said(_ session: Session) throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram(folder.path.appending("s"))
    let relay = try RecordingRelay(to: receiver.port)
    try session.run(Wire(relay: relay, receiver: receiver, folder: folder))
    relay.end()
    receiver.running.process.terminate()
    #expect(try receiver.running.finish().status == 143)
    let text = SessionText(ports: [relay.port, receiver.port]).text(relay.entries)
    try Self.keep(text, of: session)
    let kept = try #require(
      try Self.block(session.title), "no heading '## \(session.title)' and block")
    #expect(
      kept == text,
      "if that is meant: SCANMILL_SESSIONS=1 writes the page anew from what is said now")
  }

  @Test("The page has no other sessions")
  func headings() throws {
    let text = try Self.page.text()
    let headings = text.matches(of: /(?m)^## (.*)$/).map { String($0.1) }
    #expect(headings == Self.sessions.map(\.title))
  }

  // MARK: The page

  private static func range(_ title: String, in text: String) -> Range<String.Index>? {
    guard let heading = text.range(of: "\n## \(title)\n"),
      let start = text.range(of: "```text\n", range: heading.upperBound..<text.endIndex),
      let end = text.range(of: "```\n", range: start.upperBound..<text.endIndex)
    else { return nil }
    return start.upperBound..<end.lowerBound
  }

  private static func block(_ title: String) throws -> String? {
    let text = try page.text()
    return range(title, in: text).map { String(text[$0]) }
  }

  private static let writing = NSLock()

  private static func keep(_ text: String, of session: Session) throws {
    guard ProcessInfo.processInfo.environment["SCANMILL_SESSIONS"] != nil else { return }
    try writing.withLock {
      var page = try Self.page.text()
      guard let range = range(session.title, in: page) else { return }
      page.replaceSubrange(range, with: text)
      try Self.page.write(page)
    }
  }
}

/// A recorded session as text: `>` what the app sends, `<` what the receiver answers, with marks in the place of what
/// differs from one time to the other.
struct SessionText {
  /// Ports that stand for the receiver's.
  let ports: [Int]

  func text(_ entries: [RecordingRelay.Entry]) -> String {
    entries.map { entry in
      switch entry {
      case .bytes(let side, let bytes):
        Self.messages(bytes).map { message in
          let mark = side == .client ? ">" : "<"
          return masked(message).components(separatedBy: "\n")
            .map { $0.isEmpty ? mark : "\(mark) \($0)" }.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
      case .remark(let sentence): "(\(sentence))\n"
      }
    }.joined(separator: "\n")
  }

  /// Cuts bytes of one side into messages, and shows a message as lines.
  private static func messages(_ bytes: [UInt8]) -> [String] {
    var found: [String] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard startsMessage(rest), let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
        found.append(body(rest))
        break
      }
      let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        .replacing("\r\n", with: "\n")
      rest = rest[end.upperBound...]
      let length = head.firstMatch(of: /(?i)\ncontent-length: (\d+)/).flatMap { Int($0.1) } ?? 0
      let content = rest.prefix(length)
      rest = rest.dropFirst(length)
      found.append(content.isEmpty ? head : "\(head)\n\n\(body(content))")
    }
    return found
  }

  private static func startsMessage(_ bytes: ArraySlice<UInt8>) -> Bool {
    let line = String(decoding: bytes.prefix { $0 != 0x0D }, as: UTF8.self)
    return line.hasPrefix("HTTP/1.1 ") || line.hasSuffix(" HTTP/1.1")
  }

  private static func body(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(validating: bytes, as: UTF8.self)?.replacing("\r\n", with: "\n")
    guard let text, bytes.count <= 2_000 else { return "(\(bytes.count) bytes)" }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private func masked(_ message: String) -> String {
    var text = message
    for port in ports { text = text.replacing("127.0.0.1:\(port)", with: "192.0.2.7:8000") }
    text = text.replacing(/(?m)^(Date|Upload-Expires): .*$/) { "\($0.1): …" }
    text = text.replacing(/\/(tus|resumable)\/[0-9a-f]{32}/) { "/\($0.1)/ID" }
    text = text.replacing(/expires=\d+/, with: "expires=…")
    return text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/, with: "TIME")
  }
}
