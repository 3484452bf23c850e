import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Receiving

@Suite("The journal of a capture with many files")
struct ManifestJournalTests {
  private static let first = StoredFolder.journalFromFiles

  /// A store to which so many files of one capture were sent.
  private static func scene(files count: Int) throws -> StoreScene {
    let scene = try StoreScene()
    for index in 0..<count {
      #expect(try send(index, "\(index)", to: scene).kind == .stored)
    }
    return scene
  }

  @discardableResult
  private static func send(
    _ index: Int, _ content: String, to scene: StoreScene
  ) throws -> UploadOutcome {
    try scene.put("k", name(index), content, isVerified: false)
  }

  private static func name(_ index: Int) -> String { "frames/\(index).jpg" }

  private static func file(_ name: String, of scene: StoreScene) -> URL {
    URL(filePath: scene.path.appending("k").appending(name).string)
  }

  private static func hasJournal(_ scene: StoreScene) -> Bool {
    FileSystem.exists(scene.path.appending("k/.upload.journal"))
  }

  /// What the file `.upload.json` says by itself.
  private static func written(_ scene: StoreScene) throws -> UploadManifest? {
    UploadManifest(withoutJournalIn: try HeldFolder(reading: scene.path.appending("k")))
  }

  @Test(
    "What was acknowledged after the manifest was written is read beside it, and is in it after a kill"
  )
  func kill() throws {
    let count = Self.first + 36
    let scene = try Self.scene(files: count)
    #expect(Self.hasJournal(scene))
    #expect(try scene.leftovers() == [])
    #expect(try Self.written(scene)?.files.count == Self.first)
    let before = try #require(try scene.manifest("k"))
    try scene.restart()
    #expect(!Self.hasJournal(scene))
    let manifest = try #require(try Self.written(scene))
    #expect(manifest.files == before.files)
    #expect(manifest.lastArrival == before.lastArrival)
    #expect(manifest.lastArrival == manifest.files.last?.received)
    #expect(manifest.files.map(\.name) == (0..<count).map(Self.name))
    #expect(manifest.files.allSatisfy { $0.sender == "test" })
    #expect(manifest.files.last?.sha256 == Digest(of: "\(count - 1)").hex)
  }

  @Test(
    "The manifest is written without a restart too, and before an orderly end; the journal goes")
  func fold() throws {
    for isEnd in [false, true] {
      let count = Self.first + 3
      let scene = try Self.scene(files: count)
      if isEnd { scene.store.close() } else { scene.store.fold("k") }
      #expect(!Self.hasJournal(scene))
      #expect(try Self.written(scene)?.files.count == count)
    }
  }

  @Test("Cut at every byte, the journal gives the files whose lines are whole")
  func cuts() throws {
    let scene = try Self.scene(files: Self.first + 2)
    let (journal, manifest) = (
      Self.file(".upload.journal", of: scene), Self.file(".upload.json", of: scene)
    )
    let bytes = try Data(contentsOf: journal)
    let written = try Data(contentsOf: manifest)
    for length in bytes.indices {
      scene.store.abandon()
      try written.write(to: manifest)
      try bytes.prefix(length).write(to: journal)
      // A line counts with all of its object; the line end behind it may be lost.
      let whole = UploadJournal.files(in: Array(bytes.prefix(length))).count
      #expect(try scene.manifest("k")?.files.count == Self.first + whole, "\(length)")
      // A start takes longer than a look.
      guard Rounds.isSoak || length % 16 == 0 else { continue }
      try scene.restart()
      #expect(try Self.written(scene)?.files.count == Self.first + whole, "\(length)")
      #expect(!Self.hasJournal(scene), "\(length)")
    }
  }

  @Test("A file that is replaced or verified is not noted in a journal")
  func others() throws {
    let scene = try Self.scene(files: Self.first + 1)
    scene.store.fold("k")
    #expect(try Self.send(3, "other", to: scene).kind == .replaced)
    #expect(!Self.hasJournal(scene))
    let file = try Self.written(scene)?.files.first { $0.name == Self.name(3) }
    #expect(file?.sha256 == Digest(of: "other").hex)
    #expect(file?.replaced == 1)
  }

  /// The first file of a journal and the second take other calls.
  @Test(
    "A failure at any file call, or the end there, loses nothing that was acknowledged",
    arguments: [0, 1])
  func faults(before: Int) throws {
    let scene = try Self.scene(files: Self.first)
    var expected = Dictionary(uniqueKeysWithValues: (0..<Self.first).map { ($0, "\($0)") })
    var next = Self.first
    func send() throws {
      try Self.send(next, "\(next)", to: scene)
      expected[next] = "\(next)"
      next += 1
    }
    func check(_ what: String) throws {
      let manifest = try #require(try scene.manifest("k"), "\(what)")
      let files = Dictionary(
        manifest.files.map { ($0.name, $0.sha256) }, uniquingKeysWith: { first, _ in first })
      #expect(files.count == manifest.files.count, "\(what)")
      for (index, content) in expected {
        #expect(files[Self.name(index)] == Digest(of: content).hex, "\(what): \(index)")
      }
      // What is noted is there.
      for (name, content) in files {
        let bytes = try Data(contentsOf: Self.file(name, of: scene))
        #expect(Digest(of: bytes).hex == content, "\(what): \(name)")
      }
    }
    for _ in 0..<before { try send() }
    scene.files.arm(nil)
    try send()
    let calls = scene.files.calls
    #expect(Self.hasJournal(scene) && calls.count > 8, "\(calls)")
    for (at, call) in calls.enumerated() {
      for fault in [FaultyFiles.Fault.once(at: at, .noSpace), .death(at: at)] {
        try scene.restart()
        for _ in 0..<before { try send() }
        scene.files.arm(fault)
        let index = next
        let isAcknowledged = (try? send()) != nil
        next = index + 1
        let what = "\(call) \(at), \(isAcknowledged ? "acknowledged" : "refused")"
        if case .once = fault {
          scene.files.arm(nil)
          try Self.send(index, "\(index)", to: scene)
          expected[index] = "\(index)"
          try check(what)
        }
        try scene.restart()
        scene.store.enterUnlisted()
        try check(what)
      }
    }
  }

  @Test("A folder that was taken away with its journal and put back loses nothing")
  func moved() throws {
    let scene = try Self.scene(files: Self.first + 2)
    let aside = scene.folder.path.appending("aside").string
    let place = scene.path.appending("k").string
    try FileManager.default.moveItem(atPath: place, toPath: aside)
    try scene.restart()
    #expect(scene.store.snapshot().captures.isEmpty)
    try FileManager.default.moveItem(atPath: aside, toPath: place)
    #expect(try scene.manifest("k")?.files.count == Self.first + 2)
    try scene.restart()
    #expect(try Self.written(scene)?.files.count == Self.first + 2)
    #expect(!Self.hasJournal(scene))
  }
}

@Suite("A capture with as many files as can be listed")
struct ManifestSizeTests {
  private static func file(
    _ name: String, bytes: Int64 = 0, replaced: Int = 0, userAgent: String = ""
  ) -> UploadManifest.File {
    let time = UTCText.exact(nanoseconds: 0)
    let digests = RunningDigests().finish()
    return UploadManifest.File(
      name: name, bytes: bytes, md5: digests.md5, sha256: digests.sha256, received: time,
      state: .unverified, replaced: replaced, sender: "192.0.2.7", userAgent: userAgent,
      modified: time)
  }

  @Test("The size of an entry is that which it has in the manifest")
  func entry() throws {
    func bytes(_ files: [UploadManifest.File]) throws -> Int64 {
      var manifest = UploadManifest(capture: "k", at: UTCText.exact(nanoseconds: 0))
      manifest.files = files
      return Int64(try JSONText.pretty(manifest).count)
    }
    let first = Self.file("a")
    for (file, isExact) in [
      (Self.file("frames/1.jpg", bytes: .max, replaced: 12), true),
      (Self.file("\"ä\"/日本.imu", bytes: 1, userAgent: "Scanner/1.0 (\"x\\y\")"), true),
      (Self.file("tab", userAgent: "a\tb\u{1}c"), false),
    ] {
      let added = try bytes([first, file]) - bytes([first])
      #expect(isExact ? file.encodedBytes == added : file.encodedBytes >= added, "\(file.name)")
      // What is compared first may be more, by some hundred bytes and what quoting could add.
      let most = UploadManifest.File.mostEncodedBytes(
        name: file.name, sender: file.sender, userAgent: file.userAgent)
      let texts = [file.name, file.sender, file.userAgent].reduce(0) { $0 + $1.utf8.count }
      #expect(most >= file.encodedBytes, "\(file.name)")
      #expect(most <= file.encodedBytes + 256 + 5 * Int64(texts), "\(file.name)")
    }
  }

  @Test("More files than fit are read by nothing: with the usual limit the manifest stays readable")
  func usual() {
    let limits = UploadLimits()
    // What stands around the entries: the id, the family, times, and names that are waited for.
    #expect(limits.entries + 1 << 20 <= Int64(UploadManifest.mostBytes))
    #expect(
      limits.entries / Self.file("frames/123456.jpg", bytes: 1_234_567).encodedBytes > 130_000)
  }

  /// A store whose manifests have space for so many files with names of six bytes.
  private static func scene(_ count: Int) throws -> StoreScene {
    var limits = StoreScene.limits
    var entry = file("\(1000).jpg", bytes: 1)
    entry.sender = "test"
    limits.entries = Int64(count) * (entry.encodedBytes + 2)
    return try StoreScene(limits: limits)
  }

  @discardableResult
  private static func send(_ index: Int, _ content: String, to scene: StoreScene) throws
    -> UploadOutcome
  {
    try scene.put("k", "\(index + 1000).jpg", content, isVerified: false)
  }

  private static func refusal(_ body: () throws -> Void) -> UploadRefusal? {
    do {
      try body()
      return nil
    } catch {
      return error as? UploadRefusal
    }
  }

  /// Below and above the number from which a capture has a journal.
  @Test(
    "One file more is refused before its body, in words; replacing, verifying and other captures go on",
    arguments: [3, StoredFolder.journalFromFiles + 3])
  func full(count: Int) throws {
    let scene = try Self.scene(count)
    for index in 0..<count { try Self.send(index, "\(index % 10)", to: scene) }
    let calls = scene.files.calls.count
    let refusal = try #require(Self.refusal { try Self.send(count, "x", to: scene) })
    #expect(refusal.kind == .tooLarge)
    #expect(refusal.message.contains("\(count) files"))
    #expect(scene.files.calls.count == calls, "nothing was begun")
    #expect(try scene.leftovers() == [])
    #expect(try Self.send(1, "y", to: scene).kind == .replaced)
    #expect(try Self.send(1, "y", to: scene).kind == .identical)
    #expect(try scene.send("other.imu", "x").kind == .stored)
    try scene.restart()
    #expect(try scene.manifest("k")?.files.count == count)
    #expect(throws: UploadRefusal.self) { try Self.send(count, "x", to: scene) }
    #expect(try scene.store.complete("k", nil).isComplete)
  }

  @Test("Files that were begun while there was space are refused at their end, and leave nothing")
  func atOnce() throws {
    let scene = try Self.scene(2)
    let uploads = try (0..<4).map { index in
      try scene.store.begin(
        UploadRequest(
          name: try UploadName(
            capture: "k", path: "\(index + 1000).jpg", endings: StoreScene.limits.endings),
          length: 1, sender: "test"))
    }
    for upload in uploads { try upload.append([1]) }
    let refused = uploads.map { upload in Self.refusal { try upload.finish() }?.kind }
    #expect(refused == [nil, nil, .tooLarge, .tooLarge])
    #expect(try scene.contents().count == 2)
    #expect(try scene.leftovers() == [])
    #expect(try scene.manifest("k")?.files.count == 2)
  }

  @Test("What was copied into the folder beside the receiver is listed as far as there is space")
  func copied() throws {
    let scene = try Self.scene(3)
    try Self.send(0, "0", to: scene)
    for index in 1..<4 {
      try Data("\(index)".utf8).write(
        to: URL(filePath: scene.path.appending("k/\(index + 1000).jpg").string))
    }
    // The text in place of their sender takes more bytes.
    #expect(scene.store.enterUnlisted() == 1)
    #expect(scene.store.enterUnlisted() == 0)
    #expect(try scene.manifest("k")?.files.count == 2)
    #expect(try scene.contents().count == 4)
  }

  @Test("Names that are waited for come from a file of the sender: they are listed up to a number")
  func missing() throws {
    let scene = try StoreScene()
    let streams = (0..<2_000).map {
      #"{"id":"s\#($0)","type":"other","file_extension":"x\#($0)"}"#
    }
    try scene.send("m.json", "{\"streams\":[\(streams.joined(separator: ","))]}")
    let manifest = try #require(try scene.manifest("m"))
    #expect(manifest.family == "multiscan")
    #expect(manifest.missing.count == 500)
    #expect(manifest.complete == nil)
  }
}

@Suite("What is written about uploads", .runsPrograms)
struct ManifestSchemaTests {
  @Test func theSchemaNamesExactlyTheKeysOfAManifest() throws {
    let scene = try StoreScene()
    try scene.send("s.imu", "x")
    let written = try scene.folder.bytes(of: "staging/s/.upload.json")
    let manifest = try Data(written).json()
    let file = Fixtures.projectRoot.appending("docs/schemas/upload.json").string
    let schema = try Data(contentsOf: URL(filePath: file)).json()
    func keys(_ node: Any?) -> Set<String> {
      Set(((node as? [String: Any])?["properties"] as? [String: Any] ?? [:]).keys)
    }
    #expect(keys(schema) == Set(manifest.keys))
    let properties = schema["properties"] as? [String: Any]
    let files = (properties?["files"] as? [String: Any])?["items"]
    let first = (manifest["files"] as? [[String: Any]])?.first ?? [:]
    #expect(keys(files) == Set(first.keys))
    #expect(manifest["missing"] as? [String] == ["s.txt", "s.depth", "s.h264", "s.camera"])
  }

  /// States of a watcher for every folder.
  private struct Watched: CaptureStates {
    func states(of folders: [String]) -> [String: WatchedState] {
      Dictionary(
        folders.map { ($0, WatchedState(state: "failed", note: "why", hasReport: true)) },
        uniquingKeysWith: { first, _ in first })
    }

    func report(of folder: String) -> [UInt8]? { nil }
  }

  /// Where a value and its schema differ: keys without a description, required keys that are absent, other kinds.
  private static func differences(_ value: Any, _ schema: [String: Any], _ place: String)
    -> [String]
  {
    var found: [String] = []
    switch schema["type"] as? String {
    case "object":
      guard let object = value as? [String: Any] else { return ["\(place) is no object"] }
      let properties = schema["properties"] as? [String: Any] ?? [:]
      for key in schema["required"] as? [String] ?? [] where object[key] == nil {
        found.append("\(place).\(key) is absent")
      }
      for (key, inner) in object {
        guard let known = properties[key] as? [String: Any] else {
          found.append("\(place).\(key) is not described")
          continue
        }
        found += differences(inner, known, "\(place).\(key)")
      }
    case "array":
      guard let list = value as? [Any], let items = schema["items"] as? [String: Any] else {
        return ["\(place) is no list"]
      }
      for (index, item) in list.enumerated() {
        found += differences(item, items, "\(place)[\(index)]")
      }
    case "string":
      guard let text = value as? String else { return ["\(place) is no text"] }
      if let words = schema["enum"] as? [String], !words.contains(text) {
        found.append("\(place) is \(text)")
      }
      if let pattern = schema["pattern"] as? String,
        text.range(of: pattern, options: .regularExpression) == nil
      {
        found.append("\(place) is \(text)")
      }
    default:
      if !(value is NSNumber) { found.append("\(place) is no number") }
    }
    return found
  }

  /// Keys that are in a value anywhere, as paths.
  private static func keys(_ value: Any, _ place: String = "") -> Set<String> {
    if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(keys($1, place)) } }
    guard let object = value as? [String: Any] else { return [] }
    return object.reduce(into: []) { all, entry in
      all.insert("\(place).\(entry.key)")
      all.formUnion(keys(entry.value, "\(place).\(entry.key)"))
    }
  }

  private static func keys(ofSchema schema: [String: Any], _ place: String = "") -> Set<String> {
    let inner = (schema["items"] as? [String: Any]) ?? schema
    return (inner["properties"] as? [String: Any] ?? [:]).reduce(into: []) { all, entry in
      all.insert("\(place).\(entry.key)")
      all.formUnion(
        keys(ofSchema: entry.value as? [String: Any] ?? [:], "\(place).\(entry.key)"))
    }
  }

  @Test func theSchemaOfTheAnswerAboutCapturesDescribesARealAnswer() async throws {
    let file = Fixtures.projectRoot.appending("docs/schemas/receive-captures.json").string
    let bytes = try Data(contentsOf: URL(filePath: file))
    try await ServerScene.run(states: Watched()) { scene in
      let schema = try bytes.json()
      for ending in ["txt", "depth", "h264", "imu", "camera"] {
        #expect(try scene.ask(ServerScene.upload("a.\(ending)", "1"))?.status == 200)
      }
      #expect(try scene.ask("GET /process/a HTTP/1.1\r\nHost: h\r\n\r\n")?.status == 200)
      #expect(try scene.ask(ServerScene.upload("b.imu", "1"))?.status == 200)
      let sending = try RawConnection(port: scene.port)
      sending.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: b.depth\r\nContent-Length: 9\r\n\r\n123")
      func answer(_ path: String) throws -> Any {
        let got = try #require(try scene.ask("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n"))
        return try JSONSerialization.jsonObject(with: Data(got.body.utf8))
      }
      // A rate is told once half a second has gone.
      try Waiting.until("a rate") {
        Self.keys(try answer("/captures")).contains(".captures.arriving.bytesPerSecond")
      }
      let whole = try answer("/captures")
      #expect(Self.differences(whole, schema, "") == [])
      #expect(Self.keys(whole) == Self.keys(ofSchema: schema))
      let captures = schema["properties", "captures"] as? [String: Any]
      let one = try #require(captures).object("items")
      #expect(Self.differences(try answer("/captures/a"), one, "") == [])
      sending.end()
    }
  }
}
