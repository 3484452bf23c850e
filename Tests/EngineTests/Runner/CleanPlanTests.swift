@testable import Captures
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Cleaning")
struct CleanPlanTests {
  /// With everything there is to remove: an intermediate, a failed attempt, a killed run's staging.
  static func workshop() throws -> Workshop {
    let workshop = try Workshop(Workshop.keepingFrames)
    workshop.probe().before("aligned") { _ in throw StageFailure("broken") }
    #expect(workshop.run().exit == 1)
    workshop.pipeline = try Workshop().pipeline
    try Text.write(
      "half", to: workshop.layout().staging("color", attempt: TestRun.id(0)).appending("a"))
    try Text.write(
      "half",
      to: workshop.layout().notes.appending(".memo.json.\(ProcessHome.current)-2000000000.new"))
    return workshop
  }

  static func names(_ items: [Removable], _ workshop: Workshop) -> [String] {
    items.map { item in
      var path = item.path
      _ = path.removePrefix(workshop.layout().folder)
      return "\(item.kind.rawValue) \(path)"
    }
  }

  @Test(
    "Each choice finds its own",
    arguments: [
      (CleaningChoice.stages(["color"]), ["artifact color"]),
      (.stages(["nothing"]), []),
      (.intermediate, ["intermediate frames"]),
      (
        .failed,
        [
          "failed .failed/aligned", "leftover .staging/color.\(TestRun.id(0))",
          "leftover .scanmill/.memo.json.\(ProcessHome.current)-2000000000.new",
        ]
      ),
      (
        .leftovers,
        [
          "intermediate frames", "failed .failed/aligned",
          "leftover .staging/color.\(TestRun.id(0))",
          "leftover .scanmill/.memo.json.\(ProcessHome.current)-2000000000.new",
        ]
      ),
    ])
  func choices(_ choice: CleaningChoice, _ expected: [String]) throws {
    let workshop = try Self.workshop()
    let cleaning = choice
    let found = try cleaning.find(workshop.layout(), intermediates: ["frames"])
    #expect(Self.names(found, workshop) == expected)
    #expect(found.allSatisfy { FileSystem.exists($0.path) && $0.size.bytes >= 0 })
    let done = try cleaning.perform(workshop.layout(), intermediates: ["frames"])
    #expect(done.map { Self.names($0, workshop) } == expected)
    #expect(found.allSatisfy { !FileSystem.exists($0.path) })
    #expect(try cleaning.find(workshop.layout(), intermediates: ["frames"]).isEmpty)
  }

  @Test(
    "A removed intermediate counts as up to date; a removed stage is made again by hand, not by a watcher"
  )
  func afterwards() throws {
    let workshop = try Self.workshop()
    workshop.probe().before("aligned", nil)
    _ = try CleaningChoice.leftovers.perform(workshop.layout(), intermediates: ["frames"])
    #expect(
      workshop.plan() == [
        "frames run outputs-missing", "aligned run never-built", "tables run input-rebuilt",
      ])
    #expect(workshop.run().exit == 0)
    #expect(workshop.plan().isEmpty)
    _ = try CleaningChoice.stages(["color"]).perform(workshop.layout(), intermediates: [])
    #expect(workshop.plan(Selection(), Self.watched).isEmpty)
    #expect(
      workshop.plan(Selection(), Self.byHand)
        == ["color run outputs-missing", "tables run input-rebuilt"])
  }

  private static let source = PipelineSource(name: "usual", text: Workshop.usual)

  private static func byHand(_ options: inout RunOptions) { options.pipelineSource = source }

  private static func watched(_ options: inout RunOptions) {
    (options.pipelineSource, options.isByHand) = (source, false)
  }

  @Test(
    "A cleaned stage is made for a reader that must be made, removed again, and asked for by nobody",
    arguments: ["color", "depth"], ["color.bin", "depth.bin"])
  func madeForReaders(stage: String, changed: String) throws {
    let workshop = try Workshop()
    #expect(workshop.run(Selection(), Self.byHand).exit == 0)
    _ = try CleaningChoice.stages([stage]).perform(workshop.layout(), intermediates: [])
    #expect(try StatusTests.states(workshop) == ["\(stage) not-requested"])
    try workshop.write("other", to: changed)
    let told = try StatusTests.states(workshop)
    #expect(told.contains("\(stage) not-requested") && told.contains("tables stale input-rebuilt"))
    #expect(workshop.run(Selection(), Self.watched).exit == 0)
    #expect(workshop.published(stage) == nil && workshop.published("frames") == nil)
    let tables = try #require(workshop.published("tables"))
    #expect(tables.contains("[\(stage) ") && tables.contains("other"))
    #expect(workshop.plan(Selection(), Self.watched).isEmpty)
    #expect(try StatusTests.states(workshop) == ["\(stage) not-requested"])
    #expect(workshop.plan(Selection(), Self.byHand).contains("\(stage) run outputs-missing"))
    #expect(workshop.run(Selection(), Self.byHand).exit == 0)
    #expect(workshop.published(stage) != nil)
    #expect(try StatusTests.states(workshop).isEmpty)
  }

  @Test(
    "A stage that is made alone is made with what was cleaned",
    arguments: [("tables", "color")])
  func alone(only: String, cleaned: String) throws {
    let workshop = try Workshop()
    #expect(workshop.run(Selection(), Self.byHand).exit == 0)
    _ = try CleaningChoice.stages([cleaned]).perform(workshop.layout(), intermediates: [])
    try workshop.write("other", to: "color.bin")
    let result = workshop.run(.only(only), Self.byHand)
    #expect(result.exit == 0, "\(result.stages())")
    #expect(workshop.published(cleaned) == nil)
    #expect(workshop.published("tables")?.contains("[color other]") == true)
    #expect(workshop.published("tables")?.contains("[depth ") == true)
  }

  @Test(
    "All captures are counted of which a cleaned stage is made again, whatever else has changed")
  func counted() throws {
    let workshop = try Workshop()
    try workshop.add("second")
    #expect(workshop.run(Selection(), Self.byHand).exit == 0)
    for name in ["scan", "second"] {
      _ = try CleaningChoice.stages(["color"]).perform(workshop.layout(name), intermediates: [])
    }
    try workshop.write("other", to: "color.bin", of: "second")
    func captures(_ change: (inout RunOptions) -> Void) -> [Int] {
      let batch = workshop.batch(Selection(), change, clock: .system)
      return batch.outlook(batch.targets(workshop.findings(nil))).change.cleaned.map(\.captures)
    }
    // What is made again needs what the same results took.
    let batch = workshop.batch(Selection(), Self.byHand, clock: .system)
    let targets = batch.targets(workshop.findings(["scan"]))
    let color = try #require(batch.plan(targets)[0].jobs.first { $0.stage == "color" })
    #expect(color.isCleaned && color.bytes > 0)
    var needs = RunNeeds(workshop.pipeline, root: workshop.output)
    needs.add(
      targets[0].recognition, workshop.pipeline.stages.filter { $0.name == "color" },
      cleaned: ["color": 7777])
    #expect(needs.line?.hasPrefix("needs about 7.78 kB") == true, "\(needs.line ?? "")")
    #expect(captures(Self.byHand) == [2])
    #expect(captures(Self.watched).isEmpty)
  }

  @Test(
    "A removal that is ended in the middle leaves what the next run sweeps away; the stage is made again"
  )
  func ended() throws {
    for number in 0..<6 {
      let workshop = try Workshop()
      #expect(workshop.run().exit == 0)
      let layout = workshop.layout()
      let count = Mutex(0)
      StorageFaults.set(below: workshop.output) { step, path in
        guard step == .unlink || step == .rename, path.string.contains("color") else { return nil }
        let before = count.withLock { count in
          count += 1
          return count - 1
        }
        return before >= number ? .ioError : nil
      }
      _ = try? CleaningChoice.stages(["color"]).perform(layout, intermediates: [])
      StorageFaults.set(below: workshop.output, nil)
      #expect(workshop.published("color").map { $0 == "red" } ?? true)
      #expect(workshop.run().exit == 0, "\(number)")
      #expect(workshop.published("color") == "red")
    }
  }

  @Test(
    "What earlier versions left of such a removal is taken for ours, unless there is anything else in it"
  )
  func endedEarlier() throws {
    for isForeign in [false, true] {
      let workshop = try Workshop()
      #expect(workshop.run().exit == 0)
      let layout = workshop.layout()
      try FileSystem.remove(layout.record("color"))
      if isForeign { try Text.write("mine", to: layout.artifact("color").appending("mine")) }
      let found = try CleaningChoice.stages(["color"]).find(layout, intermediates: [])
      #expect(found.isEmpty == isForeign)
      #expect((workshop.run().exit == 0) == !isForeign)
      #expect(FileSystem.exists(layout.record("color")) == !isForeign)
    }
  }

  @Test("A watcher, which does not make what was cleaned, opens no capture to find that out")
  func notOpened() throws {
    let workshop = try Workshop()
    #expect(workshop.run(clock: CaptureCacheTests.later, Self.watched).exit == 0)
    _ = try CleaningChoice.stages(["tables"]).perform(workshop.layout(), intermediates: [])
    let batch = workshop.batch(Selection(), Self.watched, clock: CaptureCacheTests.later)
    let reports = batch.upToDate(batch.targets(workshop.findings(nil)))
    #expect(reports.map { $0?.stages.map(\.stage) } == [["color", "frames", "depth", "aligned"]])
  }

  @Test("Nothing to remove is said only where it was looked")
  func unlisted() throws {
    let workshop = try Self.workshop()
    StorageFaults.setLooks(below: workshop.output) { look, path in
      look == .list && path.name == ".failed" ? .ioError : nil
    }
    defer { StorageFaults.setLooks(below: workshop.output, nil) }
    #expect(throws: FileError.self) {
      try CleaningChoice.failed.find(workshop.layout(), intermediates: [])
    }
    StorageFaults.setLooks(below: workshop.output) { look, path in
      look == .open && path.name == "artifact.json" ? .staleNFSFileHandle : nil
    }
    #expect(throws: FileError.self) {
      try CleaningChoice.stages(["color"]).find(workshop.layout(), intermediates: [])
    }
  }

  @Test("A capture that somebody works on is left alone")
  func locked() throws {
    let workshop = try Self.workshop()
    let lock = try #require(try FileLock(at: workshop.layout().lock, holder: "x") { _ in false })
    #expect(
      try CleaningChoice.leftovers.perform(workshop.layout(), intermediates: ["frames"]) == nil)
    #expect(workshop.folders().contains("frames") && workshop.folders().contains(".failed"))
    withExtendedLifetime(lock) {}
  }

  @Test("What is not ours, and what links lead to, is never touched")
  func foreign() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let layout = workshop.layout()
    let outside = workshop.folder.path.appending("outside")
    try Text.write("mine", to: outside.appending("file"))
    try Text.write("mine", to: layout.folder.appending("mine/file"))
    #expect(TestLink.make(layout.failedRoot, to: outside))
    #expect(TestLink.make(layout.folder.appending("linked"), to: outside))
    let record = try #require(Text.read(layout.record("color")))
    try Text.write(record, to: outside.appending("artifact.json"))
    for choice in [CleaningChoice.leftovers, .stages(["mine"]), .stages(["linked"]), .failed] {
      #expect(try choice.perform(layout, intermediates: ["mine", "linked"]) == [])
    }
    #expect(Text.read(outside.appending("file")) == "mine")
    #expect(Text.read(layout.folder.appending("mine/file")) == "mine")
  }

  @Test("The only copy of a result, moved aside when a run was killed, is no leftover")
  func aside() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let layout = workshop.layout()
    try FileSystem.makeFolder(layout.stagingRoot)
    try FileSystem.rename(
      layout.artifact("color"), to: layout.aside("color", attempt: TestRun.id(0)))
    #expect(try CleaningChoice.failed.perform(layout, intermediates: []) == [])
    #expect(workshop.run().stages().contains("color up-to-date"))
  }
}
