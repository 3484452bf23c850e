import SystemPackage
import TestSupport
import Testing

@testable import Cluster
@testable import Core
@testable import Engine

@Suite("Results of elements, read while they are written")
struct ResultReaderTests {
  private let folder: TemporaryFolder
  private let files: RunFiles

  init() throws {
    folder = try TemporaryFolder()
    files = RunFiles(run: folder.path.appending("run"))
    _ = try HeldFolder.making(following: files.results)
  }

  private static let lines: [ArrayTaskLine] = [
    .begin(ArrayTaskBegin(element: 3, job: "7_3", host: "node1", cores: 2, memoryBytes: 1 << 30)),
    .event(RunEvent(kind: .captureStarted, time: "2026-11-22T10:00:00.000Z", capture: "a")),
    .capture(
      CaptureLine(
        name: "a",
        outcome: CaptureOutcome(
          CaptureReport(id: "a", path: "/in/a", family: "scannet", outcome: .made)),
        peakMemoryBytes: 5, seconds: 1.5, artifacts: [])),
    .end(ArrayTaskEnd(way: .outOfTime, left: ["b"], message: "late")),
  ]

  private func bytes() throws -> [UInt8] {
    try Self.lines.flatMap { try JSONText.canonical($0) + [UInt8(ascii: "\n")] }
  }

  private static func word(_ line: ArrayTaskLine) -> String {
    switch line {
    case .begin(let begin): "begin \(begin.job)"
    case .event(let event): "event \(event.kind.rawValue)"
    case .capture(let line): "capture \(line.name) \(line.outcome.report.outcome.rawValue)"
    case .end(let end): "end \(end.way.rawValue)"
    }
  }

  @Test("Cut at every byte, whole lines are read, the rest when it has come, nothing twice")
  func everyCut() throws {
    let all = try bytes()
    let results = try HeldFolder.following(files.results)
    for cut in 0...all.count {
      let name = RunFiles.resultsName(3, job: "7_\(cut)")
      try results.replace(name, with: Array(all[..<cut]), durably: false)
      let reader = ResultReader(files)
      let first = reader.read { _ in true }.map(\.line)
      #expect(first.count == all[..<cut].count { $0 == UInt8(ascii: "\n") })
      // Appended in place, as an element does.
      let file = try results.append(to: name)
      try file.writeAll(all[cut...])
      try file.close()
      let rest = reader.read { _ in true }.map(\.line)
      #expect(
        (first + rest).map(Self.word) == [
          "begin 7_3", "event capture-started", "capture a made", "end out-of-time",
        ])
      #expect(reader.read { _ in true }.isEmpty)
      try results.remove(name)
    }
  }

  @Test(
    "Only files of wanted elements are opened; other names, and lines that are none, say nothing")
  func others() throws {
    let results = try HeldFolder.following(files.results)
    let all = try bytes()
    try results.replace(RunFiles.resultsName(3, job: "7_3"), with: all)
    try results.replace(
      RunFiles.resultsName(4, job: "7_4"), with: Array("{\"x\":1}\nno\n".utf8) + all)
    try results.replace("notes.txt", with: all)
    let reader = ResultReader(files)
    #expect(reader.read { $0 == 5 }.isEmpty)
    let found = reader.read { $0 == 4 }
    #expect(found.count == Self.lines.count)
    #expect(found.allSatisfy { $0.element == 4 })
  }

  @Test("A line is a map with one key")
  func form() throws {
    let text = String(decoding: try bytes(), as: UTF8.self)
    let keys = text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
    #expect(keys == ["{\"begin\"", "{\"event\"", "{\"capture\"", "{\"end\""])
  }

  @Test("Without the folder there is nothing yet")
  func absent() throws {
    #expect(ResultReader(RunFiles(run: folder.path.appending("none"))).read { _ in true }.isEmpty)
  }
}

@Suite("What Slurm tells an element")
struct SlurmPlaceTests {
  @Test("Its number, its name, and what it may use")
  func whole() {
    let place = TaskEnvironment(slurm: [
      "SLURM_ARRAY_JOB_ID": "123", "SLURM_ARRAY_TASK_ID": "45", "SLURM_JOB_ID": "168",
      "SLURM_CPUS_PER_TASK": "4", "SLURM_MEM_PER_NODE": "4000", "SLURMD_NODENAME": "node17",
    ])
    #expect(place.index == 45)
    #expect(place.job == "123_45")
    #expect(place.cores == 4)
    #expect(place.memoryBytes == 4000 << 20)
    #expect(place.node == "node17")
  }

  @Test("Outside of a job it is the element with index 0, with what the machine has")
  func outside() {
    let place = TaskEnvironment(slurm: [:])
    #expect(place == TaskEnvironment(index: 0, job: "0", cores: nil, memoryBytes: nil))
  }

  static let odd: [(String, [String: String])] = [
    ("a way out of the folder", ["SLURM_ARRAY_JOB_ID": "../../x"]),
    ("no number of cores", ["SLURM_CPUS_PER_TASK": "0"]),
    ("more memory than there is anywhere", ["SLURM_MEM_PER_NODE": "\(Int.max)"]),
    ("all memory of a node", ["SLURM_MEM_PER_NODE": "0"]),
    ("no name", ["SLURMD_NODENAME": ""]),
  ]

  @Test("What cannot be is not believed", arguments: odd.indices)
  func nonsense(_ index: Int) {
    let (name, environment) = Self.odd[index]
    let place = TaskEnvironment(slurm: environment)
    #expect(
      place == TaskEnvironment(index: 0, job: "0", cores: nil, memoryBytes: nil), "\(name)")
  }
}

@Suite struct TaskTableTests {
  @Test("An element is found by itself, else among those that stand alike, else not at all")
  func lookup() {
    var table = TaskTable(isQueue: true)
    table.tasks[TaskID(job: "7", index: 2)] = TaskView(state: .running, node: "node1")
    table.folded = [
      FoldedTasks(job: "7", indices: RangeSet([0..<4, 9..<10]), view: TaskView(state: .pending))
    ]
    #expect(table[TaskID(job: "7", index: 2)]?.state == .running)
    #expect(table[TaskID(job: "7", index: 9)]?.state == .pending)
    #expect(table[TaskID(job: "7", index: 4)] == nil)
    #expect(table[TaskID(job: "8", index: 0)] == nil)
  }

  @Test("A row of a whole array is about each of its elements that has none of its own")
  func wholeArray() {
    var table = TaskTable(isQueue: true)
    table.tasks[TaskID(job: "23", index: nil)] = TaskView(state: .cancelled)
    table.tasks[TaskID(job: "23", index: 0)] = TaskView(state: .running)
    #expect(table[TaskID(job: "23", index: 0)]?.state == .running)
    #expect(table[TaskID(job: "23", index: 5)]?.state == .cancelled)
    #expect(table[TaskID(job: "23", index: nil)]?.state == .cancelled)
    #expect(table[TaskID(job: "24", index: 5)] == nil)
  }
}
