@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Stages that fail")
struct FailureTests {
  struct Broken: Error, CustomStringConvertible {
    var description: String { "the machine is broken" }
  }

  @Test("A failed stage keeps what it wrote, blocks its dependents, and the others go on")
  func failed() throws {
    let workshop = try Workshop()
    workshop.probe().before("frames") { context in
      try context.staging.write([1, 2], as: "half.bin")
      throw Broken()
    }
    let result = workshop.run()
    #expect(result.exit == 1)
    #expect(result["scan"].outcome == .failed)
    #expect(
      result.stages() == [
        "color made never-built", "frames failed never-built", "depth blocked", "aligned blocked",
        "tables made never-built",
      ])
    #expect(result.message("frames") == "the machine is broken")
    #expect(result["scan"].why.cause == .program)
    #expect(result.message("depth") == "its input 'frames' failed")
    #expect(workshop.published("tables") == "[color red]")
    #expect(workshop.folders() == [".failed", "capture.json", "color", "tables"])
    let failed = workshop.layout().failed("frames")
    #expect(try FileSystem.names(in: failed) == ["failure.json", "half.bin"])
    #expect(Text.read(workshop.layout().failureNote("frames"))?.contains("is broken") == true)

    workshop.probe().before("frames", nil)
    let second = workshop.run()
    #expect(
      second.busy() == [
        "frames made never-built", "depth made never-built", "aligned made never-built",
        "tables made input-rebuilt",
      ])
    #expect(!FileSystem.exists(failed))
  }

  @Test(
    "A disk that fails while a capture is read is the machine's, whatever the stage makes of it, and heals",
    arguments: [Errno.ioError, .staleNFSFileHandle, .hostIsDown],
    [StorageFaults.Look.open, .inspect, .list])
  func failingDisk(error: Errno, failing: StorageFaults.Look) throws {
    let workshop = try Workshop()
    let place = PathSafety.resolved(workshop.capture("scan")) ?? workshop.capture("scan")
    let targets = workshop.findings(nil)
    StorageFaults.setLooks(below: place) { look, path in
      look == failing && (look == .list || path.name == "color.bin") ? error : nil
    }
    defer { StorageFaults.setLooks(below: place, nil) }
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let report = batch.run(
      batch.targets(targets), declined: [], run: TestRun.id(7), events: EventFan([]),
      cancellation: Cancellation())
    #expect(report.exit == 1)
    #expect(report.captures.map(\.why.cause) == [.machine])
    #expect(report.captures[0].why.message?.contains("another copy") != true)
    StorageFaults.setLooks(below: place, nil)
    #expect(workshop.run().exit == 0)
    #expect(workshop.published("color") == "red")
  }

  @Test(
    "Results that cannot be looked at are neither absent nor made again: which and why is told, and it heals",
    arguments: [Errno.ioError, .permissionDenied], [StorageFaults.Look.open, .inspect])
  func unknownResults(error: Errno, failing: StorageFaults.Look) throws {
    let workshop = try RerunTests.done()
    let folder = workshop.layout().artifact("tables")
    let place = failing == .open ? folder : folder.appending("out.txt")
    StorageFaults.setLooks(below: place) { look, path in
      look == failing && path == place ? error : nil
    }
    defer { StorageFaults.setLooks(below: place, nil) }
    #expect(workshop.plan() == ["tables blocked"])
    let result = workshop.run()
    #expect(result.exit != 0)
    #expect(result.stages().last?.hasPrefix("tables failed") == true)
    #expect(result.message("tables").hasPrefix("\(place): "))
    StorageFaults.setLooks(below: place, nil)
    let again = workshop.run()
    #expect(again.exit == 0)
    #expect(again.busy().isEmpty)
  }

  @Test("Behind a blocked stage the text names the stage that failed")
  func chain() throws {
    let workshop = try Workshop(
      """
      schema: 1
      stages:
        a: {uses: toy-frames}
        b: {uses: toy-refine, needs: [a]}
        c: {uses: toy-refine, needs: [b]}
      """)
    workshop.probe().before("a") { _ in throw Broken() }
    let result = workshop.run()
    #expect(result.stages() == ["a failed never-built", "b blocked", "c blocked"])
    #expect(result.message("b") == "its input 'a' failed")
    #expect(result.message("c") == "its input 'a' failed")
    #expect(
      StatusTests.status(workshop).states.map(\.details).dropFirst()
        == ["its input 'a' failed", "its input 'a' failed"])
  }

  @Test("An old artifact survives the failure of its stage, and so does what was made with it")
  func oldStays() throws {
    let workshop = try RerunTests.done()
    let before = workshop.record("tables")
    workshop.probe().before("color") { _ in throw Broken() }
    let result = workshop.run(.forced("color"))
    #expect(result.busy() == ["color failed forced", "tables blocked"])
    #expect(workshop.published("color") == "red" && workshop.record("tables") == before)
    // Status, of files that changed in between, has the word of the run.
    try workshop.write("blue", to: "color.bin")
    #expect(workshop.run().busy() == ["color failed input-changed", "tables blocked"])
    #expect(
      try StatusTests.states(workshop) == ["color failed input-changed", "tables blocked"])
    let why = "its input 'color' failed; what was made before stays"
    #expect(result.message("tables") == why)
    #expect(StatusTests.status(workshop).states.last?.details == why)
    // Another input that is new counts: names of files must be those that are there.
    try workshop.write("abyss", to: "depth.bin")
    #expect(workshop.run().busy().contains("tables made input-rebuilt"))
    #expect(try StatusTests.states(workshop) == ["color failed input-changed"])
    workshop.probe().before("color", nil)
    #expect(workshop.run().busy() == ["color made input-changed", "tables made input-rebuilt"])
    #expect(try StatusTests.states(workshop).isEmpty)
  }

  @Test("What reads a result that stays beside a failed input is up to date")
  func readersOfWhatStays() throws {
    let workshop = try Workshop(
      """
      schema: 1
      stages:
        color: {uses: toy-color}
        depth: {uses: toy-mixed, optional: [color]}
        aligned: {uses: toy-refine, needs: [depth]}
      """)
    #expect(workshop.run().exit == 0)
    workshop.probe().before("color") { _ in throw Broken() }
    try workshop.write("blue", to: "color.bin")
    let result = workshop.run()
    #expect(
      result.stages() == ["color failed input-changed", "depth blocked", "aligned up-to-date"])
    #expect(try StatusTests.states(workshop) == ["color failed input-changed", "depth blocked"])
  }

  @Test(
    "What the parameters leave nothing of stays as long as the stage fails that is to make what it was made from"
  )
  func nothingLeftBesideFailure() throws {
    let workshop = try Workshop(
      """
      schema: 1
      stages:
        color: {uses: toy-color}
        tables: {uses: toy-tables, optional: [color]}
      """)
    #expect(workshop.run().exit == 0)
    workshop.probe().before("color") { _ in throw Broken() }
    try workshop.set("color.suffix=x")
    try workshop.set("tables.letters=0")
    for _ in 0..<2 {
      let failed = workshop.run()
      #expect(failed.stages() == ["color failed parameters", "tables not-possible"])
      #expect(failed.message("tables") == "no letter is left; what was made before stays")
      #expect(failed["scan"].removedResults == nil)
      #expect(workshop.published("tables") == "[color red]")
    }
    workshop.probe().before("color", nil)
    let made = workshop.run()
    #expect(made.stages() == ["color made parameters", "tables not-possible"])
    #expect(made["scan"].removedResults?.map(\.stage) == ["tables"])
    #expect(workshop.published("tables") == nil)
    #expect(workshop.run().busy() == ["tables not-possible"])
  }

  @Test("A stage with nothing to do without an input that failed keeps what it had made before")
  func resultOfReaderStays() throws {
    let workshop = try Workshop(
      """
      schema: 1
      stages:
        color: {uses: toy-color}
        tables: {uses: toy-tables, optional: [color]}
      """)
    #expect(workshop.run().exit == 0)
    workshop.probe().before("tables") { context in
      if context.inputs.isEmpty { throw StageDoesNotApply("nothing is left") }
    }
    workshop.probe().before("color") { _ in throw Broken() }
    let result = workshop.run(.forced("color", "tables"))
    #expect(result.stages() == ["color failed forced", "tables blocked"])
    #expect(
      result.message("tables")
        == "its input 'color' failed, and without it nothing is left; what was made before stays")
    #expect(result["scan"].removedResults == nil && workshop.published("tables") == "[color red]")
    workshop.probe().before("color", nil)
    #expect(workshop.run().busy() == [])
    // Where the capture has nothing for the input, what was made of it goes.
    try workshop.remove("color.bin")
    #expect(
      workshop.run()["scan"].removedResults?.map(\.stage).sorted() == ["color", "tables"])
    #expect(workshop.published("tables") == nil)
  }

  @Test("An unreadable stream fails the stages that need it, with file and place")
  func unreadable() throws {
    let workshop = try Workshop()
    try workshop.write("!", to: "depth.bin")
    let result = workshop.run()
    #expect(result.exit == 1)
    #expect(
      result.stages() == [
        "color made never-built", "frames failed", "depth blocked", "aligned blocked",
        "tables made never-built",
      ])
    let file = workshop.capture("scan").appending("depth.bin")
    #expect(result.message("frames") == "\(file), record 0, byte 0: begins with !")
    #expect(Text.read(workshop.layout().failureNote("frames"))?.contains("begins with !") == true)
  }

  @Test("A file that changes while a stage reads it fails the stage, never a silent mix")
  func inputMoves() throws {
    let workshop = try Workshop()
    let file = workshop.capture("scan").appending("color.bin")
    workshop.probe().after("color") { _ in try Text.write("redder", to: file) }
    let result = workshop.run()
    #expect(result.exit == 1)
    #expect(result.message("color").contains("input-changed"))
    #expect(result.message("color").hasPrefix("\(file): cannot be read: "))
    #expect(workshop.published("color") == nil)
    workshop.probe().after("color", nil)
    #expect(workshop.run().exit == 0)
    #expect(workshop.published("color") == "redder")
  }

  @Test(
    "A copied file that has changed since the input was made of it fails the stage",
    arguments: [true, false])
  func copiedMoves(isCopied: Bool) throws {
    let workshop = try Workshop()
    let file = workshop.capture("scan").appending("depth.bin")
    workshop.probe().setCopied(isCopied ? [.depth] : [], by: "depth")
    workshop.probe().before("depth") { _ in try Text.write(Text.read(file) ?? "", to: file) }
    let result = workshop.run()
    #expect(result.exit == (isCopied ? 1 : 0))
    #expect((workshop.published("depth") == nil) == isCopied)
    guard isCopied else { return }
    #expect(result.message("depth").hasPrefix("\(file): cannot be read: input-changed"))
    workshop.probe().before("depth", nil)
    #expect(workshop.run().exit == 0)
    #expect(workshop.published("depth") != nil)
  }

  @Test("A file named by a parameter that changes while a stage reads it fails the stage")
  func externalMoves() throws {
    let workshop = try Workshop()
    let table = workshop.folder.path.appending("table.txt")
    try Text.write("T", to: table)
    try workshop.set("color.table=\(table)")
    workshop.probe().after("color") { _ in try Text.write("other", to: table) }
    #expect(workshop.run().message("color").contains("input-changed"))
    #expect(workshop.published("color") == nil)
  }

  @Test(
    "Only errors that may pass by themselves are tried again",
    arguments: [
      (FileError(.ioError, path: "/x", operation: "read"), 3),
      (FileError(.noSpace, path: "/x", operation: "write"), 1),
      (FileError(kind: .other, path: "/x", operation: "read", reason: "damaged"), 1),
    ])
  func retries(error: FileError, attempts: Int) throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { _ in throw error }
    let result = workshop.run(.only("color")) { $0.retries = 2 }
    // Out of space is 73, wherever it was.
    #expect(result.exit == (error.kind == .noSpace ? 73 : 1))
    #expect(workshop.probe().takeRan().count == attempts)
    #expect(result.events.count { $0.kind == .retried } == attempts - 1)
  }

  @Test("A demand for a removed intermediate does not use up a retry")
  func retryAfterDemand() throws {
    let workshop = try RerunTests.done()
    let failures = Mutex(1)
    workshop.probe().before("aligned") { _ in
      if failures.withLock({
        $0 -= 1; return $0 >= 0
      }) {
        throw FileError(.ioError, path: "/x", operation: "read")
      }
    }
    #expect(workshop.run(.forced("aligned")) { $0.retries = 1 }.exit == 0)
  }

  @Test("What is left of a failure goes once the stage is up to date or has nothing to do")
  func oldNote() throws {
    let workshop = try RerunTests.done()
    workshop.probe().before("color") { _ in throw Broken() }
    #expect(workshop.run(.forced("color")).exit == 1)
    let note = workshop.layout().failed("color")
    #expect(FileSystem.exists(note))
    workshop.probe().before("color", nil)
    // The artifact of before is still that of the input.
    #expect(workshop.run().stages().first == "color up-to-date")
    #expect(!FileSystem.exists(note))
  }

  @Test("A selection of which nothing applies says which stage and why")
  func nothingApplies() throws {
    let workshop = try Workshop()
    try workshop.remove("depth.bin")
    var source = PipelineSource(name: "usual", text: Workshop.usual)
    source.named = ["depth"]
    source.limits = .only("depth")
    let result = workshop.run(.only("depth")) { $0.pipelineSource = source }
    #expect(result["scan"].outcome == .notPossible && result.exit == 1)
    #expect(result["scan"].why.message?.hasPrefix("nothing to do: ") == true)
    #expect(result["scan"].why.message?.contains("depth is not possible (") == true)
  }

  @Test(
    "What a pipeline lists and nobody named is told, and decides only where nothing else is possible"
  )
  func listed() throws {
    let workshop = try Workshop()
    try workshop.remove("depth.bin")
    var source = PipelineSource(name: "usual", text: Workshop.usual)
    source.listed = ["depth"]
    let whole = workshop.run { $0.pipelineSource = source }
    #expect(whole["scan"].outcome == .made && whole.exit == 0)
    #expect(whole["scan"].stages.filter { $0.askedByName == true }.map(\.stage) == ["depth"])
    workshop.pipeline = try PipelineReader.read(
      "schema: 1\nstages:\n  depth: {uses: toy-frames}", file: "alone.yaml", registry: .toys)
    workshop.output = workshop.folder.path.appending("other")
    let alone = workshop.run {
      $0.pipelineSource = source
      $0.pipelineSource?.text = "schema: 1\nstages:\n  depth: {uses: toy-frames}"
    }
    #expect(alone["scan"].outcome == .notPossible && alone.exit == 1)
  }

  @Test(
    "An interrupt stops what runs and starts nothing; what is published stays, nothing else is left"
  )
  func cancelled() throws {
    let workshop = try Workshop()
    try workshop.add("second")
    let cancellation = Cancellation()
    workshop.probe().before("frames") { context in
      try context.staging.write([1], as: "half.bin")
      // The other stage is done by then.
      while !FileSystem.exists(OutputLayout.folder(above: context).appending("color/artifact.json"))
      { Probe.pause() }
      cancellation.cancel("interrupted")
      try context.cancellation.check()
    }
    let result = workshop.run(cancellation: cancellation)
    #expect(
      result.stages() == [
        "color made never-built", "frames interrupted never-built", "depth interrupted",
        "aligned interrupted", "tables interrupted",
      ])
    #expect(result["second"].outcome == .interrupted)
    #expect(result["scan"].outcome == .interrupted && result["scan"].why.cause == nil)
    #expect(workshop.folders() == ["capture.json", "color"])
    #expect(workshop.run().exit == 0)
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
  }

  @Test("--strict makes warnings a failure and keeps the results")
  func strict() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { $0.warnings.add(.emptyRecord, "color", "nothing in it") }
    let result = workshop.run { $0.strict = true }
    #expect(result.exit == 1)
    #expect(result["scan"].outcome == .failed)
    #expect(result["scan"].warnings.map(\.code) == [.emptyRecord])
    #expect(workshop.published("color") == "red")
    // Also when nothing runs: the artifact remembers.
    #expect(workshop.run { $0.strict = true }.exit == 1)
    #expect(workshop.run().exit == 0)
  }

  @Test("--strict lets notes be")
  func strictNotes() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") {
      $0.warnings.add(.unknownKey, "color", "never heard of it")
      $0.warnings.add(.frameGap, "color", count: 3, of: .size(300), "gaps")
    }
    let result = workshop.run { $0.strict = true }
    #expect(result.exit == 0)
    #expect(result["scan"].outcome == .made)
    #expect(result["scan"].warnings.map(\.severity) == [.note, .note])
    let again = workshop.run { $0.strict = true }
    #expect(again.exit == 0)
    #expect(again["scan"].warnings.map(\.severity) == [.note, .note])
  }

  @Test("--fail-fast leaves the captures behind a failure alone")
  func failFast() throws {
    let workshop = try Workshop()
    try workshop.add("a")
    workshop.probe("a").before("color") { _ in throw Broken() }
    #expect(workshop.run { $0.failFast = true }["scan"].outcome == .skipped)
    let all = workshop.run()
    #expect(all["a"].outcome == .failed && all["scan"].outcome == .made)
  }

  @Test("A capture that cannot be opened costs itself only")
  func unopenable() throws {
    let workshop = try Workshop()
    try workshop.add("a", id: "unopenable")
    let result = workshop.run()
    #expect(result.exit == 1)
    #expect(result["unopenable"].outcome == .failed)
    #expect(result["unopenable"].why.message?.contains("no toy") == true)
    #expect(result["scan"].outcome == .made)
    #expect(workshop.plan().contains { $0.contains("no toy") })
  }
}
