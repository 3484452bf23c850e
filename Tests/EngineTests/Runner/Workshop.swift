import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import TestSupport

@testable import Captures
@testable import Core
@testable import Engine

/// Captures, an output folder and runs over them.
final class Workshop {
  static let usual = usual(color: "keep: true")

  /// Keeps what is an intermediate otherwise: it lies in the output as one that a killed run left.
  static let keepingFrames = usual.replacing("keep: false", with: "keep: true")

  /// With something more said of `color`.
  static func usual(color: String) -> String {
    """
    schema: 1
    stages:
      color: {uses: toy-color, \(color)}
      frames: {uses: toy-frames, partOf: depth, keep: false}
      depth: {uses: toy-depth, needs: [frames]}
      aligned: {uses: toy-aligned, needs: [frames]}
      tables: {uses: toy-tables, optional: [color, depth, aligned]}
    """
  }

  let folder: TemporaryFolder
  var pipeline: PipelineDefinition
  var output: FilePath
  private var runs = 0
  /// In place of ids of runs whose process has ended.
  var runID: String?

  /// With one capture, `scan`.
  init(_ pipeline: String = usual) throws {
    folder = try TemporaryFolder()
    output = folder.path.appending("out")
    self.pipeline = try PipelineReader.read(pipeline, file: "toy.yaml", registry: .toys)
    try add("scan")
  }

  deinit {
    for name in (try? FileSystem.names(in: folder.path.appending("in"))) ?? [] {
      Probe.forget(capture(name))
    }
  }

  func capture(_ name: String) -> FilePath { folder.path.appending("in").appending(name) }
  func probe(_ name: String = "scan") -> Probe { Probe.of(capture(name)) }
  func layout(_ name: String = "scan") -> OutputLayout { OutputLayout(root: output, name: name) }

  func add(
    _ name: String, id: String = "", color: String? = "red", depth: String? = "deep"
  ) throws {
    try Text.write(id, to: capture(name).appending("toy.txt"))
    if let color { try Text.write(color, to: capture(name).appending("color.bin")) }
    if let depth { try Text.write(depth, to: capture(name).appending("depth.bin")) }
  }

  func write(_ text: String, to file: String, of name: String = "scan") throws {
    try Text.write(text, to: capture(name).appending(file))
  }

  func remove(_ file: String, of name: String = "scan") throws {
    try FileSystem.remove(capture(name).appending(file))
  }

  func set(_ setting: String) throws {
    if let setting = ParameterSetting(setting) { pipeline = try pipeline.setting(setting) }
  }

  /// The text that `stage` published; `nil` when it is not there.
  func published(_ stage: String, of name: String = "scan") -> String? {
    Text.read(layout(name).artifact(stage).appending("out.txt"))
  }

  func record(_ stage: String, of name: String = "scan") -> ArtifactRecord? {
    (try? Data(contentsOf: URL(filePath: layout(name).record(stage).string))).flatMap {
      try? JSONDecoder().decode(ArtifactRecord.self, from: $0)
    }
  }

  /// What is in the output folder of a capture, without our own notes.
  func folders(of name: String = "scan") -> [String] {
    ((try? FileSystem.names(in: layout(name).folder)) ?? []).filter { $0 != ".scanmill" }
  }

  func batch(_ selection: Selection, _ change: (inout RunOptions) -> Void, clock: RunClock)
    -> BatchRun
  {
    var options = RunOptions(output: output, cores: 2)
    options.selection = selection
    change(&options)
    return BatchRun(
      registry: CaptureRegistry([ToyReader.self]), pipeline: pipeline, options: options,
      clock: clock)
  }

  /// Runs over all captures, or those named.
  func run(
    _ selection: Selection = Selection(), captures: [String]? = nil, clock: RunClock = .system,
    events: (any EventSink)? = nil, cancellation: Cancellation = Cancellation(),
    _ change: (inout RunOptions) -> Void = { _ in }
  ) -> RunResult {
    runs += 1
    let batch = batch(selection, change, clock: clock)
    let log = EventLog()
    let sinks: [any EventSink] = [log] + (events.map { [$0] } ?? [])
    let report = batch.run(
      batch.targets(findings(captures)), declined: [], run: runID ?? TestRun.id(runs),
      events: EventFan(sinks),
      cancellation: cancellation)
    return RunResult(report: report, events: log.all)
  }

  /// What would run, as `STAGE ACTION REASON`; what is up to date is left out.
  func plan(_ selection: Selection = Selection(), _ change: (inout RunOptions) -> Void = { _ in })
    -> [String]
  {
    let batch = batch(selection, change, clock: .system)
    return batch.plan(batch.targets(findings(nil))).flatMap { plan in
      plan.jobs.filter { $0.action != .upToDate }.map {
        "\($0.stage) \($0.action.rawValue)" + ($0.reason.map { " \($0.rawValue)" } ?? "")
      } + (plan.error.map { [$0] } ?? [])
    }
  }

  func findings(_ captures: [String]?) -> [CaptureFinder.Finding] {
    let finder = CaptureFinder(CaptureRegistry([ToyReader.self]))
    guard let captures else { return [finder.find(folder.path.appending("in"))] }
    return captures.map { finder.find(capture($0)) }
  }
}

/// What a run said.
struct RunResult {
  var report: RunReport
  var events: [RunEvent]

  var exit: Int { report.exit }

  /// The report of a capture; an empty one when there is none.
  subscript(id: String) -> CaptureReport {
    report.captures.first { $0.id == id }
      ?? CaptureReport(id: "no \(id)", path: "", family: nil, outcome: .failed)
  }

  /// `STAGE OUTCOME REASON`, in pipeline order.
  func stages(_ id: String = "scan") -> [String] {
    self[id].stages.map {
      "\($0.stage) \($0.outcome.rawValue)" + ($0.reason.map { " \($0.rawValue)" } ?? "")
    }
  }

  /// The stages that are not up to date.
  func busy(_ id: String = "scan") -> [String] {
    stages(id).filter { !$0.hasSuffix(" up-to-date") }
  }

  func message(_ stage: String, of id: String = "scan") -> String {
    self[id].stages.first { $0.stage == stage }?.why.message ?? ""
  }
}

/// Keeps all events.
final class EventLog: EventSink {
  private let events = Mutex<[RunEvent]>([])

  func send(_ event: RunEvent) { events.withLock { $0.append(event) } }

  var all: [RunEvent] { events.withLock { $0 } }
}

/// Ids of runs whose process has ended.
enum TestRun {
  static func id(_ number: Int) -> String {
    let digits = String(number)
    return "20260101T000000-2000000000-\(ProcessHome.current)-"
      + String(repeating: "0", count: 6 - digits.count) + digits
  }
}

/// Looks into running toy stages of one capture, and disturbs them.
final class Probe: Sendable {
  typealias Hook = @Sendable (StageContext) throws -> Void

  private static let all = Mutex<[String: Probe]>([:])
  private let ran = Mutex<[String]>([])
  private let opened = Mutex(0)
  private let problems = Mutex<[String: [String]]>([:])
  private let copied = Mutex<[String: Set<CapturePart>]>([:])
  private let hooks = Mutex<(enter: [String: Hook], leave: [String: Hook])>(([:], [:]))

  /// The one of the capture in `folder`.
  static func of(_ folder: FilePath) -> Probe {
    all.withLock { all in
      let probe = all[folder.string] ?? Probe()
      all[folder.string] = probe
      return probe
    }
  }

  static func forget(_ folder: FilePath) {
    all.withLock { $0[folder.string] = nil }
  }

  /// Lets others go on.
  static func pause() { usleep(2_000) }

  /// What `stage` does before its work, or after.
  func before(_ stage: String, _ hook: Hook?) { hooks.withLock { $0.enter[stage] = hook } }
  func after(_ stage: String, _ hook: Hook?) { hooks.withLock { $0.leave[stage] = hook } }

  /// Stages that did work since the last call, sorted.
  func takeRan() -> [String] {
    ran.withLock { ran in
      defer { ran = [] }
      return ran.sorted()
    }
  }

  /// How often the capture was opened since the last call.
  func takeOpened() -> Int {
    opened.withLock { opened in
      defer { opened = 0 }
      return opened
    }
  }

  /// What `stage` says could not be made.
  func setProblems(_ problems: [String], of stage: String) {
    self.problems.withLock { $0[stage] = problems }
  }

  func problems(of stage: String) -> [String] { problems.withLock { $0[stage] ?? [] } }

  /// The parts of the capture that `stage` says it copied.
  func setCopied(_ parts: Set<CapturePart>, by stage: String) {
    copied.withLock { $0[stage] = parts }
  }

  func copied(by stage: String) -> Set<CapturePart> { copied.withLock { $0[stage] ?? [] } }

  func open() { opened.withLock { $0 += 1 } }

  func enter(_ context: StageContext) throws {
    ran.withLock { $0.append(context.stage) }
    try hooks.withLock { $0.enter[context.stage] }?(context)
  }

  func leave(_ context: StageContext) throws {
    try hooks.withLock { $0.leave[context.stage] }?(context)
  }
}

enum TestLink {
  /// A symbolic link at `path`.
  static func make(_ path: FilePath, to target: FilePath) -> Bool {
    symlink(target.string, path.string) == 0
  }
}

/// Small texts on disk.
enum Text {
  static func write(_ text: String, to path: FilePath) throws {
    try FileSystem.makeFolder(path.removingLastComponent())
    try Data(text.utf8).write(to: URL(filePath: path.string))
  }

  /// Into the same file, without making a new one.
  static func overwrite(_ text: String, at path: FilePath) throws {
    try OutputFile.write(Array(text.utf8), to: path)
  }

  /// `nil` when there is no such file.
  static func read(_ path: FilePath) -> String? {
    (try? path.data()).map { String(decoding: $0, as: UTF8.self) }
  }
}
