import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Receiving

/// What `ServerTests` and `ServerLimitTests` do not show of the tables of the page about uploads.
@Suite("Rows of the tables about uploads, over raw sockets", .runsPrograms)
struct AppWireTests {
  private static func question(_ name: String, _ content: String) -> String {
    "GET /verify?filename=\(name)&checksum=\(StoreScene.md5(content)) HTTP/1.1\r\nHost: h\r\n\r\n"
  }

  // MARK: Names and endings

  @Test("Every ending that an app sends is accepted, in any case")
  func endings() async throws {
    let known =
      // ScanNet, and MultiScan with the copies that its app for iOS keeps for debugging.
      "depth h264 imu camera txt mp4 depth.zlib confidence.zlib json jsonl conf bin rot acce mag grav atti "
      + "rot_ascii acce_ascii mag_ascii grav_ascii atti_ascii log "
      // ScanNet++, Strabo, ARKit-Scanner, VI-SLAM, Stray Scanner, 3D Scanner App, Record3D, exports.
      + "mkv sha256 mov jpg jpeg png csv m4v yaml yml npy r3d exr ply obj usdz glb heic plist xml zip sens lut pose cam m4a"
    try await ServerScene.run { (scene: ServerScene) throws in
      for (index, ending) in known.split(separator: " ").enumerated() {
        for text in [String(ending), ending.uppercased()] {
          let name = "e\(index)\(text == ending ? "l" : "u").\(text)"
          #expect(try scene.send(name, name)?.status == 200, "\(name)")
        }
      }
      #expect(try scene.contents().allSatisfy { $0.key.hasSuffix("/" + $0.value) })
    }
  }

  @Test("What an app does not know of, in a header or behind the path, changes nothing")
  func unknownFields() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      for (index, fields) in [
        "Content-Type: application/octet-stream", "Content-Type: application/ipad_scanner_data",
        "Upload-Draft-Interop-Version: 6", "Upload-Draft-Interop-Version: 8",
        "Cookie: a=b\r\nX-Unknown: 1\r\nAccept-Language: de", "Expect: something else",
      ].enumerated() {
        for (method, path) in [("PUT", "/upload"), ("POST", "/upload?process=true")] {
          let connection = try scene.connect()
          let content = "\(index)"
          let name = "\(method)\(index).imu"
          connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: h\r\nFILE_NAME: \(name)\r\n\(fields)\r\n"
              + "Content-Length: 1\r\n\r\n\(content)")
          // The first answer: no interim one.
          #expect(connection.answer()?.status == 200, "\(fields)")
        }
      }
    }
  }

  @Test(
    "A part of a file is refused and never stored as the whole file",
    arguments: ["Upload-Complete: ?0", "Upload-Incomplete: ?1", "Upload-Offset: 4"])
  func part(field: String) async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      let answer = try scene.ask(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nUpload-Draft-Interop-Version: 8\r\nFILE_NAME: a.depth\r\n"
          + "\(field)\r\nContent-Length: 4\r\n\r\n0123")
      #expect(answer?.status == 400)
      try scene.waitForNoLeftovers()
      #expect(try scene.contents() == [:])
    }
  }

  // MARK: Connections

  @Test("Nothing is redirected, and the connection serves the next request, whatever was answered")
  func connectionsStay() async throws {
    try await ServerScene.run { scene in
      let connection = try scene.connect()
      for path in [
        "/upload", "//upload", "/upload/", "/multiscan/upload", "/multiscan//upload",
        "/multiscan/upload/?process=1",
      ] {
        for (name, status) in [("a.imu", 200), ("a.exe", 415), ("a/b.imu", 400)] {
          connection.send(ServerScene.upload(name, "", path: path))
          #expect(connection.answer()?.status == status, "\(path) \(name)")
        }
        connection.send(Self.question("a.imu", ""))
        #expect(connection.answer()?.status == 200, "\(path)")
        connection.send(Self.question("a.imu", "other"))
        #expect(connection.answer()?.status == 400, "\(path)")
      }
    }
  }

  @Test("A connection that has asked something stays open longer than one that has not")
  func idle() async throws {
    #expect(ReceiverSettings().keepAlive >= 75)
    var settings = ReceiverSettings()
    settings.headerTimeout = 3
    try await ServerScene.run(settings) { scene in
      let used = try scene.connect()
      used.send(ServerScene.upload("a.imu", "1"))
      #expect(used.answer()?.status == 200)
      // Opened later, and closed by now.
      let silent = try (0..<3).map { _ in try scene.connect() }
      for connection in silent { #expect(connection.isEnded()) }
      used.send(ServerScene.upload("b.imu", "2"))
      #expect(used.answer()?.status == 200)
    }
  }

  @Test("Five uploads at once, one of which is refused: the others go on")
  func fiveAtOnce() async throws {
    try await ServerScene.run { scene in
      let names = ["s.imu", "s.txt", "s.exe", "s.depth", "s.h264"]
      let connections = try names.map { _ in try scene.connect() }
      let requests = names.map { Array(ServerScene.upload($0, $0).utf8) }
      for (connection, request) in zip(connections, requests) {
        connection.send(Array(request.dropLast(2)))
      }
      for (connection, request) in zip(connections, requests) {
        connection.send(Array(request.suffix(2)))
      }
      for (connection, name) in zip(connections, names) {
        #expect(connection.answer()?.status == (name == "s.exe" ? 415 : 200), "\(name)")
      }
      #expect(try scene.contents().count == 4)
    }
  }

  @Test("Bytes are taken while earlier ones are being written to the disk")
  func readsWhileSyncing() async throws {
    var limits = ServerScene.limits
    limits.syncEvery = 1 << 20
    let files = FaultyFiles(holdsFlushes: true)
    try await ServerScene.run(limits: limits, files: files) { scene in
      defer { files.release() }
      let content = [UInt8](repeating: 7, count: (2 << 20) - 1)
      let connection = try scene.connect()
      connection.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: \(content.count)\r\n\r\n"
      )
      connection.send(content)
      let store = scene.store
      Waiting.until("all bytes") {
        files.waiting == 1
          && store.snapshot().captures.first?.arriving.first?.received == Int64(content.count)
      }
      // Not yet on the disk: not yet told.
      #expect(try scene.contents() == [:])
      files.release()
      #expect(connection.answer()?.status == 200)
    }
  }

  @Test("An early refusal reaches a sender that is busy with sending far more than is dropped")
  func refusalOfALargeBody() async throws {
    var settings = ReceiverSettings()
    settings.lingerBytes = 100_000
    settings.lingerSeconds = 600
    try await ServerScene.run(settings) { (scene: ServerScene) throws in
      for _ in 0..<5 {
        let connection = try scene.connect()
        connection.send(
          "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.exe\r\nContent-Length: 90000000\r\n\r\n")
        // As much as certainly fits on the way; a reset connection would refuse some of it.
        #expect(connection.send([UInt8](repeating: 7, count: 400_000)))
        #expect(connection.answer()?.status == 415)
        #expect(connection.send("x"))
      }
      #expect(try scene.contents() == [:])
    }
  }

  // MARK: The same name again

  @Test("The same content again touches nothing: neither the file nor its time")
  func untouched() async throws {
    try await ServerScene.run { scene in
      let file = scene.path.appending("a/a.imu")
      func status() throws -> [Int64] {
        let folder = try HeldFolder(reading: scene.path.appending("a"))
        let found = try #require(try folder.entry("a.imu"))
        let number = try FileManager.default.attributesOfItem(atPath: file.string)[
          .systemFileNumber]
        return [found.modifiedNanoseconds, (number as? NSNumber)?.int64Value ?? 0]
      }
      #expect(try scene.send("a.imu", "old")?.message == "ok")
      let before = try status()
      for isVerified in [false, true] {
        if isVerified { #expect(try scene.ask(Self.question("a.imu", "old"))?.status == 200) }
        let again = try scene.send("a.imu", "old")
        #expect(again?.status == 200 && again?.message == "File already exists on server")
        #expect(try status() == before)
      }
    }
  }

  @Test("A verify is answered by the digest that was noted when the file came")
  func recordedDigest() async throws {
    try await ServerScene.run { scene in
      #expect(try scene.send("a.imu", "old")?.status == 200)
      // Other bytes of the same size, with the time of the first: whoever read the file again would see them.
      let file = scene.path.appending("a/a.imu").string
      var status = stat()
      #expect(stat(file, &status) == 0)
      let handle = try FileHandle(forUpdating: URL(filePath: file))
      try handle.write(contentsOf: Data("new".utf8))
      try handle.close()
      var times = [status.st_atim, status.st_mtim]
      #expect(utimensat(AT_FDCWD, file, &times, 0) == 0)
      #expect(try scene.ask(Self.question("a.imu", "old"))?.status == 200)
      #expect(try scene.ask(Self.question("a.imu", "new"))?.status == 400)
    }
  }

  // MARK: Limits

  struct Limit: Sendable, CustomTestStringConvertible {
    var what: String
    var set: @Sendable (inout UploadLimits) -> Void
    var status: Int
    var testDescription: String { what }
  }

  @Test(
    "A limit is told by the header, without 100 Continue, and where there is no length when it is crossed",
    arguments: [
      Limit(what: "file", set: { $0.file = 10 }, status: 413),
      Limit(what: "capture", set: { $0.capture = 11 }, status: 413),
      Limit(what: "quota", set: { $0.quota = 11 }, status: 507),
      Limit(what: "reserve", set: { $0.reserve = .max / 2 }, status: 507),
      Limit(what: "files", set: { $0.entries = 600 }, status: 413),
    ])
  func limits(_ limit: Limit) async throws {
    var limits = ServerScene.limits
    limit.set(&limits)
    try await ServerScene.run(limits: limits) { scene in
      let isWhole = limit.what != "reserve"
      #expect(try scene.send("k.imu", "1")?.status == (isWhole ? 200 : 507))
      let head = "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: k.depth\r\n"
      let connection = try scene.connect()
      connection.send(head + "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n")
      let answer = connection.answer()
      #expect(answer?.status == limit.status, "\(answer?.body ?? "")")
      #expect(answer?.message?.isEmpty == false)
      let chunked =
        head + "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n78901\r\n0\r\n\r\n"
      #expect(try scene.ask(chunked)?.status == limit.status)
      try scene.waitForNoLeftovers()
      #expect(try scene.contents() == (isWhole ? ["k/k.imu": "1"] : [:]))
    }
  }
}

@Suite("The form of the Strabo SDK")
struct FormReaderTests {
  static let boundary = "0xKhTmLbOuNdArY"
  static func part(_ name: String, _ file: String, _ content: String) -> String {
    "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\n"
      + "Content-Type: application/octet-stream\r\n\r\n\(content)\r\n"
  }

  private func parts(_ pieces: [[UInt8]]) throws -> (parts: [String: String], isDone: Bool) {
    var reader = try FormReader(contentType: "multipart/form-data; boundary=\(Self.boundary)")
    var found: [String: String] = [:]
    var current: String?
    var content: [UInt8] = []
    for piece in pieces {
      for event in try reader.read(piece) {
        switch event {
        case .part(let name, let file):
          current = "\(name) \(file ?? "-")"
          content = []
        case .data(let bytes): content += bytes
        case .end:
          if let current { found[current] = String(decoding: content, as: UTF8.self) }
        }
      }
    }
    return (found, reader.isDone)
  }

  @Test func piecesMayEndAnywhere() throws {
    let form = Array(
      (Self.part("media_file", "t.mov", "a\r\n--0xKh\r\n-b") + Self.part("thumbnail", "t.png", "")
        + "--\(Self.boundary)--\r\n").utf8)
    let expected = ["media_file t.mov": "a\r\n--0xKh\r\n-b", "thumbnail t.png": ""]
    for cut in 0...form.count {
      let result = try parts([Array(form[..<cut]), Array(form[cut...])])
      #expect(result.parts == expected, "cut at \(cut)")
      #expect(result.isDone)
    }
    #expect(try parts(form.map { [$0] }).parts == expected)
  }

  @Test func aFormThatIsCutIsNotDone() throws {
    let form = Array((Self.part("media_file", "t.mov", "x") + "--\(Self.boundary)--").utf8)
    for cut in 0..<form.count { #expect(try !parts([Array(form[..<cut])]).isDone) }
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
  ])
  func aFormNeedsABoundary(_ type: String) {
    #expect(throws: UploadRefusal.self) { _ = try FormReader(contentType: type) }
  }

  @Test func randomBytesNeverCrash() throws {
    var generator = SystemRandomNumberGenerator()
    let seed = Array((Self.part("a", "b", "c") + "--\(Self.boundary)--").utf8)
    for _ in 0..<500 {
      var bytes = seed
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255)
      }
      var reader = try FormReader(contentType: "multipart/form-data; boundary=\(Self.boundary)")
      _ = try? reader.read(bytes)
    }
  }
}

@Suite struct UploadNameTests {
  @Test func theIdIsTheNameUpToItsFirstDotLessTheEndingsThatAppsAdd() {
    for (name, id) in [
      ("a.depth.zlib", "a"), ("a-primary.mp4", "a"), ("a-secondary.mp4", "a"),
      ("a_depth.txt", "a"), ("a_confidence.txt", "a"), ("a_thumb.jpg", "a"),
      ("a_preview.mp4", "a"), ("a-primary.txt", "a-primary"), ("a_depth.jpg", "a_depth"),
      ("2016-07-01_04-29-44__5F0C.imu", "2016-07-01_04-29-44__5F0C"),
    ] {
      #expect(UploadName.id(of: name) == id)
    }
  }

  @Test("No capture gets a name that files bear while they are sent: watch would wait for it")
  func idsThatWatchWaitsFor() {
    for name in ["a.part", "a.TMP", "a.filepart", "a.crdownload", "a.sb-1a2b3c4d-Ab12Cd"] {
      #expect(throws: UploadRefusal.self, "\(name)") {
        try UploadName(capture: name, path: "a.mp4", endings: ["mp4"])
      }
    }
    for name in ["a.parts", "apart", "a.part.1", "a.2026"] {
      #expect(throws: Never.self, "\(name)") {
        try UploadName(capture: name, path: "a.mp4", endings: ["mp4"])
      }
    }
  }
}

@Suite("Uploads that can be resumed")
struct ResumableTests {
  @Test func whatTheDiskHoldsCountsAfterANewStart() throws {
    let scene = try StoreScene()
    let upload = try scene.begin("a.imu", length: 6, resumable: true)
    try upload.append(Array("abcd".utf8))
    // Not suspended: the process is gone.
    try scene.restart()
    #expect(scene.store.resumable(upload.id)?.received == 4)
    let again = try scene.store.resume(upload.id)
    try again.append(Array("ef".utf8))
    #expect(try again.finish().sha256 == Digest(of: "abcdef").hex)
    #expect(try scene.contents() == ["a/a.imu": "abcdef"])
  }

  @Test func oneThatNobodyResumesIsRemoved() throws {
    var limits = StoreScene.limits
    limits.resumableLifetime = 0
    let scene = try StoreScene(limits: limits)
    let upload = try scene.begin("a.imu", length: 6, resumable: true)
    try upload.suspend()
    scene.store.removeExpired()
    #expect(scene.store.resumable(upload.id) == nil)
    #expect(try scene.leftovers() == [])
  }
}
