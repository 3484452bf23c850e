@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("What is not ours stays as it is")
struct OursTests {
  /// All files below a folder with their bytes; links as what they say.
  static func contents(_ folder: FilePath) throws -> [String: String] {
    var all: [String: String] = [:]
    func walk(_ path: FilePath, _ prefix: String) throws {
      for name in try FileSystem.names(in: path) {
        let inner = path.appending(name)
        if FileSystem.isLink(inner) {
          all[prefix + name] =
            "-> \(try FileManager.default.destinationOfSymbolicLink(atPath: inner.string))"
        } else if FileSystem.isFolder(inner) {
          try walk(inner, prefix + name + "/")
        } else {
          all[prefix + name] = Text.read(inner)
        }
      }
    }
    try walk(folder, "")
    return all
  }

  /// Something of a user in a capture's output folder: where, and which path the message names.
  struct Thing: Sendable, CustomTestStringConvertible {
    var file: String
    var text = "mine"
    var link: String?
    var named: String

    var testDescription: String { file + (link.map { " -> \($0)" } ?? "") }

    func make(in folder: FilePath, of workshop: Workshop) throws {
      try Text.write("theirs", to: workshop.folder.path.appending("outside").appending("file"))
      let place = folder.appending(FilePath(file).components)
      guard let link else { return try Text.write(text, to: place) }
      try FileSystem.makeFolder(place.removingLastComponent())
      #expect(
        TestLink.make(place, to: workshop.folder.path.appending(FilePath(link).components)))
    }

    static let all = [
      Thing(file: "color/labels.txt", named: "color"),
      Thing(file: "color", named: "color"),
      Thing(
        file: "color/artifact.json", text: "{\"stage\": \"mine\"}", named: "color"),
      Thing(file: "color", link: "outside", named: "color"),
      Thing(file: "depth/000000.png", named: "depth"),
      Thing(file: "capture.json", text: "{\"id\": 7}", named: "capture.json"),
      Thing(file: "capture.json", text: "my notes", named: "capture.json"),
      Thing(file: "capture.json", link: "outside/file", named: "capture.json"),
      Thing(file: ".failed", link: "outside", named: ".failed"),
      Thing(file: ".failed/color/mine", named: ".failed/color"),
      Thing(file: ".failed/notes.txt", named: ".failed/notes.txt"),
      Thing(file: ".staging", link: "outside", named: ".staging"),
      Thing(file: ".staging/mine/file", named: ".staging/mine"),
      Thing(file: ".staging", named: ".staging"),
      Thing(file: ".scanmill", link: "outside", named: ".scanmill"),
      Thing(file: ".scanmill/notes.txt", named: ".scanmill"),
      Thing(file: ".scanmill/lock", named: ".scanmill"),
      Thing(file: ".scanmill", named: ".scanmill"),
    ]
  }

  @Test(
    "What a user keeps in a folder named like a capture is refused with 73, and nothing is written there",
    arguments: Thing.all)
  func foreignFolder(thing: Thing) throws {
    let workshop = try Workshop()
    let folder = workshop.layout().folder
    try thing.make(in: folder, of: workshop)
    let before = try Self.contents(folder)
    for _ in 0..<2 {
      let result = workshop.run()
      #expect(result.exit == ExitStatus.cannotWrite)
      #expect(result["scan"].why.message?.contains("\(folder)") == true)
      #expect(try Self.contents(folder) == before)
    }
    #expect(
      try Self.contents(workshop.folder.path.appending("outside")) == ["file": "theirs"])
    try FileSystem.remove(folder)
    #expect(workshop.run().exit == 0)
  }

  @Test(
    "What a user puts among results is refused with 73 and named; other stages go on",
    arguments: Thing.all.filter { !$0.file.hasPrefix(".scanmill") })
  func things(thing: Thing) throws {
    let workshop = try RerunTests.done()
    let folder = workshop.layout().folder
    try FileSystem.remove(folder.appending(FilePath(thing.file).components.prefix(1)))
    try thing.make(in: folder, of: workshop)
    let outside = workshop.folder.path.appending("outside")
    let top = FilePath(thing.file).components.first.map { "\($0)" } ?? ""
    let before = try Self.contents(folder).filter { $0.key == top || $0.key.hasPrefix(top + "/") }
    for _ in 0..<2 {
      let result = workshop.run(.all)
      #expect(result.exit == ExitStatus.cannotWrite)
      let messages = ([result["scan"].why.message] + result["scan"].stages.map(\.why.message))
        .compactMap { $0 }
      let named = folder.appending(FilePath(thing.named).components).string
      #expect(messages.contains { $0.hasPrefix("\(named)") }, "\(messages)")
      #expect(try Self.contents(folder).filter { before[$0.key] != nil } == before)
      #expect(workshop.published("aligned") != nil)
    }
    #expect(try Self.contents(outside) == ["file": "theirs"])
    // Out of the way, all is made.
    try FileSystem.remove(folder.appending(FilePath(thing.file).components.prefix(1)))
    #expect(workshop.run().exit == 0)
  }

  @Test(
    "A stage's program that replaces or moves its folder publishes and leaves nothing outside",
    arguments: ["link", "link after writing", "moved", "staging root is a link", "inner link"])
  func replaced(kind: String) throws {
    let workshop = try RerunTests.done()
    let outside = workshop.folder.path.appending("outside")
    try Text.write("theirs", to: outside.appending("file"))
    let before = try Self.contents(outside)
    workshop.probe().after("color") { [place = workshop.folder.path] context in
      let staging = context.staging.path
      switch kind {
      case "link":
        try FileSystem.remove(staging)
        #expect(TestLink.make(staging, to: outside))
      case "link after writing":
        try FileSystem.rename(staging, to: staging.removingLastComponent().appending("x"))
        #expect(TestLink.make(staging, to: outside))
      case "moved":
        try FileSystem.rename(staging, to: place.appending("moved"))
      case "staging root is a link":
        let root = staging.removingLastComponent()
        try FileSystem.rename(root, to: place.appending("moved"))
        #expect(TestLink.make(root, to: outside))
      default:
        try FileSystem.remove(staging.appending("more"))
        #expect(TestLink.make(staging.appending("more"), to: outside))
      }
    }
    let result = workshop.run(.forced("color").only("color"))
    #expect(result.stages() == ["color failed forced"])
    #expect(try Self.contents(outside) == before)
    #expect(workshop.published("color") == "red")
    for name in ["artifact.json", "failure.json"] {
      #expect(
        !FileSystem.exists(workshop.folder.path.appending("moved").appending(name)), "\(name)")
    }
    workshop.probe().after("color", nil)
    for name in [".staging", ".failed"] {
      if FileSystem.isLink(workshop.layout().folder.appending(name)) {
        try FileSystem.remove(workshop.layout().folder.appending(name))
      }
      try FileSystem.remove(workshop.layout().folder.appending(".staging"))
    }
    #expect(workshop.run(.forced("color")).exit == 0)
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    var step: StorageFaults.Step
    var error: Errno
    /// Whether all later steps of the kind fail as well.
    var isLasting: Bool
    var testDescription: String { "\(step.rawValue) \(error)" }

    static let all: [Fault] = StorageFaults.Step.allCases.flatMap { step in
      [
        Fault(step: step, error: .ioError, isLasting: false),
        Fault(step: step, error: .noSpace, isLasting: true),
      ]
    }
  }

  @Test(
    "A device error at any step leaves old or new artifacts, is 73, and the next run heals",
    arguments: Fault.all)
  func faults(fault: Fault) throws {
    // The n-th step of this kind, until there are no more; of neighbors in the order every third.
    for number in Rounds.every(3, of: Array(0..<60)) {
      let workshop = try RerunTests.done()
      try workshop.write("tan", to: "color.bin")
      let count = Mutex(0)
      StorageFaults.set(below: workshop.output) { step, path in
        guard step == fault.step, !path.string.contains("/runs/") else { return nil }
        let index = count.withLock {
          $0 += 1
          return $0 - 1
        }
        return index == number || (fault.isLasting && index > number) ? fault.error : nil
      }
      let result = workshop.run()
      StorageFaults.set(below: workshop.output, nil)
      let wasMet = count.withLock { $0 > number }
      if result.exit != 0 { #expect(result.exit == ExitStatus.cannotWrite) }
      // Whatever is there is whole.
      for stage in ["color", "depth", "aligned", "tables"] {
        let published = ArtifactStore(workshop.layout()).published(stage, verify: true)
        #expect(published?.state == .intact, "\(stage) after fault \(number)")
      }
      #expect(["red", "tan"].contains(workshop.published("color")))
      let next = workshop.run()
      #expect(next.exit == 0)
      #expect(workshop.published("color") == "tan")
      #expect(
        workshop.published("tables") == "[aligned [frames deep]][color tan][depth [frames deep]]")
      #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
      if !wasMet { break }
    }
  }
}
