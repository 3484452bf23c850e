import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Receiving

@Suite("The program that receives uploads", .runsPrograms)
struct ReceiverProgramTests {
  @Test func wrongOptionsEndWith64AndSayWhatToUse() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s").string
    for (options, words) in [
      (["--listen", "0.0.0.0:0"], ["--token-file", "--allow-anonymous"]),
      (["--listen", "nonsense"], ["--listen"]),
      (["--maximum-file", "64"], ["--maximum-file", "unit"]),
      (["--header-timeout", "30"], ["--header-timeout", "unit"]),
      (["--token-file", "/nowhere"], ["/nowhere"]),
      (["--prefix", "/"], ["--prefix"]),
      (["--unknown"], ["--unknown"]),
    ] {
      let result = try ReceiverProgram.run([staging] + options)
      #expect(result.status == 64, "\(options): \(result.errors)")
      #expect(result.output.isEmpty)
      for word in words { #expect(result.errors.contains(word), "\(options): \(result.errors)") }
    }
    #expect(!FileSystem.exists(FilePath(staging)))
  }

  @Test("A log that nobody reads stops no upload, and not the end", arguments: ["text", "json"])
  func unreadLog(_ format: String) throws {
    let folder = try TemporaryFolder()
    let pipe = try FullPipe(at: folder.path.appending("errors"))
    defer { withExtendedLifetime(pipe) {} }
    let receiver = try ReceiverProgram(
      folder.path.appending("s"), ["--log-format", format], errors: pipe.path)
    let connection = try RawConnection(port: receiver.port)
    for number in 0..<40 {
      connection.send(ServerScene.upload("\(number).imu", "x"))
      #expect(connection.answer()?.status == 200)
    }
    receiver.running.process.terminate()
    #expect(try receiver.running.finish().status == 143)
  }

  @Test func aFolderThatCannotBeWrittenIs73() throws {
    let folder = try TemporaryFolder()
    try folder.write([], to: "file")
    let result = try ReceiverProgram.run([folder.path.appending("file").string])
    #expect(result.status == 73)
    #expect(result.errors.contains("file"))
  }

  @Test func anotherReceiverOrAnAddressInUseIs75() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s")
    let first = try ReceiverProgram(staging)
    let second = try ReceiverProgram.run([staging.string, "--listen", "127.0.0.1:0"])
    #expect(second.status == 75)
    #expect(second.errors.contains("another receiver"))
    let third = try ReceiverProgram.run([
      folder.path.appending("t").string, "--listen", "127.0.0.1:\(first.port)",
    ])
    #expect(third.status == 75)
    #expect(third.errors.contains("in use"))
    first.running.process.terminate()
    #expect(try first.running.finish().status == 143)
  }

  @Test func anOrderlyEndGivesUploadsTheirGraceAndThenCutsThem() throws {
    for (grace, isWhole) in [("60s", true), ("10ms", false)] {
      let folder = try TemporaryFolder()
      let staging = folder.path.appending("s")
      let receiver = try ReceiverProgram(staging, ["--grace", grace])
      let connection = try RawConnection(port: receiver.port)
      connection.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: 6\r\n\r\nabc")
      let incoming = staging.appending(".incoming").string
      try Waiting.until("a part") {
        try FileManager.default.contentsOfDirectory(atPath: incoming).contains {
          $0.hasSuffix(".json")
        }
      }
      receiver.running.process.interrupt()
      if isWhole {
        // What is new is refused meanwhile.
        try Waiting.until("the end to begin") {
          let other = try RawConnection(port: receiver.port)
          other.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
          return other.answer()?.status == 503
        }
        let late = try RawConnection(port: receiver.port)
        late.send(ServerScene.upload("b.imu", "x"))
        let refused = late.answer()
        #expect(refused?.status == 503 && refused?.fields["retry-after"] != nil)
        #expect(refused?.message?.isEmpty == false)
        connection.send("def")
        #expect(connection.answer()?.status == 200)
      }
      #expect(try receiver.running.finish().status == 130)
      #expect(FileSystem.exists(staging.appending("a/a.imu")) == isWhole)
      #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
    }
  }

  @Test func tokensAreReadAgain() throws {
    let folder = try TemporaryFolder()
    let old = "old-0123456789-0123456789"
    let new = "new-0123456789-0123456789"
    let file = try folder.write(Array("ipad \(old)\n".utf8), to: "tokens")
    let receiver = try ReceiverProgram(
      folder.path.appending("s"), ["--token-file", file.string, "--log-format", "json"])
    func status(_ token: String) throws -> Int? {
      let connection = try RawConnection(port: receiver.port)
      connection.send(ServerScene.upload("a.imu", "x", path: "/t/\(token)/upload"))
      return connection.answer()?.status
    }
    #expect(try status(old) == 200)
    #expect(try status(new) == 401)
    try folder.write(Array("ipad \(new)\n".utf8), to: "tokens")
    kill(receiver.running.process.processIdentifier, SIGHUP)
    try Waiting.until("new tokens") { try status(new) == 200 }
    #expect(try status(old) == 401)
    receiver.running.process.terminate()
    let result = try receiver.running.finish()
    #expect(result.status == 143)
    #expect(!result.errors.contains(old) && !result.errors.contains(new))
    for line in result.errors.lines {
      #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(line)")
    }
  }

  /// What three senders of one staging folder were told.
  private final class Acknowledged: Sendable {
    let files = Mutex<[String: String]>([:])
    let isOver = Mutex(false)
  }

  @Test func killedAtAnyMomentItLosesNothingThatItAcknowledged() throws {
    var generator = SeededGenerator(seed: 2026)
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s")
    let all = Acknowledged()
    let rounds = Rounds.of(12, soak: 200)
    for round in 0..<rounds {
      let receiver = try ReceiverProgram(staging)
      #expect(
        try FileSystem.names(in: staging.appending(".incoming"))
          == [], "round \(round)")
      let port = receiver.port
      let senders = DispatchGroup()
      let requests = Mutex(0)
      for sender in 0..<3 {
        DispatchQueue.global().async(group: senders) {
          var number = 0
          while let connection = try? RawConnection(port: port) {
            while true {
              let name = "r\(round)s\(sender).\(number).imu"
              let content =
                "\(name) " + String(repeating: "\(sender)", count: 1 + number * 7_919 % 60_000)
              requests.withLock { $0 += 1 }
              guard connection.send(ServerScene.upload(name, content)),
                let answer = connection.answer()
              else { break }
              if answer.status == 200 { all.files.withLock { $0[name] = content } }
              number += 1
            }
          }
        }
      }
      // A moment is told by what has happened, not by the clock.
      let target = Int.random(in: 1...40, using: &generator)
      let wasAtWork = try receiver.running.kill { requests.withLock { $0 >= target } }
      #expect(wasAtWork)
      senders.wait()
    }
    let store = try UploadStore(at: staging)
    store.enterUnlisted()
    let captures = store.snapshot().captures
    let files = all.files.withLock { $0 }
    #expect(files.count >= rounds)
    var stored: [String: UploadManifest.File] = [:]
    for capture in captures {
      for file in capture.manifest.files {
        stored[file.name] = file
        let bytes = try #require(
          staging.appending("\(capture.folder)/\(file.name)").contents)
        // No half file, acknowledged or not.
        #expect(file.sha256 == Digest(of: bytes).hex, "\(file.name)")
        #expect(
          bytes.count == file.name.utf8.count + 1 + 1
            + (Int(file.name.split(separator: ".")[1]) ?? 0) * 7_919 % 60_000)
      }
    }
    for (name, content) in files {
      #expect(stored[name]?.sha256 == Digest(of: content).hex, "\(name)")
    }
    print("kill loop: \(rounds) kills, \(files.count) acknowledged, \(stored.count) stored")
  }
}

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
    try staging.namesBelow()
      .filter { !$0.contains("/.") && !$0.hasPrefix(".") && $0.contains("/") }
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
