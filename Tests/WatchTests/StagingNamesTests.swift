import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

@testable import Output
@testable import Watch

@Suite("Names in STAGING, and what of them counts")
struct StagingNamesTests {
  @Test(
    "Files that transfers write until they are whole",
    arguments: [
      ("a.depth.part", true), ("a.partial", true), ("a.partial~", true), ("a.FILEPART", true),
      ("a.tmp", true), ("a.crdownload", true), (".a.depth.Xy12ab", true),
      (".syncthing.a.depth.tmp", true), ("a.depth", false), (".upload.json", false),
      (".DS_Store", false), (".hidden", false), (".a.depth.Xy12a", false), ("part", false),
    ])
  func transfers(name: String, isTransfer: Bool) {
    #expect(StagingNames.isTransfer(name) == isTransfer)
  }

  @Test(
    "A stamp follows names, sizes, times and inodes of everything below, and nothing of bystanders")
  func stamps() throws {
    let folder = try TemporaryFolder()
    let location = folder.path.appending("a")
    try FileSystem.makeFolder(location.appending("depth"))
    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(
        to: URL(filePath: location.appending(FilePath(name).components).string))
    }
    try write("1", "x.csv")
    try write("2", "depth/0.bin")
    let first = try #require(FolderSignature(of: location))
    try write("junk", ".DS_Store")
    try write("{}", ".upload.json")
    #expect(FolderSignature(of: location) == first)
    try write("3", "depth/1.bin")
    let second = try #require(FolderSignature(of: location))
    #expect(second != first)
    // The same content, size and time in a new file.
    let file = location.appending("x.csv").string
    let date = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate]
    try FileManager.default.copyItem(atPath: file, toPath: file + "2")
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: file + "2", toPath: file)
    try FileManager.default.setAttributes([.modificationDate: date as Any], ofItemAtPath: file)
    #expect(FolderSignature(of: location) != second)
    try write("", ".x.csv.Ab12Cd")
    #expect(FolderSignature(of: location)?.isTransferring == true)
    #expect(FolderSignature(of: folder.path.appending("nothing")) == nil)
  }

  @Test("Marks of senders")
  func marks() throws {
    let folder = try TemporaryFolder()
    #expect(UploadMark(of: folder.path) == UploadMark())
    func mark(_ manifest: String) throws -> UploadMark {
      try Data(manifest.utf8).write(
        to: URL(filePath: folder.path.appending(".upload.json").string))
      return UploadMark(of: folder.path)
    }
    let complete =
      #"{"schema":1,"complete":"2026-11-20T10:00:00Z","files":[{"state":"verified"},{"state":"STATE"}]}"#
    var found = try mark(complete.replacing("STATE", with: "verified"))
    #expect(found.isComplete && found.isSettled)
    found = try mark(complete.replacing("STATE", with: "unverified"))
    #expect(found.isComplete && !found.isSettled)
    found = try mark(#"{"schema":1,"complete":null,"processRequested":"2026-11-20T10:00:00Z"}"#)
    #expect(!found.isComplete && found.isSettled)
    #expect(try mark("[") == UploadMark())
    #expect(try mark(#"{"schema":2,"complete":"x"}"#) == UploadMark())
    try Data().write(to: URL(filePath: folder.path.appending(".complete").string))
    found = UploadMark(of: folder.path)
    #expect(found.isComplete && found.isSettled)
  }
}
