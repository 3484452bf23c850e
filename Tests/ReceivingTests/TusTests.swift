import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("tus 1.0.0", .runsPrograms)
struct TusTests {
  private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  /// A request as it goes over the wire. `fields` follow `Tus-Resumable`.
  private static func request(
    _ method: String, _ path: String, _ fields: [String] = [], body: String? = nil,
    version: String? = "1.0.0"
  ) -> String {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: h"]
    if let version { lines.append("Tus-Resumable: \(version)") }
    lines += fields
    if let body {
      if !fields.contains(where: { $0.hasPrefix("Content-Type:") }) {
        lines.append("Content-Type: application/offset+octet-stream")
      }
      lines.append("Content-Length: \(body.utf8.count)")
    }
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
  }

  private static func create(
    _ length: Int, name: String = "a.txt", capture: String? = "a", more: [String] = [],
    path: String = "/tus/", body: String? = nil
  ) -> String {
    var metadata = "filename \(base64(name))"
    if let capture { metadata += ",capture \(base64(capture))" }
    return request(
      "POST", path, ["Upload-Length: \(length)", "Upload-Metadata: \(metadata)"] + more, body: body)
  }

  private static func patch(
    _ location: String, at offset: Int, _ body: String, _ more: [String] = []
  ) -> String {
    request("PATCH", location, ["Upload-Offset: \(offset)"] + more, body: body)
  }

  private static func location(_ scene: ServerScene, _ request: String) throws -> String {
    let answer = try #require(try scene.ask(request))
    #expect(answer.status == 201, "\(answer)")
    return try #require(answer.fields["location"])
  }

  private static func offset(_ scene: ServerScene, _ location: String) throws -> String? {
    let answer = try #require(try scene.ask(request("HEAD", location)))
    #expect(answer.fields["cache-control"] == "no-store")
    return answer.fields["upload-offset"]
  }

  @Test("says what it speaks, and speaks nothing else")
  func versions() async throws {
    try await ServerScene.run { scene in
      let options = try #require(try scene.ask(Self.request("OPTIONS", "/tus/", version: nil)))
      #expect(options.status == 204)
      #expect(
        options.fields["tus-version"] == "1.0.0" && options.fields["tus-resumable"] == "1.0.0")
      #expect(
        options.fields["tus-extension"]
          == "creation,creation-with-upload,termination,checksum,expiration")
      #expect(options.fields["tus-checksum-algorithm"] == "md5,sha1,sha256")
      #expect(options.fields["tus-max-size"] == "\(64 << 30)")
      for version in [nil, "0.2.2", "1.0"] {
        let answer = try scene.ask(
          Self.request("POST", "/tus/", ["Upload-Length: 1"], version: version))
        #expect(answer?.status == 412 && answer?.fields["tus-version"] == "1.0.0")
      }
    }
  }

  @Test("A file in pieces, with a break of the connection in one of them")
  func pieces() async throws {
    try await ServerScene.run { scene in
      let location = try Self.location(scene, Self.create(10))
      #expect(location.hasPrefix("/tus/"))
      #expect(try Self.offset(scene, location) == "0")
      let first = try #require(try scene.ask(Self.patch(location, at: 0, "0123")))
      #expect(first.status == 204 && first.fields["upload-offset"] == "4")
      #expect(first.fields["upload-expires"]?.hasSuffix(" GMT") == true)
      let cut = try scene.connect()
      cut.send(
        Self.request(
          "PATCH", location,
          [
            "Upload-Offset: 4", "Content-Type: application/offset+octet-stream",
            "Content-Length: 6",
          ]) + "45")
      Waiting.until("the piece to begin") { scene.store.snapshot().activeUploads == 1 }
      // A second sender while the first one is there.
      #expect(try scene.ask(Self.patch(location, at: 4, "456789"))?.status == 423)
      #expect(try scene.ask(Self.request("DELETE", location))?.status == 423)
      cut.end()
      try Waiting.until("the end of the first") {
        let answer = try scene.ask(Self.patch(location, at: 5, "x"))
        return answer?.status == 409
      }
      #expect(try scene.contents().isEmpty)
      let last = try #require(try scene.ask(Self.patch(location, at: 6, "6789")))
      #expect(last.status == 204 && last.fields["upload-offset"] == "10")
      #expect(try scene.contents() == ["a/a.txt": "0123456789"])
      // Whoever did not hear the last answer asks again.
      #expect(try Self.offset(scene, location) == "10")
      #expect(try scene.ask(Self.request("DELETE", location))?.status == 404)
      #expect(try scene.leftovers().isEmpty)
    }
  }

  @Test(
    "Creation with a body, of nothing, with the name of the apps, in a folder, behind a token and a prefix"
  )
  func creation() async throws {
    let token = String(repeating: "k", count: 20)
    try await ServerScene.run(tokens: try TokenList(text: "lab \(token)")) { scene in
      #expect(try scene.ask(Self.create(3))?.status == 401)
      let base = "/t/\(token)/multiscan/tus"
      let whole = try #require(try scene.ask(Self.create(3, path: base, body: "abc")))
      #expect(whole.status == 201 && whole.fields["upload-offset"] == "3")
      #expect(whole.fields["location"]?.hasPrefix("\(base)/") == true)
      let part = try #require(
        try scene.ask(Self.create(5, name: "b.csv", path: base, body: "ab")))
      #expect(part.status == 201 && part.fields["upload-offset"] == "2")
      let location = try #require(part.fields["location"])
      #expect(try scene.ask(Self.patch(location, at: 2, "cde"))?.status == 204)
      #expect(try scene.ask(Self.create(0, name: "empty.txt", path: base))?.status == 201)
      let app = try Self.location(
        scene, Self.create(1, name: "x-primary.mp4", capture: nil, path: base + "/"))
      #expect(try scene.ask(Self.patch(app, at: 0, "v"))?.status == 204)
      let inner = try Self.location(scene, Self.create(1, name: "depth/0.png", path: base))
      #expect(try scene.ask(Self.patch(inner, at: 0, "d"))?.status == 204)
      #expect(
        try scene.contents().filter { !$0.key.hasSuffix("/depth") } == [
          "a/a.txt": "abc", "a/b.csv": "abcde", "a/empty.txt": "", "x/x-primary.mp4": "v",
        ])
      #expect(FileSystem.exists(scene.path.appending("a").appending("depth").appending("0.png")))
    }
  }

  @Test("What is refused, each before a byte is stored")
  func refusals() async throws {
    try await ServerScene.run { scene in
      let name = Self.base64("a.txt")
      for (fields, status) in [
        (["Upload-Metadata: filename \(name)"], 400),
        (["Upload-Length: -1", "Upload-Metadata: filename \(name)"], 400),
        (["Upload-Length: 9999999999999999999", "Upload-Metadata: filename \(name)"], 400),
        (["Upload-Defer-Length: 1", "Upload-Metadata: filename \(name)"], 400),
        (["Upload-Length: 1"], 400),
        (["Upload-Length: 1", "Upload-Metadata: filename"], 400),
        (["Upload-Length: 1", "Upload-Metadata: filename *"], 400),
        (["Upload-Length: 1", "Upload-Metadata: filename \(name),filename \(name)"], 400),
        (["Upload-Length: 1", "Upload-Metadata: filename \(name),,"], 400),
        (["Upload-Length: 1", "Upload-Metadata: filename \(Self.base64("../x.txt"))"], 400),
        (["Upload-Length: 1", "Upload-Metadata: filename \(Self.base64("a.exe"))"], 415),
        (
          ["Upload-Length: 1", "Upload-Metadata: filename \(name),capture \(Self.base64(".."))"],
          400
        ),
        (
          ["Upload-Length: 1", "Upload-Metadata: filename \(name),sha256 \(Self.base64("12"))"],
          400
        ),
        (["Upload-Length: \(65 << 30)", "Upload-Metadata: filename \(name)"], 413),
      ] {
        let answer = try #require(try scene.ask(Self.request("POST", "/tus/", fields)))
        #expect(answer.status == status, "\(fields): \(answer)")
        #expect(answer.fields["tus-resumable"] == "1.0.0" && answer.message != nil)
      }
      for (method, path, status) in [
        ("HEAD", "/tus/none", 404), ("PATCH", "/tus/none", 404), ("DELETE", "/tus/none", 404),
        ("GET", "/tus/none", 405), ("PUT", "/tus/", 405), ("POST", "/tus/none", 405),
      ] {
        #expect(try scene.ask(Self.request(method, path, body: ""))?.status == status)
      }
      let location = try Self.location(scene, Self.create(4))
      for (fields, body, status) in [
        (["Upload-Offset: 1"], "a", 409), ([], "a", 400), (["Upload-Offset: x"], "a", 400),
        (["Upload-Offset: 0", "Content-Type: text/plain"], "a", 415),
        (["Upload-Offset: 0"], "abcde", 413),
        (["Upload-Offset: 0", "Upload-Checksum: crc32 AAAA"], "a", 400),
        (["Upload-Offset: 0", "Upload-Checksum: sha1 AAAA"], "a", 400),
        (["Upload-Offset: 0", "Upload-Checksum: sha1"], "a", 400),
      ] {
        let answer = try scene.ask(Self.request("PATCH", location, fields, body: body))
        #expect(answer?.status == status, "\(fields)")
      }
      #expect(try Self.offset(scene, location) == "0")
      #expect(try scene.ask(Self.request("DELETE", location))?.status == 204)
      #expect(try scene.ask(Self.request("HEAD", location))?.status == 404)
      #expect(try scene.leftovers().isEmpty && scene.contents().isEmpty)
    }
  }

  @Test(
    "A piece with a wrong checksum is dropped as a whole, one with the right one is kept",
    arguments: MessageDigest.Algorithm.allCases)
  func checksums(algorithm: MessageDigest.Algorithm) async throws {
    func checksum(_ text: String) -> String {
      let digest = MessageDigest(algorithm)
      Array(text.utf8).withUnsafeBytes { digest.update($0) }
      let hex = Array(digest.finalizeHex().utf8)
      let bytes = stride(from: 0, to: hex.count, by: 2).compactMap {
        UInt8(String(decoding: hex[$0..<($0 + 2)], as: UTF8.self), radix: 16)
      }
      return "Upload-Checksum: \(algorithm.rawValue) \(Data(bytes).base64EncodedString())"
    }
    let (right, wrong) = (checksum("abc"), checksum("abd"))
    try await ServerScene.run { scene in
      let location = try Self.location(scene, Self.create(6))
      #expect(try scene.ask(Self.patch(location, at: 0, "abc", [wrong]))?.status == 460)
      #expect(try Self.offset(scene, location) == "0")
      #expect(try scene.ask(Self.patch(location, at: 0, "abc", [right]))?.status == 204)
      // Cut in a checked piece: nothing of it counts.
      let cut = try scene.connect()
      cut.send(
        Self.request(
          "PATCH", location,
          [
            "Upload-Offset: 3", right, "Content-Type: application/offset+octet-stream",
            "Content-Length: 3",
          ]) + "ab")
      cut.endSending()
      _ = cut.answer()
      try Waiting.until("the piece was dropped") { try Self.offset(scene, location) == "3" }
      #expect(try scene.ask(Self.patch(location, at: 3, "abc", [right]))?.status == 204)
      #expect(try scene.contents() == ["a/a.txt": "abcabc"])
    }
  }

  @Test("The digest of the whole file is compared at the end, and makes it verified")
  func wholeDigest() async throws {
    let content = "content"
    let digest = MessageDigest(.sha256)
    Array(content.utf8).withUnsafeBytes { digest.update($0) }
    let right = digest.finalizeHex()
    try await ServerScene.run { scene in
      func create(_ sha256: String, _ more: [String] = []) throws -> String {
        let metadata =
          "filename \(Self.base64("a.txt")),capture \(Self.base64("a")),sha256 \(Self.base64(sha256))"
        return try Self.location(
          scene,
          Self.request(
            "POST", "/tus/",
            ["Upload-Length: \(content.utf8.count)", "Upload-Metadata: \(metadata)"] + more))
      }
      let wrong = try create(String(repeating: "0", count: 64))
      #expect(try scene.ask(Self.patch(wrong, at: 0, content))?.status == 460)
      #expect(try scene.contents().isEmpty && scene.leftovers().isEmpty)
      // One that was broken off is found again by whoever sends the same file and asks for it.
      let first = try create(right)
      #expect(try scene.ask(Self.patch(first, at: 0, "con"))?.status == 204)
      #expect(try create(right) != first)
      #expect(try create(right, ["Upload-Reuse: ?1"]) == first)
      #expect(try scene.ask(Self.patch(first, at: 3, "tent"))?.status == 204)
      let capture = try #require(try scene.get("/captures/a"))
      #expect(capture.body.contains(#""state":"verified""#), "\(capture.body)")
    }
  }

  @Test("A piece in chunks that goes beyond the length is dropped, and what was there stays")
  func beyond() async throws {
    try await ServerScene.run { scene in
      let location = try Self.location(scene, Self.create(6))
      let chunks = "4\r\nWXYZ\r\n3\r\nabc\r\n0\r\n\r\n"
      for (before, piece) in [("", "ab"), ("ab", "cdef")] {
        let answer = try scene.ask(
          Self.request(
            "PATCH", location,
            [
              "Upload-Offset: \(before.utf8.count)", "Transfer-Encoding: chunked",
              "Content-Type: application/offset+octet-stream",
            ]) + chunks)
        #expect(answer?.status == 413)
        #expect(try Self.offset(scene, location) == "\(before.utf8.count)")
        #expect(try scene.ask(Self.patch(location, at: before.utf8.count, piece))?.status == 204)
      }
      #expect(try scene.contents() == ["a/a.txt": "abcdef"])
      // An upload whose address its sender does not learn leaves nothing.
      let name = Self.base64("b.txt")
      let created = try scene.ask(
        Self.request(
          "POST", "/tus/",
          [
            "Upload-Length: 6", "Upload-Metadata: filename \(name)", "Transfer-Encoding: chunked",
            "Content-Type: application/offset+octet-stream",
          ]) + chunks)
      #expect(created?.status == 413)
      try scene.waitForNoLeftovers()
    }
  }

  @Test(
    "Where a piece that goes beyond the length cannot be dropped, the answer says so, and the upload is gone"
  )
  func beyondAndStuck() async throws {
    let files = FaultyFiles()
    try await ServerScene.run(files: files) { scene in
      func send(_ location: String) throws -> Int? {
        try scene.ask(
          Self.request(
            "PATCH", location,
            [
              "Upload-Offset: 0", "Transfer-Encoding: chunked",
              "Content-Type: application/offset+octet-stream",
            ]) + "4\r\nWXYZ\r\n3\r\nabc\r\n0\r\n\r\n")?.status
      }
      let location = try Self.location(scene, Self.create(6))
      files.arm(nil)
      #expect(try send(location) == 413)
      let at = try #require(files.calls.firstIndex(of: "truncate"))
      files.arm(.once(at: at, .ioError))
      #expect(try send(location) == 500)
      files.arm(nil)
      #expect(try send(location) == 404)
      try scene.waitForNoLeftovers()
    }
  }

  @Test("Dates are those of HTTP")
  func dates() {
    #expect(TusRoutes.date(784_111_777_000_000_000) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(TusRoutes.date(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
  }

  @Test("Metadata of any bytes is read or refused")
  func metadata() {
    var random = SeededGenerator(seed: 5)
    let alphabet = Array("ab ,=+/Z0*é\u{0}")
    for _ in 0..<20_000 {
      let text = String(
        (0..<Int.random(in: 0...24, using: &random)).compactMap { _ in
          alphabet.randomElement(using: &random)
        })
      if let values = try? TusRoutes.metadata(text) {
        #expect(values.keys.allSatisfy { !$0.isEmpty && !$0.contains(",") })
      }
    }
  }
}

@Suite(
  "Uploads that can be resumed outlive the receiver, and other programs speak to it", .runsPrograms)
struct TusProgramTests {
  private static let send = ReceiverProgram.path.removingLastComponent().appending("scanmill-send")

  private static func send(_ words: [String]) throws -> Running.Result {
    try Running(send, words).finish()
  }

  @Test(
    "scanmill send: everything once, nothing twice, a broken upload goes on, nothing is deleted")
  func sends() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("s")
    let receiver = try ReceiverProgram(staging)
    let url = "http://127.0.0.1:\(receiver.port)"
    let capture = folder.path.appending("scan + 1")
    try FileSystem.makeFolder(capture.appending("depth"))
    let large = [UInt8]((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    for (name, bytes) in [
      ("metadata.json", Array("{}".utf8)), ("depth/0.bin", large), ("depth/1.bin", []),
      (".DS_Store", [1]),
    ] {
      try capture.appending(FilePath(name).components).write(bytes)
    }
    // Half of the large one was sent before.
    let digest = MessageDigest(.sha256)
    large.withUnsafeBytes { digest.update($0) }
    func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    let before = try RawConnection(port: receiver.port)
    before.send(
      "POST /tus/ HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: \(large.count)\r\n"
        + "Upload-Metadata: capture \(base64("scan + 1")),filename \(base64("depth/0.bin")),"
        + "sha256 \(base64(digest.finalizeHex()))\r\nContent-Length: 1000\r\n"
        + "Content-Type: application/offset+octet-stream\r\n\r\n")
    before.send(Array(large[..<1000]))
    #expect(before.answer()?.status == 201)
    let first = try Self.send([capture.string, "--to", url]).succeeds()
    #expect(first.output == "scan + 1 sent 3/3 already=0 bytes=300002\n")
    let stored = staging.appending("scan + 1")
    #expect(
      stored.appending("depth").appending("0.bin").contents == Data(large))
    #expect(!FileSystem.exists(stored.appending(".DS_Store")))
    let manifest = try stored.appending(".upload.json").text()
    #expect(!manifest.contains("\"complete\" : null") && !manifest.contains("unverified"))
    #expect(try receiver.running.errorsSoFar().contains(" 201 resumed"))
    let again = try Self.send([capture.string, "--to", url + "/"])
    #expect(again.status == 0 && again.output == "scan + 1 sent 0/3 already=3 bytes=0\n")
    #expect(FileSystem.exists(capture.appending("depth").appending("0.bin")))
    receiver.running.process.terminate()
    _ = try receiver.running.finish()
    let unreachable = try Self.send([capture.string, "--to", url, "--retries", "1"])
    #expect(unreachable.status == 75 && unreachable.errors.contains("does not answer"))
  }

  @Test("scanmill send: exit codes")
  func exitCodes() throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram(folder.path.appending("s"))
    let url = "http://127.0.0.1:\(receiver.port)"
    let odd = folder.path.appending("odd")
    try FileSystem.makeFolder(odd)
    try odd.appending("a.exe").write("x")
    let good = folder.path.appending("good")
    try FileSystem.makeFolder(good)
    try good.appending("a.txt").write("x")
    for (words, status, text) in [
      ([folder.path.appending("none").string, "--to", url], 65, "no such file"),
      ([odd.string, "--to", url], 1, "415"),
      ([folder.path.appending("none").string, good.string, "--to", url], 1, "no such file"),
      ([good.string, "--to", "ftp://h"], 64, "--to ftp://h"), ([good.string], 64, "--to"),
      ([good.string, "--to", url, "--token-file", "/nowhere"], 64, "--token-file"),
    ] as [([String], Int32, String)] {
      let result = try Self.send(words)
      #expect(result.status == status && result.errors.contains(text), "\(words): \(result.errors)")
    }
    receiver.running.process.terminate()
    _ = try receiver.running.finish()
  }

  @Test("tuspy, a public client, sends a file in pieces", .enabled(if: TusPy.isPresent))
  func tuspy() throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram(folder.path.appending("s"))
    let file = folder.path.appending("b.depth")
    let bytes = Data((0..<250_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    try bytes.write(to: URL(filePath: file.string))
    let script = """
      import sys
      from tusclient import client
      c = client.TusClient(sys.argv[1])
      u = c.uploader(sys.argv[2], chunk_size=60000, metadata={"capture": "b", "filename": "b.depth"},
                     upload_checksum=True)
      u.upload_chunk()
      print(u.offset)
      v = c.uploader(sys.argv[2], chunk_size=60000, url=u.url)
      print(v.offset)
      v.upload()
      print(v.offset)
      """
    let result = try Running(
      FilePath(TusPy.python), ["-c", script, "http://127.0.0.1:\(receiver.port)/tus/", file.string]
    ).finish()
    #expect(result.status == 0 && result.output == "60000\n60000\n250000\n", "\(result.errors)")
    #expect(
      folder.path.appending("s").appending("b").appending("b.depth").contents == bytes)
    receiver.running.process.terminate()
    _ = try receiver.running.finish()
  }
}

/// The public client of tus in Python, in the environment of the readers (`make setup-test`).
private enum TusPy {
  static let python = Fixtures.projectRoot.appending(".build/readers/bin/python").string
  static let isPresent: Bool = {
    if ForeignPrograms.areLeftOut { return false }
    let isThere =
      FileManager.default.isExecutableFile(atPath: python)
      && (try? Running(FilePath(python), ["-c", "import tusclient"]).finish().status) == 0
    if !isThere { print("note: tuspy is absent (make setup-test): the test with it is skipped") }
    return isThere
  }()
}
