@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("Options of the program that receives uploads, on its own wire", .runsPrograms)
struct ReceiverOptionTests {
  private static func ask(_ port: Int, _ request: String) throws -> RawConnection.Answer? {
    let connection = try RawConnection(port: port)
    connection.send(request)
    return connection.answer()
  }

  private static func put(_ name: String, _ content: String, _ more: String = "") -> String {
    "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: \(name)\r\n\(more)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
  }

  private static func stop(_ receiver: ReceiverProgram) throws {
    receiver.running.process.terminate()
    #expect(try receiver.running.finish().status == 143)
  }

  /// Without what has a leading dot.
  private static func files(_ staging: FilePath) throws -> [String] {
    try #require(FileManager.default.enumerator(atPath: staging.string)).compactMap {
      $0 as? String
    }
    .filter { !$0.contains("/.") && !$0.hasPrefix(".") && $0.contains("/") }.sorted()
  }

  @Test("--quota holds for all that lies there")
  func quota() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s")
    let receiver = try ReceiverProgram(staging, ["--quota", "100B"])
    let sixty = String(repeating: "x", count: 60)
    for (name, content, status) in [
      ("a.txt", sixty + sixty, 507), ("a.txt", sixty, 200), ("b.txt", sixty, 507),
      ("b.txt", String(sixty.prefix(40)), 200), ("c.txt", "z", 507),
    ] {
      let answer = try Self.ask(receiver.port, Self.put(name, content))
      #expect(answer?.status == status, "\(name) \(content.count)")
      if status == 507 { #expect(answer?.message?.contains("full") == true) }
    }
    #expect(try Self.files(staging) == ["a/a.txt", "b/b.txt"])
    try Self.stop(receiver)
  }

  @Test("--extensions adds endings, with or without a dot, and takes none away")
  func extensions() throws {
    for (options, accepted) in [([String](), false), (["--extensions", ".xyz,QQ"], true)] {
      let folder = try TemporaryFolder()
      let receiver = try ReceiverProgram(folder.path.appending("s"), options)
      for (name, isAccepted) in [
        ("a.xyz", accepted), ("a.qq", accepted), ("a.QQ", accepted), ("a.imu", true),
        ("a.exe", false),
      ] {
        let answer = try Self.ask(receiver.port, Self.put(name, "1"))
        #expect(answer?.status == (isAccepted ? 200 : 415), "\(options) \(name)")
      }
      try Self.stop(receiver)
    }
  }

  @Test("X-Forwarded-For is believed of a proxy that was named, and only its last address")
  func forwarded() throws {
    for (options, sender) in [
      ([String](), "127.0.0.1"), (["--trusted-proxy", "192.0.2.1"], "127.0.0.1"),
      (["--trusted-proxy", "127.0.0.1"], "192.0.2.7"),
    ] {
      let folder = try TemporaryFolder()
      let staging = folder.path.appending("s")
      let receiver = try ReceiverProgram(staging, options + ["--log-format", "json"])
      let field = "X-Forwarded-For: 203.0.113.9, 192.0.2.7\r\n"
      #expect(try Self.ask(receiver.port, Self.put("a.imu", "1", field))?.status == 200)
      receiver.running.process.terminate()
      let log = try receiver.running.finish().errors
      let manifest = UploadManifest(in: try HeldFolder(reading: staging.appending("a")))
      #expect(manifest?.files.map(\.sender) == [sender], "\(options)")
      let senders = try log.lines.compactMap {
        let record = try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        return record?["name"] as? String == "a.imu" ? record?["sender"] as? String : nil
      }
      #expect(senders == [sender], "\(log)")
    }
  }

  /// Hands sockets over as systemd does: from descriptor 3 on, with the number of the process.
  private static let launcher = """
    import fcntl, os, socket, sys
    kind, count, host = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    kept = []
    for number in range(count):
        one = socket.socket()
        if kind == "listening":
            one.bind((host, 0))
            one.listen()
        kept.append(fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 20))
    for number, one in enumerate(kept):
        os.dup2(one, 3 + number)
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.environ["LISTEN_FDS"] = str(count)
    os.execv(sys.argv[4], sys.argv[4:])
    """

  private static func launched(
    _ kind: String, _ count: Int, _ host: String, _ words: [String]
  ) throws -> Running {
    try Running(
      "/usr/bin/env",
      ["python3", "-c", launcher, kind, "\(count)", host, ReceiverProgram.path.string] + words)
  }

  @Test(
    "A socket that was handed over counts in place of --listen",
    .enabled(if: PythonScript.isPresent))
  func inheritedSocket() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s")
    let running = try Self.launched(
      "listening", 1, "127.0.0.1",
      [staging.string, "--listen", "nowhere.example:1", "--reserve", "0"])
    try Waiting.until("an address") {
      try !running.process.isRunning || running.outputSoFar().hasSuffix("/\n")
    }
    let line = try running.outputSoFar()
    let port = try #require(
      line.split(separator: ":").last.flatMap { Int($0.prefix { $0 != "/" }) }, "\(line)")
    #expect(line == "listening on http://127.0.0.1:\(port)/\n")
    #expect(try Self.ask(port, Self.put("a.imu", "1"))?.status == 200)
    #expect(try Self.files(staging) == ["a/a.imu"])
    running.process.terminate()
    #expect(try running.finish().status == 143)
  }

  @Test(
    "Sockets that cannot be served are refused with 64, and so is one that others reach without a word who may upload",
    .enabled(if: PythonScript.isPresent))
  func refusedSockets() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s")
    for (kind, count, host, words) in [
      ("listening", 2, "127.0.0.1", ["LISTEN_FDS", "2 sockets"]),
      ("idle", 1, "127.0.0.1", ["LISTEN_FDS", "not a listening socket"]),
      ("listening", 1, "0.0.0.0", ["--token-file", "--allow-anonymous"]),
    ] {
      let result = try Self.launched(kind, count, host, [staging.string]).finish()
      #expect(result.status == 64, "\(kind) \(count): \(result.errors)")
      for word in words { #expect(result.errors.contains(word), "\(result.errors)") }
    }
    #expect(!FileSystem.exists(staging))
  }
}
