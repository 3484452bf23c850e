@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import Testing
import Glibc

@Suite("Everything that is read counts")
struct FolderInputTests {
  static func workshop() throws -> Workshop {
    let workshop = try Workshop(
      """
      schema: 1
      stages:
        all: {uses: toy-folder}
      """)
    try workshop.write("note", to: "notes.txt")
    try workshop.write("deep", to: "a/b/c.txt")
    #expect(workshop.run().exit == 0)
    #expect(workshop.run().busy() == [])
    return workshop
  }

  @Test(
    "Every file of the folder counts for a stage that is shown it",
    arguments: ["changed", "deep", "added", "removed", "renamed"])
  func folder(kind: String) throws {
    let workshop = try Self.workshop()
    let folder = workshop.capture("scan")
    switch kind {
    case "changed": try workshop.write("NOTE", to: "notes.txt")
    case "deep": try workshop.write("DEEP", to: "a/b/c.txt")
    case "added": try workshop.write("", to: "a/empty")
    case "removed": try workshop.remove("notes.txt")
    default:
      try FileSystem.rename(folder.appending("notes.txt"), to: folder.appending("other.txt"))
    }
    #expect(workshop.plan() == ["all run input-changed"])
    #expect(workshop.run().busy() == ["all made input-changed"])
    #expect(workshop.run().busy() == [])
  }

  @Test(
    "A file of the folder that changes while the stage runs fails it",
    arguments: ["changed", "added", "removed", "time put back"])
  func changes(kind: String) throws {
    let workshop = try Self.workshop()
    let file = workshop.capture("scan").appending("notes.txt")
    workshop.probe().after("all") { _ in
      switch kind {
      case "changed": try Text.write("NOTE", to: file)
      case "added": try Text.write("x", to: file.removingLastComponent().appending("a/x"))
      case "removed": try FileSystem.remove(file)
      default: try Self.changeUnseen(file, "NOTE")
      }
    }
    let result = workshop.run(.forced("all"))
    #expect(result.exit == 1)
    #expect(result.message("all").contains("input-changed"))
  }

  /// Writes other bytes of the same number into the same file and puts its time back.
  static func changeUnseen(_ file: FilePath, _ text: String) throws {
    var status = stat()
    #expect(stat(file.string, &status) == 0)
    try Text.overwrite(text, at: file)
    var times = [status.st_atim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, file.string, &times, 0) == 0)
    var after = stat()
    #expect(stat(file.string, &after) == 0)
    #expect(
      after.st_mtim.tv_nsec == status.st_mtim.tv_nsec && after.st_size == status.st_size
        && after.st_ino == status.st_ino)
  }

  @Test("A file changed in place with its time put back is seen: while a stage reads it, and later")
  func timePutBack() throws {
    let workshop = try Workshop()
    let file = workshop.capture("scan").appending("color.bin")
    workshop.probe().after("color") { _ in try Self.changeUnseen(file, "tan") }
    #expect(workshop.run().message("color").contains("input-changed"))
    #expect(workshop.published("color") == nil)
    workshop.probe().after("color", nil)
    #expect(workshop.run().exit == 0)
    #expect(workshop.published("color") == "tan")
    try Self.changeUnseen(file, "red")
    #expect(
      workshop.plan() == ["color run input-changed", "tables run input-rebuilt"])
    #expect(workshop.run().exit == 0)
    #expect(workshop.published("color") == "red")
  }
}
