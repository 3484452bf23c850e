import Captures
import FoundationEssentials
import Night
import Pipeline
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Reads journals of runs: `run.json`, and what only `events.jsonl` tells: when each capture was worked on,
/// and everything about a run that was killed.
enum RunReader {
  /// Ids of the runs of an output, oldest first: ids begin with their time. Links are not followed.
  static func ids(in root: FilePath) -> [String] {
    (HeldFolder(root)?.below(OutputNames.runs)?.entries() ?? [])
      .filter { $0.kind == .folder && !$0.name.hasPrefix(".") }.map(\.name).sorted()
  }

  /// `nil` when there is nothing in it that is a journal.
  ///
  /// Cost: proportional to the journal; memory to the captures of the run.
  static func read(_ id: String, in root: FilePath) -> RunEntry? {
    let folder = OutputLayout.run(id, in: root)
    let file = HeldFolder.contents(of: folder.appending(OutputNames.run), below: root).flatMap {
      try? JSONDecoder().decode(RunFile.self, from: Data($0))
    }.flatMap { $0.started == nil && $0.captures == nil ? nil : $0 }
    var entry = RunEntry(id: id, started: file?.started ?? startTime(ofID: id) ?? "")
    entry.finished = file?.finished
    entry.pipeline = file?.pipeline?.name
    entry.pipelinePath = file?.pipeline?.path
    entry.program = file?.program
    entry.host = file?.host?.name
    entry.user = file?.user
    entry.unrecognized = file?.unrecognized ?? []
    entry.attempts = (file?.captures ?? []).map(attempt)
    var events = RunEvents(isWhole: file?.finished != nil)
    let hasEvents = events.read(id, in: root)
    events.complete(&entry)
    // A folder of somebody else that holds a file of this name tells no time.
    guard file != nil || (hasEvents && !entry.started.isEmpty) else { return nil }
    return entry
  }

  /// `20261122T013000-…` as `2026-11-22T01:30:00Z`.
  private static func startTime(ofID id: String) -> String? {
    let digits = Array(id.utf8.prefix(15))
    guard digits.count == 15, digits[8] == UInt8(ascii: "T") else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    func part(_ from: Int, _ count: Int) -> Substring { text.dropFirst(from).prefix(count) }
    return
      "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(9, 2)):\(part(11, 2)):\(part(13, 2))Z"
  }

  private static func attempt(_ report: CaptureReport) -> RunEntry.Attempt {
    var attempt = RunEntry.Attempt(capture: report.id)
    attempt.path = report.path
    attempt.family = report.family
    attempt.outcome = report.outcome
    attempt.message = report.message
    attempt.cause = report.cause
    attempt.failures = report.stages.filter { $0.outcome == .failed || $0.outcome == .blocked }.map
    {
      Failure(stage: $0.stage, message: $0.message ?? $0.outcome.rawValue, cause: $0.cause)
    }
    attempt.shortfalls = report.shortfalls
    attempt.warnings = report.warnings.merged(with: (report.shortfalls ?? []).map(\.warning))
    attempt.missing = report.missing
    let ran = report.stages.filter { $0.outcome == .ran }
    attempt.frames = ran.compactMap(\.frames).max() ?? 0
    attempt.bytesWritten = ran.compactMap(\.outputBytes).reduce(0, &+)
    attempt.cpuSeconds = ran.compactMap(\.cpuSeconds).reduce(0, +)
    attempt.stageSeconds = report.stages.compactMap(\.seconds).max()
    attempt.cluster = ClusterTrace(report)
    return attempt
  }

  /// What is read of `run.json`; journals of earlier builds have less.
  private struct RunFile: Decodable {
    struct Named: Decodable {
      var name: String?
      var path: String?
    }

    var started: String?
    var finished: String?
    var pipeline: Named?
    var program: ProgramIdentity?
    var host: Named?
    var user: String?
    var captures: [CaptureReport]?
    var unrecognized: [RunReport.Unrecognized]?
  }
}

/// What the events of a run add to its `run.json`.
struct RunEvents {
  /// Whether `run.json` tells how every capture ended.
  let isWhole: Bool
  private var attempts: [String: RunEntry.Attempt] = [:]
  private var order: [String] = []
  private var last: String?
  private var first: String?

  init(isWhole: Bool) { self.isWhole = isWhole }

  /// Longer lines are none of ours.
  private static let mostLineBytes = 1 << 22

  /// `false` when there is no such file. Lines that cannot be read, such as the last one of a killed run, are
  /// left out.
  mutating func read(_ id: String, in root: FilePath) -> Bool {
    let path = OutputLayout.run(id, in: root).appending(OutputNames.events)
    guard let events = HeldFolder.file(path, below: root) else { return false }
    defer { try? events.close() }
    let file = events.rawValue
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return true }
      var start = 0
      while let end = buffer[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
        if rest.isEmpty {
          add(buffer[start..<end])
        } else {
          rest += buffer[start..<end]
          add(rest[...])
          rest.removeAll(keepingCapacity: true)
        }
        start = end + 1
      }
      if rest.count < Self.mostLineBytes { rest += buffer[start..<count] }
    }
  }

  private static let key = Array(#""kind":""#.utf8)
  /// How the kinds begin that tell of captures and of the run, and of stages.
  private static let ofCaptures = ["capture-", "run-"].map { Array($0.utf8) }
  private static let ofStages = [#"finished""#, #"blocked""#].map { Array($0.utf8) }

  /// Whether an event is of a kind that begins like one of `kinds`: many times as fast as decoding it.
  private static func isOne(of kinds: [[UInt8]], _ line: ArraySlice<UInt8>) -> Bool {
    line.withUnsafeBytes { line in
      guard let start = line.baseAddress else { return false }
      var at = 0
      while let quote = memchr(start + at, Int32(UInt8(ascii: "\"")), line.count - at) {
        at = quote - UnsafeMutableRawPointer(mutating: start)
        // In a message the quotation marks around a key are escaped.
        if line[at...].starts(with: key) {
          let value = line[(at + key.count)...]
          return kinds.contains { value.starts(with: $0) }
        }
        at += 1
      }
      return false
    }
  }

  private mutating func add(_ line: ArraySlice<UInt8>) {
    // Most lines tell of stages and progress.
    guard Self.isOne(of: isWhole ? Self.ofCaptures : Self.ofCaptures + Self.ofStages, line),
      let event = try? JSONDecoder().decode(RunEvent.self, from: Data(line))
    else { return }
    if first == nil { first = event.time }
    last = event.time
    guard let capture = event.capture else { return }
    if attempts[capture] == nil { order.append(capture) }
    var attempt = attempts[capture] ?? RunEntry.Attempt(capture: capture)
    switch event.kind {
    case .captureStarted:
      // Of several attempts in one run the last counts.
      attempt = RunEntry.Attempt(capture: capture)
      attempt.started = event.time
      attempt.path = event.message
    case .captureFinished:
      attempt.finished = event.time
      attempt.outcome = event.message.flatMap(CaptureReport.Outcome.init(rawValue:))
      attempt.cause = event.cause ?? attempt.cause
      attempt.warnings = event.warnings ?? []
      attempt.missing = event.missing ?? []
    case .finished where event.outcome == .failed, .blocked:
      attempt.failures.append(
        Failure(
          stage: event.stage, message: event.message ?? event.kind.rawValue, cause: event.cause))
    case .finished where event.outcome == .ran:
      attempt.frames = max(attempt.frames, event.frames ?? 0)
    default: break
    }
    attempts[capture] = attempt
  }

  func complete(_ entry: inout RunEntry) {
    if entry.started.isEmpty { entry.started = first ?? "" }
    entry.lastEvent = last
    var known: Set<String> = []
    for index in entry.attempts.indices {
      let capture = entry.attempts[index].capture
      known.insert(capture)
      guard let found = attempts[capture] else { continue }
      entry.attempts[index].started = found.started
      entry.attempts[index].finished = found.finished
    }
    if !isWhole {
      entry.attempts += order.filter { !known.contains($0) }.compactMap { attempts[$0] }
    }
  }
}
