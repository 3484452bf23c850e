@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
