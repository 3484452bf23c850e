import Captures
import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("The journal of a capture with many files")
struct ManifestJournalTests {
  /// A store to which so many files of one capture were sent.
  private static func scene(files count: Int) throws -> StoreScene {
    let scene = try StoreScene()
    for index in 0..<count {
      let bytes = Array("\(index)".utf8)
      let upload = try scene.store.begin(
        UploadRequest(
          name: try UploadName(
            capture: "k", path: name(index), endings: StoreScene.limits.endings),
          length: Int64(bytes.count), sender: "test"))
      try upload.append(bytes)
      #expect(try upload.finish().kind == .stored)
    }
    return scene
  }

  private static func name(_ index: Int) -> String { "frames/\(index).jpg" }

  private static let journal = ManifestJournal.name(of: "k")

  @Test("What was acknowledged after the manifest was written is in it after a kill")
  func kill() throws {
    let count = ManifestJournal.fromFiles + 36
    let scene = try Self.scene(files: count)
    #expect(try scene.leftovers() == [Self.journal])
    #expect(try scene.manifest("k")?.files.count == ManifestJournal.fromFiles)
    try scene.restart()
    #expect(try scene.leftovers() == [])
    let manifest = try #require(try scene.manifest("k"))
    #expect(manifest.files.map(\.name) == (0..<count).map(Self.name))
    #expect(manifest.files.allSatisfy { $0.sender == "test" })
    #expect(manifest.files.last?.sha256 == Digest(of: "\(count - 1)").hex)
  }

  @Test("The manifest is written without a restart too, and the journal goes")
  func fold() throws {
    let count = ManifestJournal.fromFiles + 3
    let scene = try Self.scene(files: count)
    scene.store.fold("k")
    #expect(try scene.leftovers() == [])
    #expect(try scene.manifest("k")?.files.count == count)
  }

  @Test("Cut at every byte, the journal gives the files whose lines are whole")
  func cuts() throws {
    let before = ManifestJournal.fromFiles
    let scene = try Self.scene(files: before + 2)
    let incoming = scene.path.appending(".incoming")
    let journal = incoming.appending(Self.journal)
    let manifest = scene.path.appending("k/.upload.json")
    let bytes = try Data(contentsOf: URL(filePath: journal.string))
    let written = try Data(contentsOf: URL(filePath: manifest.string))
    for length in bytes.indices {
      scene.store.close()
      try written.write(to: URL(filePath: manifest.string))
      try bytes.prefix(length).write(to: URL(filePath: journal.string))
      try scene.restart()
      // A line counts with all of its object; the line end behind it may be lost.
      let whole = ManifestJournal.files(in: Array(bytes.prefix(length))).count
      #expect(try scene.manifest("k")?.files.count == before + whole, "\(length)")
      #expect(try scene.leftovers() == [], "\(length)")
    }
  }

  @Test("A file that is replaced or verified is not noted in a journal")
  func others() throws {
    let scene = try Self.scene(files: ManifestJournal.fromFiles + 1)
    scene.store.fold("k")
    let again = try scene.store.begin(
      UploadRequest(
        name: try UploadName(
          capture: "k", path: Self.name(3), endings: StoreScene.limits.endings), length: 5,
        sender: "other"))
    try again.append(Array("other".utf8))
    #expect(try again.finish().kind == .replaced)
    #expect(try scene.leftovers() == [])
    let file = try scene.manifest("k")?.files.first { $0.name == Self.name(3) }
    #expect(file?.sha256 == Digest(of: "other").hex)
    #expect(file?.replaced == 1)
  }
}
