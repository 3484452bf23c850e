import FoundationEssentials
import Glibc
import SystemPackage
import Testing

@testable import Captures
@testable import Core
@testable import Engine

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

@Suite struct CaptureChoiceTests {
  private let target = CaptureTarget(
    recognition: Recognition(
      family: .strabo, certainty: .certain, folder: "/staging/2026-11-20/ann/Room 4", id: "Room 4",
      reason: ""), layout: OutputLayout(root: "/out", name: "Room-4"))

  private func isChosen(_ change: (inout CaptureChoice) -> Void) -> Bool {
    var choice = CaptureChoice()
    change(&choice)
    return choice.refusal(target, searched: ["/staging"]) == nil
  }

  @Test func `everything is chosen unless something is said`() {
    #expect(isChosen { _ in })
  }

  @Test func `families and beginnings of ids choose`() {
    #expect(isChosen { $0.families = [.strabo, .scannet] })
    #expect(!isChosen { $0.families = [.scannet] })
    #expect(isChosen { $0.names.idPrefixes = ["x", "Room 4"] })
    #expect(isChosen { $0.names.idPrefixes = ["Room-"] })
    #expect(!isChosen { $0.names.idPrefixes = ["oom"] })
  }

  @Test(arguments: [
    ("Room*", true), ("*/ann/*", true), ("2026-11-20/ann/Room 4", true), ("2026-11-2?/*", true),
    ("/staging/2026*", true), ("[RS]oom 4", true), ("ann", false), ("room*", false), ("", false),
  ])
  func `patterns leave out`(pattern: String, isOut: Bool) {
    #expect(isChosen { $0.names.excluded = ["nothing", pattern] } != isOut)
  }

  @Test func `captures unchanged since a moment are left out`() throws {
    let shop = try Workshop()
    let finding = CaptureFinder(CaptureRegistry([ToyReader.self])).find(shop.capture("scan"))
    let target = Ownership(root: shop.output).resolve(finding.captures)[0]
    for name in ["toy.txt", "color.bin", "depth.bin"] {
      var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, shop.capture("scan").appending(name).string, &times, 0) == 0)
    }
    var choice = CaptureChoice()
    choice.sinceNanoseconds = 1000 * 1_000_000_000
    #expect(choice.refusal(target, searched: []) == nil)
    choice.sinceNanoseconds = 1001 * 1_000_000_000
    #expect(choice.refusal(target, searched: []) != nil)
  }

  @Test(arguments: [
    ("24h", 86_400), ("7d", 7 * 86_400), ("90m", 5_400), ("30s", 30),
  ])
  func `durations count back from now`(text: String, seconds: Int64) {
    let now: Int64 = 1_800_000_000_000_000_000
    #expect(MomentText.nanoseconds(text, nowNanoseconds: now) == now - seconds * 1_000_000_000)
  }

  @Test func `dates are local times`() throws {
    let day = try #require(MomentText.nanoseconds("2026-11-20", nowNanoseconds: 0))
    let evening = try #require(MomentText.nanoseconds("2026-11-20T22:00", nowNanoseconds: 0))
    #expect(evening - day == 22 * 3_600_000_000_000)
    #expect(
      MomentText.nanoseconds("2026-11-20T22:00:30", nowNanoseconds: 0) == evening + 30_000_000_000)
    var time = tm()
    var seconds = time_t(day / 1_000_000_000)
    localtime_r(&seconds, &time)
    #expect((time.tm_year, time.tm_mon, time.tm_mday, time.tm_hour) == (126, 10, 20, 0))
  }

  @Test(arguments: [
    "", "yesterday", "2026-02-30", "2026-13-01", "2026-11-20T", "2026-11-20T25:00", "20-11-2026",
    "2026-11-20 22:00", "2026-11-20T22:00:00Z", "24", "-1h",
  ])
  func `what is no moment is refused`(text: String) {
    #expect(MomentText.nanoseconds(text, nowNanoseconds: 0) == nil)
  }
}
