import Dispatch
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("From the device to the morning report, without a hand on it", .runsPrograms)
struct ReceivedNightTests {
  private let scene: WatchScene
  private let originals: FilePath

  init() throws {
    scene = try WatchScene(
      "  imu: {uses: match-imu}\n  depth: {uses: decompress-depth}\n  tables: {uses: export-tables}"
    )
    originals = scene.folder.path.appending("originals")
    try FileSystem.makeFolder(originals)
  }

  private func make(_ id: String, _ family: String) throws -> String {
    let made = try scene.make(id, family: family)
    var name = id
    if family == "strabo" {
      // The app calls everything by its token.
      name = try #require(
        FileSystem.names(in: made)
          .first { $0.hasSuffix(".mov") }
      ).replacing(".mov", with: "")
    }
    try made.move(to: originals.appending(name))
    return name
  }

  private func files(_ id: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = originals.appending(id)
    return try FileSystem.names(in: folder).map {
      ($0, [UInt8](folder.appending($0).contents ?? Data()))
    }
  }

  private static func head(_ name: String, _ count: Int, prefix: String) -> [UInt8] {
    Array(
      "PUT \(prefix)/upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: \(name)\r\nContent-Type: application/ipad_scanner_data\r\nContent-Length: \(count)\r\n\r\n"
        .utf8)
  }

  private static func md5(_ bytes: [UInt8]) -> String {
    let digest = MessageDigest(.md5)
    bytes.withUnsafeBytes { digest.update($0) }
    return digest.finalizeHex()
  }

  /// As the ScanNet and MultiScan apps do: each file, then its digest.
  private func send(_ id: String, port: Int, prefix: String) throws {
    for (name, bytes) in try files(id) {
      let app = try RawConnection(port: port)
      app.send(Self.head(name, bytes.count, prefix: prefix) + bytes)
      #expect(app.answer()?.status == 200, "\(name)")
      #expect(try verify(name, Self.md5(bytes), port: port, prefix: prefix) == 200)
    }
  }

  private func verify(_ name: String, _ md5: String, port: Int, prefix: String) throws -> Int? {
    let app = try RawConnection(port: port)
    app.send(
      Array(
        "GET \(prefix)/verify?filename=\(name)&checksum=\(md5) HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    return app.answer()?.status
  }

  private func sendForm(_ token: String, port: Int) throws {
    let boundary = "0xKhTmLbOuNdArY"
    var body: [UInt8] = []
    let files = Dictionary(try files(token).map { ($0.name, $0.bytes) }) { first, _ in first }
    for (field, name, type) in [
      ("media_file", "\(token).mov", "video/quicktime"), ("thumbnail", "\(token).png", "image/png"),
      ("capture_info", "capture-info.json", "application/json"),
      ("geo_data", "\(token).json", "application/json"),
    ] {
      body += Array(
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\n"
          .utf8)
      body += try #require(files[name], "\(name)") + Array("\r\n".utf8)
    }
    body += Array("--\(boundary)--\r\n".utf8)
    let app = try RawConnection(port: port)
    app.send(
      Array(
        "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=\(boundary)\r\nContent-Length: \(body.count)\r\n\r\n"
          .utf8) + body)
    #expect(app.answer()?.status == 200)
  }

  private func receive(
    _ port: Int = 0, more: [String] = []
  ) throws -> (running: Running, port: Int) {
    let running = try Program.start(
      "receive \(scene.staging) --listen 127.0.0.1:\(port) --reserve 0 \(more)")
    try Waiting.until("an address") {
      try !running.process.isRunning || running.outputSoFar().hasSuffix("/\n")
    }
    let line = try running.outputSoFar()
    let digits = line.split(separator: ":").last.map { $0.prefix { $0 != "/" } } ?? ""
    return (running, try #require(Int(digits), "\(line)"))
  }

  @Test(
    "Five captures of three families by three apps at once, one cut, one verified wrongly, the receiver killed once"
  )
  func night() throws {
    let first = try make("2026-11-20_10-15-00__A", "scannet")
    let second = try make("2026-11-20_10-20-00__B", "scannet")
    let third = try make("20261120T103000+0100_C", "multiscan")
    let fourth = try make("20261120T104000+0100_D", "multiscan")
    let token = try make("form", "strabo")
    var (receiver, port) = try receive()
    let watcher = try scene.start()
    // Cut in the middle of a file, and damaged for the app in another one.
    let cut = try #require(try files(second).last { $0.bytes.count > 1_000 })
    do {
      let app = try RawConnection(port: port)
      app.send(Self.head(cut.name, cut.bytes.count, prefix: "") + cut.bytes.dropLast(500))
    }
    let wrong = try #require(try files(third).first)
    let app = try RawConnection(port: port)
    app.send(Self.head(wrong.name, wrong.bytes.count, prefix: "/multiscan") + wrong.bytes)
    #expect(app.answer()?.status == 200)
    #expect(
      try verify(wrong.name, String(repeating: "0", count: 32), port: port, prefix: "/multiscan")
        == 400)
    // Killed with something on its way, and started again at the same address.
    let half = try RawConnection(port: port)
    half.send(Self.head(cut.name, cut.bytes.count, prefix: "") + cut.bytes.dropLast(500))
    try scene.wait("something on its way") {
      let names = try FileSystem.names(in: scene.staging.appending(".incoming"))
      return names.contains { $0.hasSuffix(".json") }
    }
    receiver.signal(SIGKILL)
    _ = try receiver.finish()
    (receiver, port) = try receive(port)
    let errors = sendTogether([
      { try send(first, port: port, prefix: "") },
      { try send(second, port: port, prefix: "") },
      {
        try send(third, port: port, prefix: "/multiscan")
        try send(fourth, port: port, prefix: "/multiscan")
      },
      { try sendForm(token, port: port) },
    ])
    #expect(errors.isEmpty, "\(errors)")
    let ids = [first, second, third, fourth, token]
    let expected = scene.folder.path.appending("expected")
    try Program.run("run \(originals) --output \(expected) --pipeline \(scene.pipeline)").succeeds()
    let wanted = try expected.digests()
    #expect(wanted.keys.count { $0.hasSuffix("/tables") } == ids.count, "\(wanted.keys)")
    try scene.wait("everything") { try scene.output.digests() == wanted && scene.waiting.isEmpty }
    receiver.signal(SIGTERM)
    #expect(try receiver.finish().status == 143)
    #expect(try watcher.stop().status == 143)
    for id in ids {
      for (name, bytes) in try files(id) {
        let stored = scene.staging.appending(id).appending(name).string
        #expect(FileManager.default.contents(atPath: stored) == Data(bytes), "\(name)")
      }
    }
    let report = try Program.run("report \(scene.output) --format json")
    let object = try Data(report.output.utf8).json()
    let totals = try object.object("totals")
    #expect(totals["captures"] as? Int == 5 && totals["needsPerson"] as? Int == 0, "\(totals)")
    let done = totals["ready"] as? Int ?? 0
    #expect(done == 5, "\(totals)")
    #expect((object["unrecognized"] as? [Any])?.isEmpty == true)
    let captures = try object.objects("captures")
    let verified = captures.filter {
      $0["custody", "verifiedBy"] as? String == "manifest"
    }
    // The form has no digests to compare.
    #expect(
      Set(
        verified.compactMap { $0["path"] as? String }.compactMap {
          FilePath($0).lastComponent?.string
        })
        == Set(ids).subtracting([token]))
  }

  /// The app of a family without an own upload: each file by its path, with or without its digest.
  private func put(
    _ name: String, _ bytes: [UInt8], of id: String, port: Int, isVerified: Bool
  ) throws -> Int? {
    let digest = MessageDigest(.sha256)
    bytes.withUnsafeBytes { digest.update($0) }
    let text = Data(digest.finalize()).base64EncodedString()
    let app = try RawConnection(port: port)
    app.send(
      Array(
        "PUT /captures/\(id)/files/\(name) HTTP/1.1\r\nHost: h\r\n\(isVerified ? "Repr-Digest: sha-256=:\(text):\r\n" : "")Content-Length: \(bytes.count)\r\n\r\n"
          .utf8) + bytes)
    return app.answer()?.status
  }

  private func custody(_ id: String) throws -> [String: Any] {
    let report = try Program.run("report \(scene.output) --format json")
    return try report.json().captures()[id]?["custody"] as? [String: Any] ?? [:]
  }

  @Test(
    "What a killed receiver has acknowledged counts for watch and report before it is started again"
  )
  func killedWithAJournal() throws {
    let id = "walk"
    let made = try scene.make(id, family: "stray-scanner", frames: 40)
    let names = try made.filesBelow()
    #expect(names.count > 70)
    func bytes(_ name: String) -> [UInt8] {
      [UInt8](made.appending(name).contents ?? Data())
    }
    let capture = scene.staging.appending(id)
    var (receiver, port) = try receive()
    for name in names {
      let isLast = name == names.last
      #expect(try put(name, bytes(name), of: id, port: port, isVerified: !isLast) == 201)
    }
    receiver.signal(SIGKILL)
    _ = try receiver.finish()
    // The manifest is written some seconds after the first file that it lacks: where that was in time, others come.
    var extra = 0
    while !FileSystem.exists(capture.appending(".upload.journal")), extra < 40 {
      (receiver, port) = try receive()
      extra += 1
      #expect(
        try put("extra\(extra).txt", [1], of: id, port: port, isVerified: true) == 201)
      receiver.signal(SIGKILL)
      _ = try receiver.finish()
    }
    #expect(FileSystem.exists(capture.appending(".upload.journal")))
    let written = try capture.appending(".upload.json").json()
    let total = names.count + extra
    let noted = written["files"] as? [Any]
    #expect((noted?.count ?? total) < total)

    try capture.appending(".complete").write("")
    try scene.once().succeeds()
    var found = try custody(id)
    #expect(found["receivedFiles"] as? Int == total, "\(found)")
    #expect(found["expectedFiles"] as? Int == total, "\(found)")
    #expect(
      found["lacks"] as? [String]
        == ["1 of \(total) files not verified by the upload server"], "\(found)")

    // Started again, it goes on with the same notes.
    (receiver, port) = try receive()
    let last = try #require(names.last)
    #expect(try put(last, bytes(last), of: id, port: port, isVerified: true) == 200)
    let app = try RawConnection(port: port)
    app.send(
      Array("POST /captures/\(id)/complete HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".utf8))
    #expect(app.answer()?.status == 200)
    #expect(try receiver.stop().status == 143)
    #expect(!FileSystem.exists(capture.appending(".upload.journal")))
    found = try custody(id)
    #expect(found["verifiedBy"] as? String == "manifest", "\(found)")
    #expect(found["lacks"] as? [String] == [], "\(found)")
  }

  /// Runs each on a thread of its own; what went wrong.
  private func sendTogether(_ bodies: [() throws -> Void]) -> [String] {
    nonisolated(unsafe) let bodies = bodies
    let lock = NSLock()
    nonisolated(unsafe) var errors = [String](repeating: "", count: bodies.count)
    let group = DispatchGroup()
    for index in bodies.indices {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        do {
          try bodies[index]()
        } catch {
          lock.withLock { errors[index] = "\(error)" }
        }
      }
    }
    group.wait()
    return errors.filter { !$0.isEmpty }
  }
}
