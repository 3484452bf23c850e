@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

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
