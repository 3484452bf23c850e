@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

/// Whose results lie where: a folder stays with the place that it was first made from.
@Suite struct OwnershipTests {
  private let shop: Workshop
  private var root: FilePath { shop.output }

  init() throws {
    shop = try Workshop()
    try shop.remove("toy.txt")
  }

  /// A capture at `in/PATH` with `id` and something in it that no other has.
  private func add(_ path: String, id: String, _ content: String? = nil) throws {
    let folder = shop.folder.path.appending("in").pushing(FilePath(path))
    try Text.write(id, to: folder.appending("toy.txt"))
    try Text.write(content ?? path, to: folder.appending("color.bin"))
    try Text.write("deep", to: folder.appending("depth.bin"))
  }

  private func found(_ paths: [String]? = nil) -> [CaptureFinder.Finding] {
    let inputs = shop.folder.path.appending("in")
    let finder = CaptureFinder(CaptureRegistry([ToyReader.self]))
    return paths?.map { finder.find(inputs.pushing(FilePath($0))) } ?? [finder.find(inputs)]
  }

  /// `PATH NAME` of every capture below, or of those at `paths`.
  private func names(_ paths: [String]? = nil, claiming: Bool = false) -> [String] {
    let batch = shop.batch(Selection(), { _ in }, clock: .system)
    let targets = batch.targets(found(paths))
    let inputs = PathSafety.resolved(shop.folder.path.appending("in")) ?? root
    return (claiming ? Ownership(root: root).claim(targets) : targets).map { target in
      var path = target.recognition.folder
      _ = path.removePrefix(inputs)
      return path.string + " " + (target.refusal == nil ? target.layout.name : "refused")
    }
  }

  private func run(_ paths: [String]? = nil) -> RunReport {
    let batch = shop.batch(Selection(), { _ in }, clock: .system)
    return batch.run(
      Ownership(root: root).claim(batch.targets(found(paths))), declined: [], run: "r",
      events: EventFan([]), cancellation: Cancellation())
  }

  @Test func `namesakes get numbers in path order and keep them`() throws {
    try add("coll/b/capture", id: "capture")
    try add("coll/d/capture", id: "capture")
    #expect(names(claiming: true) == ["coll/b/capture capture", "coll/d/capture capture~2"])
    try add("coll/a/capture", id: "capture")
    let all = [
      "coll/a/capture capture~3", "coll/b/capture capture", "coll/d/capture capture~2",
    ]
    #expect(names() == all)
    #expect(names(["coll/a"]) == ["coll/a/capture capture~3"])
    #expect(names(claiming: true) == all)
    // Also when asked for alone, and when the first is gone.
    #expect(names(["coll/d"]) == ["coll/d/capture capture~2"])
    try FileSystem.remove(root.appending("capture"))
    #expect(names(["coll/d"]) == ["coll/d/capture capture~2"])
  }

  @Test func `runs one after the other never replace each other's results`() throws {
    try add("one/scan", id: "scan", "red")
    try add("two/scan", id: "scan", "blue")
    #expect(run(["one"]).captures.map(\.id) == ["scan"])
    #expect(run(["two"]).captures.map(\.id) == ["scan~2"])
    #expect(shop.published("color", of: "scan")?.contains("red") == true)
    #expect(shop.published("color", of: "scan~2")?.contains("blue") == true)
    #expect(run(["two"]).captures.flatMap(\.stages).allSatisfy { $0.outcome != .made })
  }

  @Test func `resolving writes nothing`() throws {
    try add("one/scan", id: "scan")
    _ = names()
    #expect(!FileSystem.exists(root))
  }

  @Test func `different ids that become one name are two captures`() throws {
    try add("one", id: "a b")
    try add("two", id: "a/b")
    #expect(names(claiming: true) == ["one a-b", "two a-b~2"])
    #expect(names(["two"]) == ["two a-b~2"])
  }

  @Test func `a capture that moved keeps its folder, a copy does not take it`() throws {
    try add("one/scan", id: "scan", "red")
    _ = run()
    let inputs = shop.folder.path.appending("in")
    try add("copy/scan", id: "scan", "red")
    #expect(names(["copy"]) == ["copy/scan scan~2"])
    try FileSystem.remove(inputs.appending("one"))
    #expect(names(["copy"]) == ["copy/scan scan"])
    #expect(run(["copy"]).captures.map(\.id) == ["scan"])
    // The new place is noted: what comes to the old one later is another.
    try add("one/scan", id: "scan", "red")
    #expect(names() == ["copy/scan scan", "one/scan scan~2"])
  }

  @Test(arguments: ["new", "vacant", "remembered", "moved"])
  func `a link put in the place of a folder while it is claimed is not written through`(
    _ state: String
  ) throws {
    try add("one/scan", id: "scan", "red")
    let (outside, aside) = (
      shop.folder.path.appending("outside"), shop.folder.path.appending("aside")
    )
    try FileSystem.makeFolder(outside)
    switch state {
    case "vacant": try FileSystem.makeFolder(root.appending("scan"))
    case "remembered":
      _ = run()
      try FileSystem.remove(shop.layout().owner)
    case "moved":
      _ = run()
      let inputs = shop.folder.path.appending("in")
      try FileSystem.rename(inputs.appending("one"), to: inputs.appending("two"))
    default: try FileSystem.makeFolder(root)
    }
    let target = try #require(
      shop.batch(Selection(), { _ in }, clock: .system).targets(found()).first)
    let claims: [String: CaptureTarget.Claim] = [
      "new": .make, "vacant": .make, "remembered": .adopt, "moved": .move,
    ]
    #expect(target.claim == claims[state])
    let place = target.layout.folder
    let before = try outsideFiles(outside)
    StorageFaults.set(below: target.layout.root) { step, path in
      let isDue = state == "new" ? step == .rename && path == place : path.starts(with: place)
      guard isDue, !FileSystem.isLink(place) else { return nil }
      if state != "new" { #expect(rename(place.string, aside.string) == 0) }
      #expect(symlink(outside.string, place.string) == 0)
      return nil
    }
    defer { StorageFaults.set(below: target.layout.root, nil) }
    #expect(try target.takeFolder() == (state != "new"))
    #expect(FileSystem.isLink(place))
    #expect(try outsideFiles(outside) == before)
    if state != "new" {
      let owner = aside.appending(".scanmill").appending("owner.json")
      #expect(Text.read(owner)?.contains(target.recognition.folder.string) == true)
    }
  }

  private func outsideFiles(_ folder: FilePath) throws -> [String] {
    try FileSystem.names(in: folder).flatMap { name -> [String] in
      let path = folder.appending(name)
      let stamp = FileStamp(of: path).map { "\($0)" } ?? ""
      return ["\(path) \(stamp)"] + (FileSystem.isFolder(path) ? try outsideFiles(path) : [])
    }
  }

  @Test func `a place that is gone is not succeeded by other content of the same size`() throws {
    try add("one/scan", id: "scan", "red")
    _ = run()
    try FileSystem.remove(shop.folder.path.appending("in").appending("one"))
    try add("two/scan", id: "scan", "tan")
    #expect(names() == ["two/scan scan~2"])
  }

  @Test func `one place under two paths is one capture`() throws {
    try add("one/scan", id: "scan")
    let inputs = shop.folder.path.appending("in")
    #expect(symlink("one", inputs.appending("link").string) == 0)
    #expect(names(["one", "link", "one/scan", "link/scan/toy.txt"]) == ["one/scan scan"])
    _ = run(["one"])
    #expect(names(["link"]) == ["one/scan scan"])
  }

  @Test func `folders of versions that kept no owner belong to the path of their memo`() throws {
    try add("one/scan", id: "scan", "red")
    _ = run()
    try FileSystem.remove(shop.layout().owner)
    try add("a/scan", id: "scan", "tan")
    #expect(names(claiming: true) == ["a/scan scan~2", "one/scan scan"])
    #expect(FileSystem.exists(shop.layout().owner))
  }

  @Test func `folders without a memo belong to the path of their document`() throws {
    try add("one/scan", id: "scan", "red")
    _ = run()
    for file in ["owner.json", "memo.json", "index"] {
      try FileSystem.remove(shop.layout().notes.appending(file))
    }
    try add("a/scan", id: "scan", "tan")
    #expect(names() == ["a/scan scan~2", "one/scan scan"])
  }

  @Test func `a file and a link are no folder of ours either`() throws {
    try add("one/scan", id: "scan")
    try add("two/room", id: "room")
    try Text.write("mine", to: root.appending("scan"))
    let elsewhere = shop.folder.path.appending("elsewhere")
    try FileSystem.makeFolder(elsewhere)
    #expect(symlink(elsewhere.string, root.appending("room").string) == 0)
    #expect(run().exit == 73)
    #expect(Text.read(root.appending("scan")) == "mine")
    #expect(try FileSystem.names(in: elsewhere).isEmpty)
  }

  @Test func `an empty folder, and one with nothing but a lock, are taken`() throws {
    try add("one/scan", id: "scan")
    try add("two/room", id: "room")
    try FileSystem.makeFolder(root.appending("scan"))
    try Text.write("scanmill run of another process", to: root.appending("room/.scanmill/lock"))
    #expect(names(claiming: true) == ["one/scan scan", "two/room room"])
  }

  @Test func `whoever is about to write looks again`() throws {
    try add("one/scan", id: "scan", "red")
    try add("two/scan", id: "scan", "tan")
    let batch = shop.batch(Selection(), { _ in }, clock: .system)
    let late = batch.targets(found(["two"]))
    #expect(late.map(\.layout.name) == ["scan"])
    _ = run(["one"])
    let report = batch.run(
      late, declined: [], run: "late", events: EventFan([]), cancellation: Cancellation())
    #expect(report.exit == 73)
    #expect(shop.published("color", of: "scan")?.contains("red") == true)
  }

  @Test func `an output that cannot be listed gives nobody a folder, and is the machine's`() throws
  {
    try add("a", id: "x")
    try add("b", id: "x")
    #expect(names(claiming: true) == ["a x", "b x~2"])
    StorageFaults.setLooks(below: root) { [root] look, path in
      look == .list && path == root ? .ioError : nil
    }
    defer { StorageFaults.setLooks(below: root, nil) }
    #expect(names() == ["a refused", "b refused"])
    let report = run()
    #expect(report.exit == ExitStatus.cannotWrite)
    #expect(report.captures.map(\.why.cause) == [.machine, .machine])
    StorageFaults.setLooks(below: root, nil)
    #expect(names(claiming: true) == ["a x", "b x~2"])
  }

  @Test(
    "What was made of a folder that was renamed is the new name's; a plan moves nothing",
    arguments: [false, true])
  func renamed(moves: Bool) throws {
    try add("scan", id: "")
    #expect(run().exit == 0)
    try FileSystem.rename(shop.capture("scan"), to: shop.capture("other"))
    let batch = shop.batch(Selection(), { _ in }, clock: .system)
    var told: [String] = []
    let targets = try RenamedResults(root: root).give(to: batch.targets(found()), moves: moves) {
      told.append("\($0) \($1)")
    }
    #expect(told == ["scan other"])
    #expect(targets.map(\.layout.name) == [moves ? "other" : "scan"])
    #expect(batch.plan(targets).flatMap(\.jobs).allSatisfy { $0.action == .upToDate })
    #expect((shop.published("color", of: "other") != nil) == moves)
    #expect(OwnerRecord(in: targets[0].layout)?.formerNames == (moves ? ["scan"] : nil))
  }

  @Test func `runs that claim at one time never refuse each other`() async throws {
    let count = 4
    for index in 0..<count { try add("at\(index)/scan", id: "scan") }
    let batch = shop.batch(Selection(), { _ in }, clock: .system)
    let plans = (0..<count).map { batch.targets(found(["at\($0)"])) }
    for round in 0..<Rounds.of(100, soak: 400) {
      let root = root.appending("\(round)")
      let claimed = await withTaskGroup(of: [CaptureTarget].self) { group in
        for plan in plans {
          let targets = plan.map { target in
            var target = target
            target.layout = OutputLayout(root: root, name: target.layout.name)
            return target
          }
          group.addTask { Ownership(root: root).claim(targets) }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      try #require(claimed.compactMap(\.refusal) == [])
      #expect(try FileSystem.names(in: root.appending(".scanmill")) == [])
      #expect(
        Set(claimed.map(\.layout.name)) == ["scan", "scan~2", "scan~3", "scan~4"])
    }
  }
}
