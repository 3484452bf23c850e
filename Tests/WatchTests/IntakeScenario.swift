@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport

@testable import Watch

/// A staging folder, an output and a watcher, all of them models but `IntakeState`: random steps from a seed, and what
/// must be true after each.
struct IntakeScenario {
  /// What runs have left of a capture.
  struct Result {
    var identity: Int
    var owner: CaptureLocation
    /// Where it lay at the last run.
    var noted: CaptureLocation
    var contents: [String: Int]
    var times: Digest
    var stamp: Digest
    var files: [UInt64]
    var missing: [String]
    var isQuarantined: Bool
    var pipeline: Int
  }

  private var disk: StagingModel
  private(set) var problems: [String] = []
  /// What happened to the captures of the problems, under all of their names, and to all captures at once.
  var historyOfProblems: [String] {
    var names = Set(problems.joined(separator: " ").split { " :,".contains($0) })
    // A second result of one name has a number.
    names.formUnion(names.compactMap { $0.split(separator: "~").first })
    var lines: [String] = []
    for line in disk.history.reversed() {
      let words = line.split(separator: " ")
      if words.count == 1 || words.dropFirst().contains(where: names.contains) {
        lines.append(line)
        if words.first == "rename" { names.insert(words[1]) }
      }
    }
    return lines.reversed()
  }
  private var output: [String: Result] = [:]
  private var intake: IntakeState
  private var recorded: [CaptureLocation: StagingEntry] = [:]
  private let settings: WatchSettings
  private var seconds = 1_000.0
  private var wall = Date(timeIntervalSince1970: 1_700_000_000)
  private var boot = "first"
  private var pipeline = 1
  /// What happens in the output; apart, so that it changes nothing of what happens in the staging folder.
  private var outputRandom: SeededGenerator
  /// Captures whose output is not as it was at the last look.
  private var altered: Set<CaptureLocation> = []
  /// Identities whose content has changed since they were last seen as done.
  private var done: [Int: [String: Int]] = [:]

  init(seed: UInt64) {
    disk = StagingModel(seed: seed)
    outputRandom = SeededGenerator(seed: seed &+ 1_000_000)
    var settings = WatchSettings()
    settings.settleSeconds = 60
    settings.pollSeconds = 30
    settings.patienceSeconds = 600
    settings.uploadTimeoutSeconds = 300
    self.settings = settings
    intake = IntakeState(settings)
  }

  // MARK: Steps

  /// Something happens, then a while passes and the watcher looks.
  mutating func step() {
    for _ in 0..<Int.random(in: 0...3, using: &disk.random) { happen() }
    alterResults()
    seconds += [1, 20, 30, 45, 61, 200, 700].randomElement(using: &disk.random) ?? 1
    wall += 30
    look()
    publish()
    disk.settle()
    work()
    if Bool.random(using: &disk.random) { publish() }
    check()
  }

  /// Nothing happens any more: everything ends.
  mutating func rest() {
    disk.note("rest")
    for _ in 0..<40 {
      seconds += 61
      look()
      work(all: true)
      check()
      if !problems.isEmpty { return }
    }
    checkAtRest()
  }

  private mutating func happen() {
    disk.passTick()
    let index = disk.places.indices.randomElement(using: &disk.random)
    switch Int.random(in: 0..<29, using: &disk.random) {
    case 0...4: disk.begin()
    case 5...10: if let index { disk.addFile(index) }
    case 11: if let index { disk.startTransfer(index) }
    case 12, 13: if let index { disk.goOn(index) }
    case 14...17: if let index { disk.rename(index) }
    case 18: if let index { disk.remove(index) }
    case 19, 20: disk.changeModes()
    case 21: if let index { disk.touch(index) }
    case 22: if let index { disk.restore(index) }
    case 23: if let index { disk.corrupt(index) }
    case 24: if let index { disk.copy(index) }
    case 25: restart(isKilled: false)
    case 26:
      pipeline += 1
      if Bool.random(using: &disk.random) {
        disk.note("reload")
        intake.judgeAgain()
      } else {
        restart(isKilled: false)
      }
    case 27: restart(isKilled: false, reboots: true)
    default: restart(isKilled: true)
    }
  }

  /// Somebody removes results, or leaves a file among them.
  private mutating func alterResults() {
    let chance = Int.random(in: 0..<8, using: &outputRandom)
    let name = output.keys.sorted().randomElement(using: &outputRandom)
    guard chance < 2, let name, let result = output[name] else { return }
    altered.insert(result.owner)
    if chance == 0 {
      disk.note("leave something in \(name)")
    } else {
      disk.note("clean \(name)")
      output[name] = nil
      done[result.identity] = nil
    }
  }

  /// The watcher ends, in good order or not, the machine may start again, and another one begins with what it left.
  private mutating func restart(isKilled: Bool, reboots: Bool = false) {
    disk.note(isKilled ? "kill" : reboots ? "reboot" : "restart")
    if !isKilled, intake.previous == nil {
      for entry in intake.running {
        intake.giveBack(entry.location, nowSeconds: seconds, text)
      }
      for move in intake.takeMoves() { self.move(move.name, to: move.to) }
      intake.settleGone()
      publish()
    }
    if reboots {
      boot += "x"
      seconds = Double.random(in: 1...100, using: &disk.random)
      wall += Double.random(in: -3_600...7_200, using: &disk.random)
    }
    guard var (record, records) = published else { return }
    do {
      let encoder = JSONEncoder()
      let decoder = JSONDecoder()
      record = try decoder.decode(WatchRecord.self, from: encoder.encode(record))
      records = try decoder.decode(FirstSeenRecords.self, from: encoder.encode(records))
      records.boot = noted
      recorded = records.known(boot: boot, nowSeconds: seconds, now: wall)
    } catch {
      problems.append("records: \(error)")
    }
    intake = IntakeState(settings, previous: record)
  }

  /// What the watcher writes after each step; a kill leaves it as it was then.
  private mutating func publish() {
    // A watcher that has not seen STAGING writes nothing of it: what the one before it left stands.
    if intake.previous != nil { return }
    noted = boot
    let record = WatchSummary(
      intake, WatchRecord(staging: "/s", started: text, lastLook: text)
    ).record
    published = (record, FirstSeenRecords(intake.entries.values))
  }

  private var published: (record: WatchRecord, records: FirstSeenRecords)?

  /// The boot in which records were last written.
  private var noted = "first"

  // MARK: The watcher

  private var text: String { MomentText.utc(wall) }

  private mutating func look() {
    disk.noteLook()
    let snapshot = disk.snapshot
    let folders = Dictionary(
      disk.places.map { ($0.location.path, disk.folderID($0)) }
    ) { first, _ in first }
    intake.take(
      snapshot, nowSeconds: seconds, nowText: text, recorded: recorded,
      folderID: { folders[$0] },
      nearestFolder: { _ in FileID(device: StagingModel.device, inode: 2) })
    if intake.stagingTrouble == nil { recorded = [:] }
    for location in altered { intake.judgeAgain(location) }
    altered = []
    assign()
    for question in intake.questions { intake.answer(answer(question)) }
  }

  private mutating func assign() {
    for move in intake.takeMoves() { self.move(move.name, to: move.to) }
    // What was renamed while no watcher looked is known by its content.
    for entry in intake.unassigned where entry.target == nil && own(entry.location) == nil {
      guard let place = disk.place(at: entry.location) else { continue }
      let old = output.filter { name, result in
        disk.place(at: result.owner) == nil
          && (result.times == disk.signature(place).content
            || !Set(result.files).isDisjoint(with: disk.signature(place).files))
      }.keys.sorted().first
      if let old { move(old, to: entry.location) }
    }
    var given: [CaptureLocation: CaptureTarget] = [:]
    var names = Set(intake.entries.values.compactMap { $0.target?.layout.name })
    for entry in intake.unassigned where entry.target == nil {
      guard let recognition = entry.recognition else { continue }
      var name = own(entry.location) ?? recognition.id
      var number = 1
      while own(entry.location) == nil, names.contains(name) || output[name] != nil {
        number += 1
        name = "\(recognition.id)~\(number)"
      }
      names.insert(name)
      given[entry.location] = CaptureTarget(
        recognition: recognition, layout: OutputLayout(root: "/nowhere/out", name: name))
    }
    intake.assign(given)
  }

  /// The folder in the output that belongs to a place.
  private func own(_ location: CaptureLocation) -> String? {
    output.first { $0.value.owner == location }?.key
  }

  private mutating func move(_ name: String, to location: CaptureLocation) {
    guard var result = output[name], let place = disk.place(at: location),
      disk.place(at: result.owner) == nil, output[place.name] == nil
    else { return }
    result.owner = location
    output[name] = nil
    output[place.name] = result
    intake.forgetTarget(location)
  }

  private func answer(_ question: StagingEntry) -> StagingEntry {
    var answer = question
    guard let place = disk.place(at: question.location), let name = question.target?.layout.name
    else { return answer }
    let result = output[name].flatMap { $0.noted == question.location ? $0 : nil }
    if let result, result.pipeline == pipeline {
      if !result.isQuarantined, result.times == question.stamp.content {
        answer.phase = .done(missing: result.missing)
        answer.isUnverified = result.stamp != question.stamp.digest
        return answer
      }
      if result.isQuarantined, result.stamp == question.stamp.digest {
        answer.phase = .failed(trouble(isGone: false))
        return answer
      }
    }
    let isReady =
      question.mayOpen && !question.asksForFiles(nowSeconds: seconds, settings)
      || output[name]?.times == question.stamp.content
    if isReady || question.mayOpen && place.missing.isEmpty {
      answer.phase = .queued
    } else if question.mayOpen {
      answer.phase = .incomplete(missing: place.missing)
    }
    return answer
  }

  private func trouble(isGone: Bool) -> Failure {
    var trouble = Failure(message: "model", cause: isGone ? .machine : .input, attempts: 1)
    trouble.isGone = isGone
    trouble.isNoted = true
    trouble.isQuarantined = !isGone
    return trouble
  }

  private mutating func work(all: Bool = false) {
    if let next = intake.nextUnverified, all || Bool.random(using: &disk.random) {
      let place = disk.place(at: next.location)
      let name = next.target?.layout.name ?? ""
      let isSame = place.map { output[name]?.contents == $0.contents } ?? false
      intake.verified(next, isSame: isSame, nil)
      if isSame {
        output[name]?.stamp = next.stamp.digest
        output[name]?.files = next.stamp.files
        if let place, disk.signature(place) == next.stamp { disk.noteCompared(place.identity) }
      }
    }
    for entry in intake.running.sorted(by: { $0.order < $1.order })
    where all || Bool.random(using: &disk.random) { end(entry, all) }
    for entry in intake.queue.prefix(all ? 10 : 2) {
      intake.start(entry.location, nowSeconds: seconds)
    }
  }

  private mutating func end(_ entry: StagingEntry, _ isCalm: Bool) {
    guard case .running(let stamp, _) = entry.phase, let name = entry.target?.layout.name else {
      return
    }
    guard let place = disk.place(at: entry.location) else {
      var gone = trouble(isGone: true)
      gone.hasResults = output[name] != nil
      intake.end(entry.location, .failed(gone), nowSeconds: seconds, text)
      return
    }
    let chance = isCalm ? 0 : Int.random(in: 0..<10, using: &disk.random)
    if chance == 9 {
      intake.giveBack(entry.location, nowSeconds: seconds, text)
      return
    }
    output[name] = Result(
      identity: place.identity, owner: entry.location, noted: entry.location,
      contents: place.contents, times: stamp.content, stamp: stamp.digest, files: stamp.files,
      missing: place.missing, isQuarantined: chance == 8, pipeline: pipeline)
    if disk.signature(place) == stamp { disk.noteCompared(place.identity) }
    disk.note("ran \(name) \(chance == 8 ? "quarantined" : "done")")
    intake.end(
      entry.location,
      chance == 8
        ? .failed(trouble(isGone: false))
        : .done(missing: place.missing),
      nowSeconds: seconds, text)
  }

  /// The name by which steps tell of a place.
  private static func name(at location: CaptureLocation) -> String {
    location.stem ?? location.path.shownName
  }

  // MARK: What must be true

  private mutating func problem(_ text: String) { problems.append("\(text) at \(seconds)") }

  private mutating func check() {
    if intake.stagingTrouble != nil { return }
    var ids: [String: CaptureLocation] = [:]
    for entry in intake.entries.values where entry.recognition != nil {
      if let other = ids.updateValue(entry.location, forKey: entry.name) {
        problem("\(entry.name) twice: \(Self.name(at: other)) and \(Self.name(at: entry.location))")
      }
    }
    let twins = Set(
      intake.entries.values.compactMap { $0.movedTo?.location })
    let copies = Set(disk.snapshot.copies.map(\.location))
    for place in disk.places where place.isRecognized {
      let location = place.location
      let count = (intake.entries[location] == nil ? 0 : 1) + (twins.contains(location) ? 1 : 0)
      let isCopy = copies.contains(location)
      // A copy that runs already ends as it is.
      if isCopy ? count > (intake.entries[location]?.isRunning == true ? 1 : 0) : count != 1 {
        problem("\(place.name) has \(count) rows")
      }
    }
    for entry in intake.entries.values
    where !entry.isRunning && disk.place(at: entry.location) == nil {
      problem("\(entry.name) has a row and no place")
    }
    checkDone()
    checkNumbers()
  }

  /// What is done waits for nothing new as long as its content is the same and its results are there.
  private mutating func checkDone() {
    for place in disk.places {
      guard let entry = intake.entries[place.location], let state = entry.state else {
        done[place.identity] = nil
        continue
      }
      let times = [disk.signature(place).content.hex: place.isTransferring ? 1 : 0]
      if let before = done[place.identity], before == times,
        state == .arriving || state == .incomplete || state == .stalledUpload
      {
        problem("\(place.name) was done, has not changed, and is \(state.rawValue)")
      }
      done[place.identity] = state == .done ? times : nil
    }
  }

  private mutating func checkNumbers() {
    let summary = WatchSummary(intake)
    var needing = 0
    var states: [CaptureState: Int] = [:]
    for entry in intake.entries.values {
      guard let state = entry.state else { continue }
      states[state, default: 0] += 1
      let isPartial = state == .done && (output[entry.name]?.missing.isEmpty == false)
      if [.failed, .quarantined, .incomplete, .stalledUpload].contains(state) || isPartial {
        needing += 1
      }
    }
    let counted = CaptureState.ofCaptures.reduce(into: [:]) { $0[$1] = summary.totals[$1] }
      .filter { $0.value != 0 }
    if states != counted { problem("totals \(counted) are not \(states)") }
    if summary.totals.needsPerson != needing {
      problem("\(summary.totals.needsPerson) need a person, not \(needing)")
    }
    if summary.record.disappearedTotal ?? 0 > disk.removals {
      let names = (summary.record.disappeared ?? []).map(\.id).joined(separator: " ")
      problem("\(names) disappeared of \(disk.removals)")
    }
    for waiting in summary.record.waiting where waiting.state == .queued && waiting.waitsFor == nil
    {
      problem("\(waiting.id) waits for nothing")
    }
  }

  /// When nothing happens any more, nothing waits.
  private mutating func checkAtRest() {
    if intake.stagingTrouble != nil { return }
    let copies = Set(disk.snapshot.copies.map(\.location))
    var owners: [Int: String] = [:]
    for (name, result) in output where !result.isQuarantined {
      guard disk.places.contains(where: { $0.identity == result.identity }) else { continue }
      if let other = owners.updateValue(name, forKey: result.identity) {
        problem("two results of one capture: \(other) and \(name)")
      }
    }
    for place in disk.places where !copies.contains(place.location) {
      guard let entry = intake.entries[place.location] else { continue }
      switch entry.state {
      case nil: if place.isRecognized { problem("\(place.name) is not recognized") }
      case .stalledUpload: if !place.isTransferring { problem("\(place.name) is stalled") }
      case .done:
        if output[entry.name]?.contents != place.contents {
          problem("\(place.name) is done and its results are others")
        }
      case .quarantined: break
      case .some(let state): problem("\(place.name) is \(state.rawValue) for ever")
      }
    }
  }
}
