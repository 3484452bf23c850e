import Foundation
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import scanmill_send
import Glibc

@Suite("What `scanmill send` believes of a receiver, and of the disk it reads")
struct SendTests {
  @Test("An address that a receiver gives is followed only below the one that the person gave")
  func below() throws {
    let table: [(to: String, location: String, whole: String?)] = [
      ("http://h:8000", "/tus/a", "http://h:8000/tus/a"),
      ("http://h:8000/", "http://H:8000/tus/a", "http://H:8000/tus/a"),
      ("https://h/t/secret/", "/t/secret/tus/a", "https://h/t/secret/tus/a"),
      ("http://h//multiscan", "/multiscan/tus/a", "http://h/multiscan/tus/a"),
      ("https://h", "http://h/tus/a", nil),
      ("http://h:8000", "http://h/tus/a", nil),
      ("http://h:8000", "http://h:8001/tus/a", nil),
      ("http://h:80", "http://h:8000/tus/a", nil),
      ("http://h:8000", "http://h:8000@evil.example/tus/a", nil),
      ("http://h", "http://evil.example/tus/a", nil),
      ("http://h", "//evil.example/tus/a", "http://h//evil.example/tus/a"),
      ("http://h/multiscan", "//evil.example/tus/a", nil),
      ("http://h/multiscan", "/tus/a", nil),
      ("http://h/multiscan", "/multiscanner/a", nil),
      ("http://h/multiscan", "/multiscan/../tus/a", nil),
      ("http://h/multiscan", "/multiscan/%2E%2e/tus/a", nil),
      ("http://h", "/tus/a b", nil), ("http://h", "/tus\\a", nil),
      ("http://h", "tus/a", nil), ("http://h", "ftp://h/tus/a", nil), ("http://h", "", nil),
    ]
    for (to, location, whole) in table {
      #expect(
        try ReceiverAddress(to, tokenFile: nil).below(location) == whole, "\(to) \(location)")
    }
  }

  /// A capture of one file, and what `send` makes of a server that answers as `answers` says: by method and path.
  ///
  /// - Parameter meanwhile: done with the capture's folder while its file is sent.
  private static func send(
    _ answers: @escaping @Sendable (String, Int) -> String,
    meanwhile: @escaping @Sendable (FilePath) -> Void = { _ in }
  ) throws -> (result: Result<CaptureSender.Counts, any Error>, requests: [String]) {
    let folder = try TemporaryFolder()
    let capture = folder.path.appending("c")
    try FileSystem.makeFolder(capture)
    try capture.appending("a.imu").write("x")
    let server = try ScriptedServer { request, count in
      if request.hasPrefix("PATCH") { meanwhile(capture) }
      return answers(request, count)
    }
    let client = try #require(
      ReceiverClient(try ReceiverAddress("http://127.0.0.1:\(server.port)", tokenFile: nil)))
    let sender = CaptureSender(
      client: client, capture: try CaptureFiles(capture), progress: SendProgress(isShown: false),
      retries: 0)
    let result = Result { try sender.send() }
    server.end()
    return (result, server.requests)
  }

  private static let digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
  private static let known = #"200 OK|{"files":[{"name":"a.imu","bytes":1,"sha256":"\#(digest)"}]}"#

  @Test("What it told of and does not have in the end is sent all the same, once")
  func forgotten() throws {
    for (gap, mends) in [("missing", true), ("different", true), ("missing", false)] {
      let (result, requests) = try Self.send { request, completions in
        switch request {
        case "GET /captures/c": Self.known
        case "POST /captures/c/complete":
          completions > 1 && mends
            ? "200 OK|{}" : #"409 Conflict|{"message":"no","\#(gap)":["a.imu"]}"#
        case "POST /tus/": "201 Created|{}|Location: /tus/1\r\n"
        case "PATCH /tus/1": "204 No Content||Upload-Offset: 1\r\n"
        default: "404 Not Found|{}"
        }
      }
      #expect(
        requests == [
          "GET /captures/c", "POST /captures/c/complete", "POST /tus/", "PATCH /tus/1",
          "POST /captures/c/complete",
        ])
      if mends {
        let counts = try result.get()
        #expect(counts.sent == 1 && counts.known == 0 && counts.bytes == 1)
      } else {
        let error = #expect(throws: SendError.self) { try result.get() }
        #expect(error?.kind == .refused && error?.message.contains("missing: a.imu") == true)
      }
    }
  }

  @Test(
    "A capture that changed while it was sent is not said to be complete",
    arguments: ["a.imu", "b.imu", "frames/c.jpg"])
  func changed(name: String) throws {
    let (result, requests) = try Self.send { request, _ in
      switch request {
      case "POST /tus/": "201 Created|{}|Location: /tus/1\r\n"
      case "PATCH /tus/1": "204 No Content||Upload-Offset: 1\r\n"
      default: "404 Not Found|{}"
      }
    } meanwhile: { folder in
      try? FileSystem.makeFolder(folder.appending("frames"))
      try? folder.pushing(FilePath(name)).write("more")
    }
    let error = #expect(throws: SendError.self) { try result.get() }
    #expect(error?.message.contains("\(name) changed while it was sent") == true)
    #expect(requests == ["GET /captures/c", "POST /tus/", "PATCH /tus/1"])
  }

  @Test("What would leave out a part of a capture is refused with what to do")
  func parts() throws {
    let folder = try TemporaryFolder()
    let capture = folder.path.appending("c")
    try FileSystem.makeFolder(capture)
    try capture.appending("x.depth").write("1")
    try capture.appending("x.txt").write("depthWidth = 640\n")
    func refusal(_ path: FilePath) -> String {
      let error = #expect(throws: SendError.self) { _ = try CaptureFiles(path) }
      return error?.message ?? ""
    }
    #expect(
      refusal(capture.appending("x.depth")).contains("one file of the capture x: name "))
    try capture.appending(".x.imu.Xy12ab").write("1")
    #expect(refusal(capture).contains("wait for it"))
    try FileSystem.remove(capture.appending(".x.imu.Xy12ab"))
    #expect(mkfifo(capture.appending("x.imu").string, 0o600) == 0)
    #expect(refusal(capture).contains("x.imu: neither a file nor a folder"))
  }

  @Test(
    "What it has under the id with a number, as another scan had the id first, is not sent again")
  func second() throws {
    let (result, requests) = try Self.send { request, _ in
      switch request {
      case "GET /captures/c": Self.known.replacing(Self.digest, with: "another")
      case "GET /captures/c~2": Self.known
      default: "200 OK|{}"
      }
    }
    #expect(try result.get().known == 1)
    #expect(
      requests == ["GET /captures/c", "GET /captures/c~2", "POST /captures/c/complete"])
  }

  @Test("A name that it does not take is told with what to do")
  func refusedName() throws {
    let (result, _) = try Self.send { request, _ in
      request.hasPrefix("POST /tus/")
        ? #"400 Bad Request|{"message":"the file name is odd"}"# : "404 Not Found|{}"
    }
    let error = #expect(throws: SendError.self) { try result.get() }
    #expect(
      error?.message.hasSuffix(
        "400: the file name is odd; give the file or the capture's folder another name, and send the capture again"
      )
        == true)
  }

  @Test("What it misses and was never listed here ends with what it says")
  func unknownGap() throws {
    let (result, requests) = try Self.send { request, _ in
      request.hasPrefix("GET") ? Self.known : #"409 Conflict|{"message":"no","missing":["b"]}"#
    }
    let error = #expect(throws: SendError.self) { try result.get() }
    #expect(error?.message == "409: no; missing: b" && requests.count == 2)
  }

  @Test("An upload that it puts somewhere else is not sent there")
  func elsewhere() throws {
    let other = try ScriptedServer { _, _ in "204 No Content||Upload-Offset: 1\r\n" }
    let port = other.port
    let (result, _) = try Self.send { request, _ in
      request.hasPrefix("GET")
        ? "404 Not Found|{}" : "201 Created|{}|Location: http://localhost:\(port)/tus/1\r\n"
    }
    let error = #expect(throws: SendError.self) { try result.get() }
    #expect(error?.kind == .refused && error?.message.contains("not below --to") == true)
    other.end()
    #expect(other.requests == [])
  }

  @Test("A folder that cannot be listed, or opened, is an error that names it, not an empty one")
  func unlistable() throws {
    // The network of a process that has ended and is not waited for: a folder that opens, and whose listing fails.
    var process = pid_t()
    let name = strdup("true")
    defer { free(name) }
    let words: [UnsafeMutablePointer<CChar>?] = [name, nil]
    try #require(posix_spawnp(&process, "true", nil, nil, words, nil) == 0)
    defer { waitpid(process, nil, 0) }
    Waiting.until("the end of a process") {
      (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ")
        == true
    }
    let folder = FilePath("/proc/\(process)/net")
    try #require(throws: FileError.self) { _ = try HeldFolder(reading: folder).list() }
    let error = #expect(throws: SendError.self) { _ = try CaptureFiles(folder) }
    #expect(error?.kind == .unreadable)
    #expect(
      error?.message.contains("\(folder): cannot be listed") == true, "\(error?.message ?? "")")
  }

  @Test(
    "So is one that this user may not open",
    .enabled(if: Unprivileged.isPossible, "needs root, who becomes somebody else"))
  func forbidden() throws {
    let folder = try TemporaryFolder()
    let inner = folder.path.appending("c").appending("frames")
    try FileSystem.makeFolder(inner)
    try inner.appending("a.jpg").write("x")
    chmod(inner.string, 0)
    defer { chmod(inner.string, 0o755) }
    let error = Unprivileged.run {
      #expect(throws: SendError.self) { _ = try CaptureFiles(inner.removingLastComponent()) }
    }
    #expect(error?.kind == .unreadable && error?.message.contains("frames") == true)
  }
}

/// Answers each request of each connection as it is told, and notes them.
private final class ScriptedServer: Sendable {
  private let listener: LoopbackListener
  private let answers: @Sendable (String, Int) -> String
  private let list = Mutex<[String]>([])

  var port: Int { listener.port }
  var requests: [String] { list.withLock { $0 } }

  /// - Parameter answers: `status|body|fields` for a request such as `GET /path`, and how often it came.
  init(_ answers: @escaping @Sendable (String, Int) -> String) throws {
    self.answers = answers
    listener = try LoopbackListener()
    listener.start { [self] client in
      serve(client)
      close(client)
    }
  }

  func end() { listener.end() }

  private func serve(_ client: Int32) {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    func fill() -> Bool {
      let count = recv(client, &piece, piece.count, 0)
      if count > 0 { bytes += piece[..<count] }
      return count > 0
    }
    while true {
      while bytes.firstRange(of: Array("\r\n\r\n".utf8)) == nil { if !fill() { return } }
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return }
      let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
      bytes.removeFirst(end)
      let length =
        lines.first { $0.lowercased().hasPrefix("content-length:") }
        .flatMap { Int($0.dropFirst(15).filter(\.isNumber)) } ?? 0
      while bytes.count < length { if !fill() { return } }
      bytes.removeFirst(length)
      let request = lines[0].split(separator: " ").prefix(2).joined(separator: " ")
      let times = list.withLock { list in
        list.append(request)
        return list.count { $0 == request }
      }
      let parts = answers(request, times).components(separatedBy: "|")
      let body = parts.count > 1 ? parts[1] : ""
      let answer =
        "HTTP/1.1 \(parts[0])\r\n\(parts.count > 2 ? parts[2] : "")"
        + (parts[0].hasPrefix("204") ? "" : "Content-Length: \(body.utf8.count)\r\n")
        + "\r\n\(body)"
      let all = Array(answer.utf8)
      _ = all.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
  }
}
