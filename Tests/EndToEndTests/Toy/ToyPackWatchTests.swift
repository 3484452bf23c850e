@testable import Captures
import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing
import ToyFamily

@testable import Watch

@Suite("Captures that are one file each are watched for like folders", .runsPrograms)
struct ToyPackWatchTests {
  private let scene: ToyPackScene

  init() throws { scene = try ToyPackScene() }

  private func scan(_ scanner: StagingScanner) throws -> StagingSnapshot {
    try scanner.look(try scene.batch())
  }

  @Test("whole ones are processed, also several in STAGING itself and in folders")
  func whole() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(2), "2026-11-20/b.pack")
    try scene.write(ToyPackScene.pack(3), "2026-11-20/c.pack")
    #expect(try scene.watch() == 0)
    #expect(scene.results == ["a", "b", "c"])
    #expect(try scene.millimeters("c", frame: 2) == ToyPackScene.millimeters(3, 2))
  }

  @Test("what the family calls incomplete waits, and is processed when the rest has come")
  func incomplete() throws {
    let bytes = ToyPackScene.pack(1)
    try scene.write(Array(bytes.dropLast(7)), "a.pack")
    _ = try scene.watch(patienceSeconds: 3600)
    #expect(scene.waiting["a"] == "incomplete", "\(scene.waiting)")
    try scene.write(bytes, "a.pack")
    _ = try scene.watch(patienceSeconds: 3600)
    #expect(try scene.millimeters("a", frame: 2) == ToyPackScene.millimeters(1, 2))
  }

  @Test(
    "a transfer's temporary file is one of its capture alone",
    arguments: ["a.pack.part", ".a.pack.Xy12Zw", "a.pack.crdownload"])
  func transfer(name: String) throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(2), "b.pack")
    // Its name only begins alike.
    try scene.write(ToyPackScene.pack(3), "a.pack2.pack")
    let temporary = try scene.write([1], name)
    let scanner = StagingScanner(scene.input)
    let first = try scan(scanner).captures
    #expect(
      first.map(\.recognition?.id) == ["a", "a.pack2", "b"]
        && first.map(\.stamp.isTransferring) == [true, false, false])
    #expect(first[0].stamp.temporaryFile == name)
    // A new byte of it is one of its capture.
    try temporary.write([1, 2])
    let second = try scan(scanner).captures
    #expect(
      zip(first, second).map { $0.stamp.digest == $1.stamp.digest } == [false, true, true])
  }

  @Test(
    "a transfer beside a recording that is alone holds it up only if it is of it",
    arguments: [("b.pack.part", false), ("notes.tmp", false), ("a.pack.part", true)])
  func neighbor(name: String, isOwn: Bool) throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write([1], name)
    let found = try scan(StagingScanner(scene.input))
    #expect(found.captures.map(\.recognition?.id) == ["a"])
    #expect(found.captures.map(\.stamp.isTransferring) == [isOwn])
  }

  @Test(
    "of one that is not there yet its transfer is shown, at the place where it will be",
    arguments: ["b.pack.part", ".b.pack.Xy12Zw", "b.pack.CRDOWNLOAD"])
  func lonely(name: String) throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write([1, 2, 3], name)
    // Not of a recording.
    try scene.write([1], "notes.txt.part")
    let scanner = StagingScanner(scene.input)
    let found = try scan(scanner).unrecognized
    #expect(found.map(\.location.path) == [scene.input.appending("b.pack")])
    #expect(found.first?.stamp.isTransferring == true && found.first?.stamp.bytes == 3)
    #expect(found.first?.stamp.temporaryFile == name)
    try FileSystem.rename(scene.input.appending(name), to: scene.input.appending("b.pack"))
    try scene.write(ToyPackScene.pack(2), "b.pack")
    let whole = try scan(scanner)
    #expect(whole.unrecognized.isEmpty && whole.captures.map(\.recognition?.id) == ["a", "b"])
  }

  @Test(
    "in a folder that a transfer renames they wait until it has its name",
    arguments: ["monday.part", "ipad/monday.TMP", "monday.filepart/sofa"])
  func unfinishedFolder(folder: String) throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(2), "\(folder)/b.pack")
    let found = try scan(StagingScanner(scene.input)).captures
    #expect(found.map(\.recognition?.id) == ["a", "b"])
    #expect(found.map(\.stamp.isTransferring) == [false, true])
    #expect(found.last.map { folder.contains($0.stamp.temporaryFile ?? "?") } == true)
    try FileSystem.rename(
      scene.input.pushing(FilePath(folder)), to: scene.input.appending("monday"))
    #expect(try scene.watch() == 0)
    #expect(scene.results == ["a", "b"])
  }

  @Test("a file that is called like a recording and is none is named, also by `run`")
  func damaged() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(Array("nothing of the kind".utf8), "b.pack")
    try scene.write(Array("nothing of the kind".utf8), "monday/c.pack")
    try scene.write(ToyPackScene.pack(2), "monday/d.pack")
    #expect(try scene.watch() == 0)
    #expect(scene.results == ["a", "d"])
    let found = try scan(StagingScanner(scene.input)).unrecognized
    let wanted = ["b.pack", "monday/c.pack"].map { scene.input.pushing(FilePath($0)) }
    #expect(found.map(\.location.path) == wanted)
    #expect(found.allSatisfy { $0.isFile && !$0.stamp.isTransferring })
    #expect(try scene.batch().finder().find(scene.input).unrecognized.map(\.path) == wanted)
  }

  @Test("rest is told by the file's size and times alone; others beside it do not disturb it")
  func rest() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    let scanner = StagingScanner(scene.input)
    let first = try #require(try scan(scanner).captures.first)
    #expect(first.stamp == first.recognition.flatMap { FolderSignature(of: $0) })
    try scene.write([1], "notes.txt")
    try scene.write(ToyPackScene.pack(2), "b.pack")
    let second = try scan(scanner).captures
    #expect(second.count == 2 && second[0].stamp == first.stamp)
    try scene.write(ToyPackScene.pack(1, frames: 2), "a.pack")
    #expect(try scan(scanner).captures[0].stamp.digest != first.stamp.digest)
    try FileSystem.remove(file)
    #expect(try scan(scanner).captures.map(\.recognition?.id) == ["b"])
  }

  @Test("a folder is recognized when what its recognizer wants has come to a subfolder")
  func subfolder() throws {
    let scanner = StagingScanner(scene.input)
    try scene.write([1], "x/RAW/readme.txt")
    try FileSystem.makeFolder(scene.input.appending("x/RAW/packs"))
    #expect(try scan(scanner).captures.isEmpty)
    // The folder itself does not change.
    try scene.write(ToyPackScene.pack(1), "x/RAW/packs/all.pack")
    let found = try scan(scanner).captures
    #expect(found.contains { $0.recognition?.id == "x" && $0.recognition?.isWholeFolder == true })
  }

  @Test("renamed and moved it keeps its results, and is not processed again")
  func moved() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.watch()
    let made = FileStamp(
      of: OutputLayout(root: scene.output, name: "a").artifact("depth").appending("000000.png"))
    let other = scene.input.appending("later/b.pack")
    try FileSystem.makeFolder(other.removingLastComponent())
    try file.move(to: other)
    #expect(try scene.watch() == 0)
    #expect(scene.results == ["b"])
    let kept = FileStamp(
      of: OutputLayout(root: scene.output, name: "b").artifact("depth").appending("000000.png"))
    #expect(kept != nil && kept?.inode == made?.inode)
  }

  @Test("second copies are left alone", arguments: ["a (1).pack", "a 2.pack"])
  func copies(name: String) throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(1), name)
    let snapshot = try scan(StagingScanner(scene.input))
    #expect(snapshot.captures.map(\.recognition?.id) == ["a"])
    #expect(snapshot.copies.map(\.place) == [scene.input.appending(name)])
    // Another recording that happens to be called so is no copy.
    try scene.write(ToyPackScene.pack(2), name)
    #expect(try scan(StagingScanner(scene.input)).captures.count == 2)
  }

  @Test(
    "a folder that is called like a second copy is one where all its files are those of the other",
    arguments: [("a 8/packs/all.pack", true), ("a 8/notes.txt", false)])
  func copiesOfFolders(changed: String, isCopy: Bool) throws {
    for name in ["a", "a 8"] {
      try scene.write(ToyPackScene.pack(1), "\(name)/packs/all.pack")
      for other in ["1", "2"] { try scene.write([1], "\(name)/\(other).txt") }
    }
    try scene.write(isCopy ? ToyPackScene.pack(1) : [1], changed)
    let snapshot = try scan(StagingScanner(scene.input))
    #expect(snapshot.copies.map(\.place) == (isCopy ? [scene.input.appending("a 8")] : []))
    // As many bytes, another content.
    try scene.write(ToyPackScene.pack(2), "a 8/packs/all.pack")
    #expect(try scan(StagingScanner(scene.input)).copies.isEmpty)
  }

  @Test("a copy of a folder above one that is called after it is left alone, too")
  func copiesOfParents() throws {
    try scene.write(ToyPackScene.pack(1), "x/RAW/packs/all.pack")
    try scene.write(ToyPackScene.pack(2), "x (conflicted copy 2026-11-20)/RAW/packs/all.pack")
    let snapshot = try scan(StagingScanner(scene.input))
    #expect(
      snapshot.captures.filter { $0.recognition?.isWholeFolder == true }.map(\.recognition?.id) == [
        "x"
      ])
  }

  @Test("what was seen before a restart is known again elsewhere by its file")
  func identity() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(2), "b.pack")
    let seen = try scan(StagingScanner(scene.input)).captures
    #expect(Set(seen.map(\.identity)).count == 2)
    #expect(seen.map(\.identity.stem) == ["a.pack", "b.pack"])
    var index = IdentityIndex()
    for found in seen { index.add(found.identity, at: found.location) }
    try scene.input.appending("a.pack").move(to: scene.input.appending("c.pack"))
    let now = try scan(StagingScanner(scene.input)).captures
    let moved = try #require(now.first { $0.recognition?.id == "c" })
    let matches = index.matches([moved])
    #expect(matches.values.map(\.location.path.name) == ["a.pack"])
  }
}
