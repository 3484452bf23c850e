import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Engine

@Suite("What lay at many paths, asked again")
struct PathStampsTests {
  private let folder: TemporaryFolder
  private let held: HeldFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["a", "in/b", "in/ö\u{1}"] {
      let path = folder.path.pushing(FilePath(name))
      try FileSystem.makeFolder(path.removingLastComponent())
      try OutputFile.write(Array("as it was".utf8), to: path)
    }
    held = try HeldFolder.following(folder.path)
  }

  private func stamps(_ paths: [String]) -> PathStamps {
    PathStamps(paths.map { ($0, held.status(of: $0)) })
  }

  private var paths: [String] {
    [".", "a", "in", "in/b", "in/ö\u{1}", "none", "in/none/below", "\(folder.path)/in/b"]
  }

  @Test("What lies untouched is current, also by other hands")
  func untouched() throws {
    let stamps = stamps(paths)
    #expect(stamps.areCurrent(in: StampFolders(held)))
    #expect(
      PathStamps(paths: stamps.paths, digest: stamps.digest).areCurrent(in: StampFolders(held)))
    #expect(PathStamps([]).areCurrent(in: StampFolders(held)))
  }

  /// What may become of the files; every one is told by something else.
  enum Change: String, CaseIterable {
    case replacedByItsCopy, otherTime, appeared, removed, replacedByLink, otherMode, longer
    case nameInFolder, replacedFolder, removedFolder, appearedBelow
  }

  private func make(_ change: Change) throws {
    let files = FileManager.default
    func path(_ name: String) -> String { folder.path.pushing(FilePath(name)).string }
    func attributes(_ values: [FileAttributeKey: Any], _ name: String) throws {
      try files.setAttributes(values, ofItemAtPath: path(name))
    }
    switch change {
    case .replacedByItsCopy:
      let before = try files.attributesOfItem(atPath: path("in/b"))
      try files.copyItem(atPath: path("in/b"), toPath: path("c"))
      try #require(rename(path("c"), path("in/b")) == 0)
      let time = try #require(before[.modificationDate])
      try attributes([.modificationDate: time], "in/b")
    case .otherTime: try attributes([.modificationDate: Date(timeIntervalSince1970: 1)], "a")
    case .appeared: try Data().write(to: URL(filePath: path("none")))
    case .removed: try files.removeItem(atPath: path("a"))
    case .replacedByLink:
      try files.removeItem(atPath: path("a"))
      try files.createSymbolicLink(atPath: path("a"), withDestinationPath: "in/b")
    case .otherMode: try attributes([.posixPermissions: 0o600], "in/b")
    case .longer:
      let time = try #require(try files.attributesOfItem(atPath: path("a"))[.modificationDate])
      try OutputFile.write(Array("as it was, and more".utf8), to: folder.path.appending("a"))
      try attributes([.modificationDate: time], "a")
    case .nameInFolder: try Data().write(to: URL(filePath: path("in/c")))
    case .replacedFolder:
      try files.moveItem(atPath: path("in"), toPath: path("other"))
      try files.copyItem(atPath: path("other"), toPath: path("in"))
    case .removedFolder: try files.removeItem(atPath: path("in"))
    case .appearedBelow:
      try files.createDirectory(atPath: path("in/none/below"), withIntermediateDirectories: true)
    }
  }

  @Test("Any change at any of the paths shows", arguments: Change.allCases)
  func changed(change: Change) throws {
    let stamps = stamps(paths)
    try make(change)
    #expect(!stamps.areCurrent(in: StampFolders(held)))
  }

  @Test(
    "Whole paths are looked at from the folder of the last one, and from none that cannot be opened"
  )
  func wholePaths() throws {
    let (root, folders) = (folder.path.string, StampFolders(held))
    try OutputFile.write(Array("another".utf8), to: folder.path.appending("b"))
    let stamps = ["\(root)/in/b", "\(root)/b", "b", "\(root)/in", "/in/b", "\(root)/none/b"].map {
      self.stamps([$0, "\(root)/a"])
    }
    for stamps in stamps + stamps.reversed() { #expect(stamps.areCurrent(in: folders)) }
    try make(.replacedByItsCopy)
    #expect(
      stamps.map { $0.areCurrent(in: folders) } == [false, true, true, false, true, true])
  }

  @Test("A damaged note is not current")
  func damaged() {
    let stamps = stamps(paths)
    for count in 0..<stamps.paths.count {
      let cut = PathStamps(paths: stamps.paths.prefix(count), digest: stamps.digest)
      #expect(!cut.areCurrent(in: StampFolders(held)))
    }
    let other = PathStamps(paths: stamps.paths, digest: Digest(of: "other"))
    #expect(!other.areCurrent(in: StampFolders(held)))
  }
}
