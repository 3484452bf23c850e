@testable import Captures
import Foundation
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

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
        try FileManager.default.contentsOfDirectory(atPath: staging.appending(".incoming").string)
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
