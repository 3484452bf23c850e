@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

/// Sections 2, 4 and 5.1 of the page about uploads, byte by byte.
@Suite("What the server answers the apps", .runsPrograms)
struct ServerTests {

  struct Row: Sendable, CustomTestStringConvertible {
    var what: String
    var request: String
    var status: Int
    var testDescription: String { what }
  }

  static let rows: [Row] = [
    Row(
      what: "no name", request: "PUT /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx",
      status: 400),
    Row(what: "two names", request: upload("FILE_NAME: a.imu\r\nFILE_NAME: b.imu"), status: 400),
    Row(what: "empty name", request: upload("FILE_NAME: "), status: 400),
    Row(
      what: "256 bytes", request: upload("FILE_NAME: \(String(repeating: "a", count: 252)).imu"),
      status: 400),
    Row(
      what: "255 bytes", request: upload("FILE_NAME: \(String(repeating: "a", count: 251)).imu"),
      status: 200),
    Row(what: "slash", request: upload("FILE_NAME: a/b.imu"), status: 400),
    Row(what: "backslash", request: upload("FILE_NAME: a\\b.imu"), status: 400),
    Row(what: "upward", request: upload("FILE_NAME: ../b.imu"), status: 400),
    Row(what: "leading dot", request: upload("FILE_NAME: .imu"), status: 400),
    Row(what: "control character", request: upload("FILE_NAME: a\u{1}.imu"), status: 400),
    Row(what: "C1 control character", request: upload("FILE_NAME: a\u{9B}.imu"), status: 400),
    Row(what: "only an addition", request: upload("FILE_NAME: -primary.mp4"), status: 400),
    Row(
      what: "Content-Range", request: upload("FILE_NAME: a.imu\r\nContent-Range: bytes 0-0/2"),
      status: 400),
    Row(
      what: "both framings", request: upload("FILE_NAME: a.imu\r\nTransfer-Encoding: chunked"),
      status: 400),
    Row(what: "unknown ending", request: upload("FILE_NAME: a.exe"), status: 415),
    Row(what: "no ending", request: upload("FILE_NAME: a"), status: 415),
    Row(
      what: "neither length nor chunks",
      request: "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\n\r\n", status: 411),
    Row(
      what: "larger than allowed",
      request:
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: 1000001\r\n\r\n",
      status: 413),
    Row(
      what: "more than the quota",
      request:
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: 600001\r\n\r\n",
      status: 507),
    Row(
      what: "a large header",
      request: upload("FILE_NAME: a.imu\r\nX: \(String(repeating: "x", count: 70_000))"),
      status: 431),
    Row(what: "not HTTP", request: "HELLO\r\n\r\n", status: 400),
    Row(what: "other method", request: "DELETE /upload HTTP/1.1\r\nHost: h\r\n\r\n", status: 405),
    Row(what: "no listing", request: "GET /received HTTP/1.1\r\nHost: h\r\n\r\n", status: 404),
    Row(what: "a name that is not text", request: "", status: 400),
  ]

  static func upload(_ fields: String) -> String {
    "PUT /upload HTTP/1.1\r\nHost: h\r\n\(fields)\r\nContent-Length: 1\r\n\r\nx"
  }

  @Test func everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing() async throws {
    var limits = ServerScene.limits
    limits.file = 1_000_000
    limits.quota = 600_000
    try await ServerScene.run(limits: limits) { scene in
      for row in Self.rows {
        let connection = try scene.connect()
        if row.request.isEmpty {
          connection.send(
            Array("PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a".utf8) + [0xFF, 0xFE]
              + Array(".imu\r\nContent-Length: 1\r\n\r\nx".utf8))
        } else {
          connection.send(row.request)
        }
        let answer = connection.answer()
        let isAccepted =
          answer?.status == row.status || (row.status == 431 && answer?.status == 400)
        #expect(isAccepted, "\(row.what): \(answer?.status ?? 0) \(answer?.body ?? "")")
        #expect(answer?.message != nil, "\(row.what): \(answer?.body ?? "")")
      }
      try scene.waitForNoLeftovers()
      #expect(try scene.contents().count == 1)
    }
  }

  @Test func namesKeepEveryByte() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      for name in ["a+b.imu", "a%2Bb.imu", "a b.imu", "ä ö.imu", "a;b&c.imu"] {
        #expect(try scene.send(name, name)?.status == 200)
      }
      #expect(
        try scene.contents().keys.sorted()
          == ["a b/a b.imu", "a%2Bb/a%2Bb.imu", "a+b/a+b.imu", "a;b&c/a;b&c.imu", "ä ö/ä ö.imu"])
    }
  }

  /// Section 2: the name `a+b.json` as each app sends it in a question.
  @Test(arguments: ["a+b.json", "a%252Bb.json", "a%2Bb.json"])
  func aVerifyFindsTheNameInEveryEncoding(_ name: String) async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      #expect(try scene.send("a+b.json", "{}")?.status == 200)
      let md5 = StoreScene.md5("{}")
      for query in [
        "filename=\(name)&checksum=\(md5)", "checksum=\(md5.uppercased())&filename=\(name)",
      ] {
        #expect(try scene.get("/verify?\(query)")?.status == 200, "\(query)")
      }
    }
  }

  @Test func aVerifyPrefersTheNameAsItStands() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      #expect(try scene.send("a b.imu", "blank")?.status == 200)
      #expect(
        try scene.get("/verify?filename=a+b.imu&checksum=\(StoreScene.md5("blank"))")?.status == 200
      )
      #expect(try scene.send("a+b.imu", "plus")?.status == 200)
      #expect(
        try scene.get("/verify?filename=a+b.imu&checksum=\(StoreScene.md5("plus"))")?.status == 200)
      #expect(
        try scene.get("/verify?filename=a%20b.imu&checksum=\(StoreScene.md5("blank"))")?.status
          == 200)
    }
  }

  @Test func aVerifyThatIsNotWholeIs400AndOneOfNothing404() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      #expect(try scene.send("a.imu", "x")?.status == 200)
      let md5 = StoreScene.md5("y")
      #expect(try scene.get("/verify?filename=a.imu&checksum=\(md5)")?.status == 400)
      #expect(
        try scene.get("/verify?filename=a.imu&checksum=\(md5)")?.message?
          .hasPrefix("File hash mismatch.") == true)
      #expect(try scene.get("/verify?filename=b.imu&checksum=\(md5)")?.status == 404)
      for query in [
        "", "?filename=a.imu", "?checksum=\(md5)", "?filename=&checksum=\(md5)",
        "?filename=a.imu&checksum=zz",
      ] {
        #expect(try scene.get("/verify\(query)")?.status == 400, "\(query)")
      }
      #expect(try scene.contents() == ["a/a.imu": "x"])
    }
  }

  @Test func chunksAndEmptyFilesAreAccepted() async throws {
    try await ServerScene.run { scene in
      let head =
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nTransfer-Encoding: chunked\r\n\r\n"
      #expect(try scene.ask(head + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")?.status == 200)
      #expect(try scene.send("b.imu", "")?.status == 200)
      #expect(try scene.contents() == ["a/a.imu": "abcde", "b/b.imu": ""])
      // Cut in the middle, at every byte: nothing.
      let rest = Array("3\r\nxyz\r\n0\r\n\r\n".utf8)
      for cut in 0..<rest.count {
        let connection = try scene.connect()
        connection.send(Array(head.replacing("a.imu", with: "c.imu").utf8) + rest[..<cut])
        connection.endSending()
        #expect(connection.answer()?.status ?? 400 == 400, "cut at \(cut)")
      }
      try scene.waitForNoLeftovers()
      #expect(try scene.contents() == ["a/a.imu": "abcde", "b/b.imu": ""])
    }
  }

  @Test func expectIsAnsweredOnlyAfterAllChecks() async throws {
    try await ServerScene.run { scene in
      let connection = try scene.connect()
      connection.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.imu\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
      )
      #expect(connection.answer()?.status == 100)
      connection.send("abc")
      #expect(connection.answer()?.status == 200)
      connection.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: a.exe\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
      )
      #expect(connection.answer()?.status == 415)
    }
  }

  @Test func anUploadThatIsCutAnywhereLeavesNothing() async throws {
    try await ServerScene.run { scene in
      let content = String(repeating: "0123456789abcdef", count: 65_536 * 6 / 16)
      let request = Array(ServerScene.upload("a.imu", content).utf8)
      let header = request.count - content.utf8.count
      var cuts = Array(0...header)
      cuts += stride(from: header, to: request.count, by: 65_536)
      cuts.append(request.count - 1)
      for cut in cuts {
        let connection = try scene.connect()
        connection.send(Array(request[..<cut]))
        connection.end()
      }
      let store = scene.store
      Waiting.until("the end of all uploads") { store.snapshot().activeUploads == 0 }
      try scene.waitForNoLeftovers()
      #expect(try scene.contents() == [:])
      // An end that is said, not only noticed, is answered.
      let connection = try scene.connect()
      connection.send(Array(request.dropLast()))
      connection.endSending()
      #expect(connection.answer()?.status == 400)
      #expect(try scene.send("a.imu", content)?.status == 200)
    }
  }

  @Test("A body that is coded for the way is refused, and nothing of it is stored")
  func coded() async throws {
    try await ServerScene.run { (scene: ServerScene) throws in
      for (field, status) in [
        ("Content-Length: 1\r\nContent-Encoding: gzip", 415),
        ("Content-Length: 1\r\nContent-Encoding: identity, br", 415),
        ("Content-Length: 1\r\nContent-Encoding: identity", 200),
        ("Transfer-Encoding: gzip, chunked", 415), ("Transfer-Encoding: Chunked", 200),
      ] {
        for (request, good) in [
          ("PUT /upload HTTP/1.1\r\nFILE_NAME: a\(status).imu", 200),
          ("PUT /captures/c/files/a\(status).imu HTTP/1.1", 201),
          ("POST /captures/c/complete HTTP/1.1", 400),
        ] {
          let isChunked = field.contains("hunked")
          let answer = try scene.ask(
            "\(request)\r\nHost: h\r\n\(field)\r\n\r\n\(isChunked ? "1\r\nx\r\n0\r\n\r\n" : "x")")
          #expect(
            status == 415 ? answer?.status == 415 : [good, 200].contains(answer?.status ?? 0),
            "\(request) \(field) \(answer?.status ?? 0)")
          if status == 415 { #expect(answer?.fields["accept-encoding"] == "identity") }
        }
      }
      #expect(Set(try scene.contents().keys) == ["a200/a200.imu", "c/a200.imu"])
    }
  }

  @Test func theFormOfStrabo() async throws {
    try await ServerScene.run { scene in
      let files = [
        ("media_file", "T.mov", "movie"), ("thumbnail", "T.png", "png"),
        ("capture_info", "capture-info.json", "{}"), ("geo_data", "T.json", "[]"),
      ]
      let body =
        files.map { FormReaderTests.part($0.0, $0.1, $0.2) }.joined()
        + "--\(FormReaderTests.boundary)--\r\n"
      func post(_ path: String, _ body: String) throws -> RawConnection.Answer? {
        try scene.ask(
          "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=\(FormReaderTests.boundary)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
      }
      let answer = try post("/upload", body)
      #expect(answer?.body == #"{"error":"false","message":"ok","token":"T"}"#)
      #expect(try post("/someupload", body)?.status == 200)
      #expect(
        try scene.contents() == [
          "T/T.mov": "movie", "T/T.png": "png", "T/capture-info.json": "{}", "T/T.json": "[]",
        ])
      let manifest = scene.store.snapshot().captures.first?.manifest
      #expect(manifest?.complete != nil)
      // A second part of a field, and parts that are coded.
      for part in [
        FormReaderTests.part("thumbnail", "U.png", "png"),
        FormReaderTests.part("media_file", "U.mov", "movie"),
        FormReaderTests.part("media_file", "U.mov", "bW92aWU=").replacing(
          "Content-Type", with: "Content-Transfer-Encoding: base64\r\nContent-Type"),
      ] {
        let first = FormReaderTests.part("media_file", "U.mov", "movie")
        let second = FormReaderTests.part("thumbnail", "U.png", "png")
        let whole = first + second + part + "--\(FormReaderTests.boundary)--\r\n"
        let refused = try post("/upload", whole)
        #expect(refused?.status == 400 && refused?.body.contains(#""error":"true""#) == true)
        let coded = try post("/upload", part + "--\(FormReaderTests.boundary)--\r\n")
        #expect(part.contains("base64") ? coded?.status == 400 : coded != nil)
      }
      #expect(try scene.contents().keys.filter { $0.hasPrefix("U") && $0 != "U/U.mov" } == [])
      // Two parts with one file name are one file, and what is noted is what lies there.
      let twins = ["movie", "png"].map {
        FormReaderTests.part($0 == "png" ? "thumbnail" : "media_file", "V.mov", $0)
      }
      #expect(
        try post("/upload", twins.joined() + "--\(FormReaderTests.boundary)--\r\n")?.status == 200)
      let noted = scene.store.snapshot().captures.first { $0.folder == "V" }?.manifest.files
      #expect(noted?.map(\.sha256) == [Digest(of: "png").hex])
      #expect(try scene.contents()["V/V.mov"] == "png")
      let bad = try post("/upload", String(body.dropLast(9)))
      #expect(bad?.status == 400)
      #expect(bad?.body.contains(#""error":"true""#) == true)
    }
  }

  @Test func theNewerInterfaceForWholeCaptures() async throws {
    try await ServerScene.run { scene in
      func put(_ path: String, _ content: String, _ fields: String = "") throws -> Int? {
        try scene.ask(
          "PUT /captures/\(path) HTTP/1.1\r\nHost: h\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
        )?.status
      }
      let digest = Data(Digest(of: "rgb").bytes).base64EncodedString()
      #expect(try put("walk/files/rgb.mp4", "rgb", "Repr-Digest: sha-256=:\(digest):\r\n") == 201)
      #expect(try put("walk/files/rgb.mp4", "rgb") == 200)
      #expect(try put("walk/files/depth/0.png", "0") == 201)
      #expect(try put("walk/files/a.csv", "x", "Repr-Digest: sha-256=:\(digest):\r\n") == 400)
      #expect(try put("walk/files/a/b/c.csv", "x") == 400)
      #expect(try put("walk/files/..%2Fc.csv", "x") == 400)
      #expect(try put("..%2Fx/files/c.csv", "x") == 400)
      func complete(_ body: String) throws -> RawConnection.Answer? {
        try scene.ask(
          "POST /captures/walk/complete HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
      }
      let missing = try complete(#"{"files":[{"name":"rgb.mp4"},{"name":"imu.csv"}]}"#)
      #expect(missing?.status == 409)
      #expect(missing?.body.contains(#""missing":["imu.csv"]"#) == true)
      #expect(try complete("").map(\.status) == 200)
      #expect(try complete("nonsense").map(\.status) == 400)
      let shown = try scene.get("/captures/walk")
      #expect(shown?.body.contains(#""state":"complete""#) == true)
      #expect(shown?.body.contains(#""state":"verified""#) == true)
    }
  }
}
