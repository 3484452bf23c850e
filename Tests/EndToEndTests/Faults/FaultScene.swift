import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A verb at work on a disk that fails, and what is expected of it whatever fails.
final class FaultScene {
  enum Verb: String, CaseIterable, Sendable {
    case run, watch, clean, send, receive
    /// A receiver that starts on what it has received before.
    case restart
  }

  /// The side of the verb that fails.
  enum Side: String, Sendable {
    case input = "/in"
    case output = "/out"
  }

  /// How many cells there were, and what became of them.
  struct Tally: CustomStringConvertible {
    var cells = 0
    /// The call did not occur.
    var unmet = 0
    /// It failed, and everything was done all the same.
    var survived = 0
    /// It failed, and so did the verb.
    var refused = 0
    var violations: [String] = []

    var description: String {
      "\(cells) cells: \(survived) done all the same, \(refused) told, \(unmet) not met, \(violations.count) wrong"
    }
  }

  let verb: Verb
  let side: Side
  let disk: FaultyDisk
  private let family: String
  /// What the failing calls do not reach: the other side.
  private let sound: TemporaryFolder
  private var input: FilePath { root(.input).appending("in") }
  private var output: FilePath { root(.output).appending("out") }
  private var realInput: FilePath { real(.input).appending("in") }
  private var realOutput: FilePath { real(.output).appending("out") }
  /// The output as it was before the verb; `nil`: there was none.
  private var before: FilePath?
  private var inputFiles: [String: Data] = [:]
  private var expected: [String: Data] = [:]
  private(set) var cells: [FaultCell] = []

  init(_ verb: Verb, _ side: Side, family: String = "scannet") throws {
    self.verb = verb
    self.side = side
    self.family = family
    disk = try FaultyDisk()
    sound = try TemporaryFolder()
    let size =
      family == "scannet" ? ["--width", "324", "--height", "242"] + Scene.smallDepth : []
    try Program.synthesize("\(family) --frames 4 --id a \(size)", to: realInput)
    try? FileSystem.remove(realInput.appending("a.truth"))
    inputFiles = try Self.files(realInput)
    if verb == .clean || verb == .restart {
      let first = try command(verb == .clean ? .run : .receive)
      guard first.isDone else { throw FaultyDisk.Trouble(said: first.text) }
      expected = try results()
      if verb == .restart { try suspend() }
      let kept = sound.path.appending("before")
      try realOutput.copy(to: kept)
      before = kept
    }
    try reset()
    let healthy = try command(verb) { try disk.heal() }
    cells = FaultCell.all(of: try disk.calls(), below: side.rawValue)
    try disk.heal()
    guard healthy.isDone else { throw FaultyDisk.Trouble(said: healthy.text) }
    if before == nil { expected = try results() }
  }

  /// An upload that was begun, and that its sender may resume.
  private static let suspended: [String: Data] = [
    ".incoming/5e.part": Data("half".utf8),
    ".incoming/5e.json": Data(
      """
      {"schema":1,"capture":"b","name":"b.depth","expected":8,"received":4,
      "started":"2026-01-01T00:00:00Z","sender":"192.0.2.1","userAgent":"",
      "resumable":{"expires":"2199-01-01T00:00:00Z","metadata":""}}
      """.utf8),
  ]

  private func suspend() throws {
    for (name, data) in Self.suspended {
      try data.write(to: URL(filePath: realOutput.pushing(FilePath(name)).string))
    }
  }

  private func root(_ which: Side) -> FilePath { which == side ? disk.place : sound.path }
  private func real(_ which: Side) -> FilePath { which == side ? disk.real : sound.path }

  private func reset() throws {
    if FileSystem.exists(realOutput) { try FileSystem.remove(realOutput) }
    if let before {
      try before.copy(to: realOutput)
    }
  }

  // MARK: - What is done

  private typealias Outcome = Program.Outcome

  /// Carries out a verb; `then` is called as soon as it is at work where that takes a while.
  private func command(_ verb: Verb, arm: () throws -> Void = {}) throws -> Outcome {
    switch verb {
    case .run:
      try arm()
      return try Program.bounded("run", input.string, "--output", output.string)
    case .watch:
      try arm()
      return try Program.bounded(
        "watch", input.string, "--output", output.string, "--once", "--settle", "100ms", "--poll",
        "50ms", "--retry-after", "100ms")
    case .clean:
      try arm()
      return try Program.bounded("clean", output.string, "--stage", "color", "--yes")
    case .send, .receive:
      return try Program.receiving(into: output) { address in
        try arm()
        return try send(to: address)
      }
    case .restart:
      try arm()
      return try Program.receiving(into: output) { try send(to: $0) }
    }
  }

  private func send(to address: String) throws -> Outcome {
    try Program.bounded("send", input.appending("a").string, "--to", address, "--retries", "0")
  }

  // MARK: - What is there

  static func files(_ folder: FilePath) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in (try? folder.filesBelow()) ?? [] {
      files[name] = try folder.pushing(FilePath(name)).data()
    }
    return files
  }

  /// What is published, or received.
  private func results() throws -> [String: Data] {
    try Self.files(realOutput).filter { name, _ in
      !name.split(separator: "/").contains { $0.hasPrefix(".") } && !name.hasPrefix("runs/")
        && !name.hasSuffix("artifact.json") && !name.hasSuffix(".html") && name.contains("/")
    }
  }

  private var leftovers: [String] {
    return ((try? realOutput.namesBelow()) ?? []).filter { name in
      guard !name.hasSuffix(".staging") else {
        // Without anything in it, it is in nobody's way.
        let place = realOutput.pushing(FilePath(name)).string
        return (try? FileManager.default.contentsOfDirectory(atPath: place).isEmpty) != true
      }
      return Self.suspended[name] == nil
        && [".failed", ".new", ".part", ".tmp"].contains { name.hasSuffix($0) }
    }
  }

  /// What is wrong with what is published, or received, at this moment.
  private func faults(isDone: Bool, isWell: Bool = false) throws -> [String] {
    var wrong: [String] = []
    let now = try results()
    switch verb {
    case .run, .watch, .clean:
      // Stages that can do without what failed are published without it, until it is well; an intermediate that cannot
      // be removed stays until then.
      for (name, data) in now
      where isDone && expected[name] != data && (isWell || expected[name] != nil) {
        wrong.append("\(name) is other")
      }
      for folder in Set(now.keys.map { $0.split(separator: "/").dropLast().joined(separator: "/") })
      where folder != "a" && !FileSystem.exists(realOutput.appending("\(folder)/artifact.json")) {
        wrong.append("\(folder) is published half")
      }
      for (name, _) in expected where now[name] == nil {
        let isCleaned = verb == .clean && name.hasPrefix("a/color/")
        if isDone ? !isCleaned : verb == .clean && !isCleaned { wrong.append("\(name) is gone") }
      }
      if isDone, verb == .clean, now.keys.contains(where: { $0.hasPrefix("a/color/") }) {
        wrong.append("color is still there")
      }
    case .send, .receive, .restart:
      // Whoever was told of success deletes its own.
      for (name, data) in inputFiles where isDone && now[name] != data {
        wrong.append("\(name) is \(now[name] == nil ? "not there" : "other")")
      }
      for name in now.keys where isWell && inputFiles[name] == nil {
        wrong.append("\(name) was never sent")
      }
      if verb == .restart {
        for (name, data) in expected where now[name] != data { wrong.append("\(name) is lost") }
        let all = try Self.files(realOutput)
        for (name, data) in Self.suspended where all[name] != data {
          wrong.append("\(name) is lost")
        }
      }
      if isDone {
        let manifest = realOutput.appending("a/.upload.json")
        let text = (try? manifest.text()) ?? ""
        if text.firstMatch(of: #/"complete"\s*:\s*"/#) == nil { wrong.append("it is not complete") }
      }
    }
    return wrong
  }

  // MARK: - One cell

  func check(_ cell: FaultCell, _ tally: inout Tally) throws {
    tally.cells += 1
    try reset()
    try disk.heal()
    let first = try command(verb) {
      try disk.fail(
        cell.call, cell.error, times: cell.manner == .always ? 0 : 1,
        isDone: cell.manner == .answer, at: cell.place)
    }
    let given = try disk.heal()
    guard given.count > 0 else {
      tally.unmet += 1
      return
    }
    var wrong = try faults(isDone: first.isDone)
    if first.isDone {
      tally.survived += 1
    } else {
      tally.refused += 1
      if cell.isHarmless { wrong.append("it is no failure") }
      if !exits(cell).contains(first.status) { wrong.append("exit \(first.status)") }
      if !first.trouble.isEmpty { wrong.append(first.trouble) }
      if !cell.isTold(in: first.text) { wrong.append("the cause is not told") }
      for cause in ["cause=input", "\ninput: ", "cause=program", "\nprogram: ", "quarantined"]
      where first.text.contains(cause) {
        wrong.append("'\(cause.filter { $0 != "\n" })' is said")
      }
    }
    if try Self.files(realInput) != inputFiles { wrong.append("the input was changed") }
    wrong += try healing()
    guard !wrong.isEmpty else { return }
    let violation =
      "\(verb) \(cell) (\(given.count) at \(given.first)), exit \(first.status): "
      + wrong.joined(separator: "; ")
    // All of them may take an hour.
    print("disk that fails: \(violation)")
    tally.violations.append("\(violation)\n\(first.text.prefix(1200))")
  }

  /// Runs the verb again, on a disk that is well. What could not be removed is left for `clean`, which is there for it.
  private func healing() throws -> [String] {
    var again = try command(verb)
    if [.run, .watch].contains(verb), again.isDone, try !leftovers.isEmpty || results() != expected
    {
      _ = try Program.bounded("clean", output.string, "--yes")
    }
    if verb == .clean {
      if again.isDone {
        let wrong = try faults(isDone: true, isWell: true)
        guard wrong.isEmpty else { return wrong.map { "afterwards \($0)" } }
        again = try command(.run)
      }
    }
    guard again.isDone else {
      return ["does not heal: exit \(again.status): \(again.trouble) \(again.text.prefix(600))"]
    }
    var wrong: [String] = []
    if verb == .clean {
      if try results() != expected { wrong.append("what is made again is other") }
    } else {
      wrong = try faults(isDone: true, isWell: true)
    }
    wrong += leftovers.map { "\($0) is left" }
    return wrong.map { "afterwards \($0)" }
  }

  /// The table of exits: 73 for what cannot be written, 1 for a capture that failed, 65 for the only one that was
  /// given.
  private func exits(_ cell: FaultCell) -> Set<Int32> {
    switch (verb, side) {
    case (.send, _): [1, 65]
    case (.receive, _): [1]
    case (.restart, _): [1, 73]
    case (_, .input): [1, 65]
    case (_, .output):
      FaultCell.changes.contains(cell.call) && cell.error != .tooManyOpenFiles ? [73] : [1, 73]
    }
  }
}
