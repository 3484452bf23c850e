@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("What runs again, and why")
struct RerunTests {
  static let everything = [
    "color made never-built", "frames made never-built", "depth made never-built",
    "aligned made never-built", "tables made never-built",
  ]

  /// A workshop in which everything is done.
  static func done(_ pipeline: String = Workshop.usual) throws -> Workshop {
    let workshop = try Workshop(pipeline)
    #expect(workshop.run().exit == 0)
    _ = workshop.probe().takeRan()
    return workshop
  }

  @Test("The first run builds everything, the second does nothing")
  func twice() throws {
    let workshop = try Workshop()
    let first = workshop.run()
    #expect(first.exit == 0)
    #expect(first["scan"].outcome == .made)
    #expect(first.stages() == Self.everything)
    #expect(
      workshop.published("tables") == "[aligned [frames deep]][color red][depth [frames deep]]")
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
    _ = workshop.probe().takeRan()
    let before = try FileIdentity(of: workshop.layout().captureDocument)

    let second = workshop.run()
    #expect(second.exit == 0)
    #expect(second.busy() == [])
    #expect(second["scan"].stages.map(\.frames) == first["scan"].stages.map(\.frames))
    #expect(workshop.probe().takeRan() == [])
    #expect(try FileIdentity(of: workshop.layout().captureDocument) == before)
  }

  @Test("A changed parameter reruns the stage and those that read its output")
  func parameter() throws {
    let workshop = try Self.done()
    try workshop.set("depth.suffix=!")
    #expect(
      workshop.plan() == [
        "frames run parameters", "depth run parameters", "aligned run input-rebuilt",
        "tables run input-rebuilt",
      ])
    let result = workshop.run()
    #expect(
      result.busy() == [
        "frames made parameters", "depth made parameters", "aligned made input-rebuilt",
        "tables made input-rebuilt",
      ])
    #expect(workshop.published("depth") == "[frames deep!]!")
    #expect(workshop.run().busy() == [])
  }

  @Test("A stage that runs and makes the same stops there")
  func cutOff() throws {
    let workshop = try Self.done()
    let result = workshop.run(.forced("color"))
    #expect(result.busy() == ["color made forced"])
    #expect(workshop.probe().takeRan() == ["color"])
    // Four letters are all there are: other parameters, the same output.
    try workshop.set("frames.letters=4")
    #expect(workshop.plan().count == 4)
    #expect(workshop.run().busy() == ["frames made parameters"])
    #expect(workshop.probe().takeRan() == ["frames"])
  }

  @Test("An input that was touched or copied anew, but holds the same, reruns nothing")
  func touched() throws {
    let workshop = try Self.done()
    try workshop.write("red", to: "color.bin")
    var times = [
      timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 5),
    ]
    let depth = workshop.capture("scan").appending("depth.bin").string
    #expect(utimensat(AT_FDCWD, depth, &times, 0) == 0)
    #expect(workshop.run().busy() == [])
  }

  @Test("A file that a parameter names counts by its content")
  func external() throws {
    let workshop = try Workshop()
    let table = workshop.folder.path.appending("table.txt")
    try Text.write("T", to: table)
    try workshop.set("aligned.table=\(table)")
    _ = workshop.run()
    #expect(workshop.published("aligned") == "[frames deep]T")
    try Text.write("U", to: table)
    #expect(
      workshop.run().busy() == [
        "frames made outputs-missing", "aligned made input-changed", "tables made input-rebuilt",
      ])
    try FileSystem.remove(table)
    let result = workshop.run()
    #expect(result.exit == 1)
    #expect(result.busy() == ["aligned failed", "tables made input-rebuilt"])
    #expect(result.message("aligned") == "\(table): cannot be accessed: no such file")
  }

  @Test("A deleted output is made again, a truncated one too")
  func outputs() throws {
    let workshop = try Self.done()
    try FileSystem.remove(workshop.layout().artifact("color").appending("out.txt"))
    #expect(workshop.run().busy() == ["color made outputs-missing"])
    #expect(workshop.published("color") == "red")
    try Text.write("r", to: workshop.layout().artifact("color").appending("out.txt"))
    #expect(workshop.run().busy() == ["color made outputs-altered"])
    #expect(workshop.published("color") == "red")
    try FileSystem.remove(workshop.layout().artifact("color"))
    #expect(workshop.run().busy() == ["color made never-built"])
    try Text.write("{", to: workshop.layout().record("color"))
    #expect(workshop.run().busy() == ["color made outputs-altered"])
  }

  @Test("An output altered at the same length is found by --verify only")
  func verify() throws {
    let workshop = try Self.done()
    try Text.write("rad", to: workshop.layout().artifact("color").appending("out.txt"))
    #expect(workshop.run().busy() == [])
    #expect(
      workshop.plan { $0.verify = true } == [
        "color run outputs-altered", "tables run input-rebuilt",
      ])
    #expect(workshop.run { $0.verify = true }.busy() == ["color made outputs-altered"])
    #expect(workshop.published("color") == "red")
  }

  @Test("A file that the record does not list is told by --verify, and makes nothing stale")
  func unlisted() throws {
    let workshop = try Self.done()
    let color = workshop.layout().artifact("color")
    for name in ["more.txt", ".DS_Store"] { try Text.write("x", to: color.appending(name)) }
    #expect(workshop.run()["scan"].warnings.isEmpty)
    let verified = workshop.run { $0.verify = true }
    #expect(verified.busy() == [])
    #expect(verified["scan"].warnings.map(\.code) == [.unlistedFile])
    #expect(verified["scan"].warnings.map(\.subject) == ["color"])
    #expect(verified["scan"].warnings.first?.message.contains("more.txt is in color/") == true)
    for verifies in [false, true] {
      let batch = workshop.batch(Selection(), { $0.verify = verifies }, clock: .system)
      let planned = batch.plan(batch.targets(workshop.findings(nil)))[0].warnings
      #expect(planned == (verifies ? verified["scan"].warnings : []))
    }
  }

  @Test("--only runs exactly the stage; with inputs that are not up to date it is blocked")
  func only() throws {
    let workshop = try Self.done()
    try workshop.write("tan", to: "color.bin")
    try workshop.write("abyss", to: "depth.bin")
    #expect(workshop.run(.only("color")).stages() == ["color made input-changed"])
    let blocked = workshop.run(.only("aligned"))
    #expect(blocked.exit == 1)
    #expect(blocked["scan"].outcome == .blocked)
    #expect(blocked.stages() == ["aligned blocked"])
    #expect(blocked.message("aligned") == "its input 'frames' is not up to date (input-changed)")
    #expect(workshop.run(.only("tables")).stages() == ["tables made input-rebuilt"])
  }

  @Test(
    "A stream that went away makes its stages not applicable, and nobody reads what is left of them"
  )
  func wentAway() throws {
    let workshop = try Self.done()
    try workshop.remove("color.bin")
    #expect(workshop.plan(.only("tables")) == ["tables run input-rebuilt"])
    #expect(workshop.run(.only("tables")).stages() == ["tables made input-rebuilt"])
    #expect(workshop.published("tables") == "[aligned [frames deep]][depth [frames deep]]")
    #expect(workshop.run().busy() == ["color not-possible"])
    #expect(workshop.record("color") == nil)
    try workshop.write("red", to: "color.bin")
    #expect(workshop.run().busy() == ["color made never-built", "tables made input-rebuilt"])
  }

  @Test("Nothing but the stages that apply is made, and that is done")
  func notApplicable() throws {
    let workshop = try Workshop()
    try workshop.remove("depth.bin")
    let result = workshop.run()
    #expect(result.exit == 0)
    #expect(
      result.stages() == [
        "color made never-built", "frames not-possible", "depth not-possible",
        "aligned not-possible", "tables made never-built",
      ])
    #expect(result["scan"].outcome == .made)
    #expect(result["scan"].stagesDone == 2 && result["scan"].stagesApplicable == 2)
    #expect(workshop.folders() == ["capture.json", "color", "tables"])
    #expect(result.message("depth") == "the family records no depth")
  }

  @Test(
    "A result whose stage has nothing to do any more is told of before it goes and by the run, once"
  )
  func removedResults() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    try workshop.add("other")
    try workshop.remove("depth.bin")
    let reason = "the family records no depth"
    let bytes = try #require(workshop.record("aligned")).outputs.reduce(0) { $0 + $1.bytes }
    // The frames were removed after use: nothing of them is lost now.
    let gone = ["depth", "aligned"].map {
      RemovedResult(stage: $0, reason: reason, files: 2, bytes: bytes)
    }
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let plans = batch.plan(batch.targets(workshop.findings(nil)))
    #expect(plans.first { $0.id == "scan" }?.removedResults == gone)
    #expect(plans.first { $0.id == "other" }?.removedResults == [])
    let result = workshop.run()
    #expect(result["scan"].removedResults == gone && result["other"].removedResults == nil)
    #expect(workshop.run()["scan"].removedResults == nil)
    #expect(
      RemovedResult.lines([gone, gone, [gone[0]]]) == [
        "depth of 3 captures (\(reason)), 6 files", "aligned of 2 captures (\(reason)), 4 files",
      ])
  }
}
