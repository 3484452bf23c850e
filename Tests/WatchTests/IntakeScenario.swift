import Captures
import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import SystemPackage
import TestSupport

@testable import Output
@testable import Watch

/// A staging folder, an output and a watcher, all of them models but `IntakeState`: random steps from a seed, and what
/// must be true after each.
struct IntakeScenario {
  /// A file as a disk tells it, and what is in it.
  struct File: Hashable {
    var inode: UInt64
    var bytes: Int64
    var modified: UInt64
    var changed: UInt64
    var content: Int
  }

  /// A capture on the disk, through all of its names.
  struct Place {
    var identity: Int
    var name: String { didSet { location = Self.location(name, hasStem) } }
    /// It shares a folder with others.
    let hasStem: Bool
    /// Of a name. Paths are slow to make in a debug build.
    private(set) var location: CaptureLocation
    var inode: UInt64
    /// By name, without the stem.
    var files: [String: File] = [:]
    /// Made by a synchronizer from another one.
    var isCopy = false
    /// What tells it from others, as of the last look.
    var looked: Looked?
    /// Renamed, or all of its times or inodes changed, since the last look: with both nothing tells what it was.
    var isDisturbed = false
    /// New inodes that nobody has noted: its content has not been compared since.
    var isRestored = false
    /// Renamed as well: were its files others too, nothing would tell what it was.
    var isKnownByFilesOnly: Bool { isRestored && isDisturbed }
    var contents: [String: Int] { files.mapValues(\.content) }
    var isTransferring: Bool { files.keys.contains { $0.hasSuffix(".part") } }
    var isRecognized: Bool { files["video"] != nil }
    var missing: [String] { ["depth", "imu"].filter { files[$0] == nil } }

    init(identity: Int, name: String, hasStem: Bool, inode: UInt64) {
      (self.identity, self.name, self.hasStem, self.inode) = (identity, name, hasStem, inode)
      location = Self.location(name, hasStem)
    }

    private static func location(_ name: String, _ hasStem: Bool) -> CaptureLocation {
      hasStem
        ? CaptureLocation(IntakeScenario.flat, stem: name)
        : CaptureLocation(IntakeScenario.root.appending(name))
    }
  }

  /// What a look knows a capture by, when it comes to be at another place.
  struct Looked: Hashable {
    var location: CaptureLocation
    /// `nil`: a folder that it shares with others tells nothing.
    var folder: UInt64?
    var content: Digest
    var files: [UInt64]

    /// Whether nothing is left of it by which it could be known.
    func tellsNothing(of now: Looked) -> Bool {
      location != now.location && content != now.content
        && (folder == nil || folder != now.folder) && Set(files).isDisjoint(with: now.files)
    }
  }

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

  private(set) var problems: [String] = []
  private(set) var history: [String] = []
  /// What happened to the captures of the problems, under all of their names, and to all captures at once.
  var historyOfProblems: [String] {
    var names = Set(problems.joined(separator: " ").split { " :,".contains($0) })
    // A second result of one name has a number.
    names.formUnion(names.compactMap { $0.split(separator: "~").first })
    var lines: [String] = []
    for line in history.reversed() {
      let words = line.split(separator: " ")
      if words.count == 1 || words.dropFirst().contains(where: names.contains) {
        lines.append(line)
        if words.first == "rename" { names.insert(words[1]) }
      }
    }
    return lines.reversed()
  }
  private var random: SeededGenerator
  private var places: [Place] = []
  private var output: [String: Result] = [:]
  private var intake: IntakeState
  private var recorded: [CaptureLocation: FirstSeen] = [:]
  private let settings: WatchSettings
  private var seconds = 1_000.0
  private var wall = Date(timeIntervalSince1970: 1_700_000_000)
  private var boot = "first"
  private var pipeline = 1
  private var nextIdentity = 0
  private var nextInode: UInt64 = 100
  private var tick: UInt64 = 1
  /// Captures that were removed, or of which between two looks everything changed: for a watcher one went and another
  /// one came.
  private var removals = 0
  /// Identities whose content has changed since they were last seen as done.
  private var done: [Int: [String: Int]] = [:]

  private static let device: UInt64 = 7
  private static let root = FilePath("/s")
  private static let flat = FilePath("/s/flat")

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
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
    for _ in 0..<Int.random(in: 0...3, using: &random) { happen() }
    seconds += [1, 20, 30, 45, 61, 200, 700].randomElement(using: &random) ?? 1
    wall += 30
    look()
    publish()
    for index in places.indices { places[index].isDisturbed = false }
    work()
    if Bool.random(using: &random) { publish() }
    check()
  }

  /// Nothing happens any more: everything ends.
  mutating func rest() {
    note("rest")
    for _ in 0..<40 {
      seconds += 61
      look()
      work(all: true)
      check()
      if !problems.isEmpty { return }
    }
    checkAtRest()
  }

  private mutating func note(_ text: String) { history.append(text) }

  private mutating func happen() {
    tick += 1
    let index = places.indices.randomElement(using: &random)
    switch Int.random(in: 0..<29, using: &random) {
    case 0...4: begin()
    case 5...10: if let index { addFile(index) }
    case 11: if let index { startTransfer(index) }
    case 12, 13: if let index { goOn(index) }
    case 14...17: if let index { rename(index) }
    case 18: if let index { remove(index) }
    case 19, 20: changeModes()
    case 21: if let index { touch(index) }
    case 22: if let index { restore(index) }
    case 23: if let index { corrupt(index) }
    case 24: if let index { copy(index) }
    case 25: restart(isKilled: false)
    case 26:
      pipeline += 1
      if Bool.random(using: &random) {
        note("reload")
        intake.judgeAgain()
      } else {
        restart(isKilled: false)
      }
    case 27: restart(isKilled: false, reboots: true)
    default: restart(isKilled: true)
    }
  }

  private mutating func file(_ content: Int, bytes: Int64? = nil) -> File {
    nextInode += 1
    tick += 1
    return File(
      inode: nextInode, bytes: bytes ?? Int64.random(in: 1...1_000_000, using: &random),
      modified: tick, changed: tick, content: content)
  }

  private mutating func freshContent() -> Int {
    nextIdentity += 1
    return nextIdentity
  }

  private mutating func begin() {
    nextIdentity += 1
    nextInode += 1
    var place = Place(
      identity: nextIdentity, name: "c\(nextIdentity)",
      hasStem: Int.random(in: 0..<3, using: &random) == 0,
      inode: nextInode)
    let names =
      ["video", "depth", "imu"].prefix(Int.random(in: 1...3, using: &random))
    for name in names { place.files[name] = file(freshContent()) }
    if Int.random(in: 0..<4, using: &random) == 0,
      let video = place.files.removeValue(forKey: "video")
    {
      place.files["video.part"] = video
    }
    note("begin \(place.name) \(place.files.keys.sorted()) \(place.hasStem ? "flat" : "")")
    places.append(place)
  }

  private mutating func addFile(_ index: Int) {
    if places[index].isKnownByFilesOnly { return }
    guard
      let name = ["video", "depth", "imu", "extra"].first(where: { places[index].files[$0] == nil })
    else { return }
    places[index].files[name] = file(freshContent())
    note("add \(places[index].name) \(name)")
  }

  private mutating func startTransfer(_ index: Int) {
    if places[index].isKnownByFilesOnly { return }
    places[index].files["late.part"] = file(freshContent())
    note("transfer \(places[index].name)")
  }

  /// The temporary file grows, or gets its name.
  private mutating func goOn(_ index: Int) {
    if places[index].isKnownByFilesOnly { return }
    guard let name = places[index].files.keys.sorted().first(where: { $0.hasSuffix(".part") }),
      var part = places[index].files[name]
    else { return }
    part.modified = tick
    part.changed = tick
    if Bool.random(using: &random) {
      part.bytes += 10
      part.content = freshContent()
      places[index].files[name] = part
      note("grow \(places[index].name) \(name)")
    } else {
      places[index].files[name] = nil
      places[index].files[String(name.dropLast(5))] = part
      note("finish \(places[index].name) \(name)")
    }
  }

  private mutating func rename(_ index: Int) {
    if places[index].isDisturbed { return }
    places[index].isDisturbed = true
    nextIdentity += 1
    note("rename \(places[index].name) to r\(nextIdentity)")
    places[index].name = "r\(nextIdentity)"
    places[index].isCopy = false
    // Files of a stem are renamed one by one, which changes their time of change.
    if places[index].hasStem {
      for name in places[index].files.keys { places[index].files[name]?.changed = tick }
    }
    // At the end of an upload more comes within the same look.
    if Int.random(in: 0..<4, using: &random) == 0 { addFile(index) }
  }

  private mutating func remove(_ index: Int) {
    note("remove \(places[index].name)")
    removals += 1
    places.remove(at: index)
  }

  private mutating func changeModes() {
    note("chmod")
    for index in places.indices {
      for name in places[index].files.keys { places[index].files[name]?.changed = tick }
    }
  }

  private mutating func touch(_ index: Int) {
    if places[index].isDisturbed || places[index].isRestored { return }
    places[index].isDisturbed = true
    note("touch \(places[index].name)")
    for name in places[index].files.keys {
      places[index].files[name]?.modified = tick
      places[index].files[name]?.changed = tick
    }
  }

  /// New inodes, the old times of modification.
  private mutating func restore(_ index: Int) {
    if places[index].isDisturbed { return }
    places[index].isDisturbed = true
    places[index].isRestored = true
    note("restore \(places[index].name)")
    nextInode += 1
    if !places[index].hasStem { places[index].inode = nextInode }
    for name in places[index].files.keys.sorted() {
      nextInode += 1
      places[index].files[name]?.inode = nextInode
      places[index].files[name]?.changed = tick
    }
  }

  /// Another content of the same size and time of modification.
  private mutating func corrupt(_ index: Int) {
    let names = places[index].files.keys.sorted()
    guard let name = names.randomElement(using: &random) else { return }
    note("corrupt \(places[index].name) \(name)")
    let content = freshContent()
    places[index].files[name]?.content = content
    places[index].files[name]?.changed = tick
  }

  private mutating func copy(_ index: Int) {
    guard places[index].isRecognized, !places[index].isCopy, !places[index].name.contains(".sync")
    else { return }
    var copy = places[index]
    nextIdentity += 1
    nextInode += 1
    copy.identity = nextIdentity
    copy.name += ".sync-conflict-20261120-101112-\(nextIdentity)"
    copy.inode = nextInode
    copy.isCopy = true
    copy.looked = nil
    for name in copy.files.keys.sorted() {
      nextInode += 1
      copy.files[name]?.inode = nextInode
      copy.files[name]?.changed = tick
      copy.files[name]?.modified = tick
    }
    note("copy \(copy.name)")
    places.append(copy)
  }

  /// The watcher ends, in good order or not, the machine may start again, and another one begins with what it left.
  private mutating func restart(isKilled: Bool, reboots: Bool = false) {
    note(isKilled ? "kill" : reboots ? "reboot" : "restart")
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
      seconds = Double.random(in: 1...100, using: &random)
      wall += Double.random(in: -3_600...7_200, using: &random)
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
    let summary = summary
    var record = WatchRecord(
      staging: "/s", started: text, lastLook: text, waiting: summary.waiting)
    record.known = summary.known
    record.disappeared = summary.disappeared
    record.disappearedTotal = summary.disappearedTotal
    record.renamed = summary.renamed
    published = (record, FirstSeenRecords(intake.entries.values))
  }

  private var published: (record: WatchRecord, records: FirstSeenRecords)?

  /// The boot in which records were last written.
  private var noted = "first"

  // MARK: The watcher

  private var text: String { MomentText.utc(wall) }

  private func location(_ place: Place) -> CaptureLocation { place.location }

  /// What is made of a place once for each of its states.
  private final class Signatures {
    var known: [Int: (name: String, files: [String: File], stamp: FolderSignature)] = [:]
  }

  private let signatures = Signatures()

  private func signature(_ place: Place) -> FolderSignature {
    if let known = signatures.known[place.identity], known.name == place.name,
      known.files == place.files
    {
      return known.stamp
    }
    let stamp = newSignature(place)
    signatures.known[place.identity] = (place.name, place.files, stamp)
    return stamp
  }

  private func newSignature(_ place: Place) -> FolderSignature {
    let files = place.files.sorted { $0.key < $1.key }
    let times = files.map { "\($0.key) \($0.value.bytes) \($0.value.modified)" }
    // What is in a file is not seen.
    let full = files.map { name, file in
      "\(place.hasStem ? place.name : "")\(name) \(file.inode) \(file.bytes) \(file.modified) \(file.changed)"
    }
    var stamp = FolderSignature(
      digest: Digest(of: full.joined(separator: "\n")),
      content: Digest(of: times.joined(separator: "\n")))
    stamp.isTransferring = place.isTransferring
    stamp.temporaryFile = files.first { $0.key.hasSuffix(".part") }?.key
    stamp.bytes = files.reduce(0) { $0 + $1.value.bytes }
    stamp.files = files.map { $0.value.inode &* 1_000_003 &+ $0.value.modified }
    return stamp
  }

  private func folderID(_ place: Place) -> FileID {
    FileID(device: Self.device, inode: place.hasStem ? 1 : place.inode)
  }

  private var snapshot: StagingSnapshot {
    var snapshot = StagingSnapshot()
    snapshot.folderID = FileID(device: Self.device, inode: 2)
    snapshot.isEmpty = places.isEmpty
    var seen: [StagingSnapshot.Seen] = []
    for place in places where !place.files.isEmpty {
      let stamp = signature(place)
      let folder = location(place).path
      if place.isRecognized {
        seen.append(
          StagingSnapshot.Seen(
            recognition: Recognition(
              family: .arkitScanner, certainty: .certain, folder: folder,
              stem: place.hasStem ? place.name : nil, id: place.name, reason: "model"),
            stamp: stamp, folderID: folderID(place)))
      } else if !place.hasStem {
        snapshot.strangers.append(
          StagingSnapshot.UnrecognizedUpload(
            folder: UnrecognizedFolder(path: folder, holds: []), stamp: stamp,
            folderID: folderID(place)))
      }
    }
    (snapshot.captures, snapshot.copies) = ConflictCopies().separate(seen)
    return snapshot
  }

  private var summary: WatchSummary { WatchSummary(intake, hold: nil, locked: [], WatchTally()) }

  /// Counts captures that nobody could know again.
  private mutating func noteLook() {
    for (index, place) in places.enumerated() {
      let stamp = signature(place)
      let now = Looked(
        location: place.location, folder: place.hasStem ? nil : place.inode,
        content: stamp.content, files: stamp.files)
      if let before = place.looked, before.tellsNothing(of: now) { removals += 1 }
      places[index].looked = now
    }
  }

  private mutating func look() {
    noteLook()
    let snapshot = snapshot
    let folders = Dictionary(
      places.map { (location($0).path, folderID($0)) }
    ) { first, _ in first }
    intake.take(
      snapshot, nowSeconds: seconds, nowText: text, recorded: recorded,
      folderID: { folders[$0] },
      nearestFolder: { _ in FileID(device: Self.device, inode: 2) })
    if intake.stagingTrouble == nil { recorded = [:] }
    assign()
    for question in intake.questions(nowSeconds: seconds) {
      intake.answer(question, answer(question))
    }
  }

  private mutating func assign() {
    for move in intake.takeMoves() { self.move(move.name, to: move.to) }
    // What was renamed while no watcher looked is known by its content.
    for entry in intake.unassigned where entry.target == nil && own(entry.location) == nil {
      guard let place = place(at: entry.location) else { continue }
      let old = output.filter { name, result in
        self.place(at: result.owner) == nil
          && (result.times == signature(place).content
            || !Set(result.files).isDisjoint(with: signature(place).files))
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
    guard var result = output[name], let place = place(at: location),
      self.place(at: result.owner) == nil, output[place.name] == nil
    else { return }
    result.owner = location
    output[name] = nil
    output[place.name] = result
    intake.noteRenamed(name, to: place.name)
    intake.forgetTarget(location)
  }

  private func place(at location: CaptureLocation) -> Place? {
    places.first { self.location($0) == location }
  }

  private func answer(_ question: IntakeState.Question) -> IntakeState.Answer {
    guard let place = place(at: question.location), let name = question.target?.layout.name else {
      return .unknown
    }
    let result = output[name].flatMap { $0.noted == question.location ? $0 : nil }
    if let result, result.pipeline == pipeline {
      if !result.isQuarantined, result.times == question.stamp.content {
        return .done(
          hasWarnings: !result.missing.isEmpty, missing: result.missing,
          isUnverified: result.stamp != question.stamp.digest, nil)
      }
      if result.isQuarantined, result.stamp == question.stamp.digest {
        return .quarantined(trouble(isGone: false))
      }
    }
    if question.mayOpen, !question.asksForFiles { return .ready }
    if output[name]?.times == question.stamp.content { return .ready }
    guard question.mayOpen else { return .unknown }
    return place.missing.isEmpty ? .ready : .incomplete(missing: place.missing)
  }

  private func trouble(isGone: Bool) -> AttemptFailure {
    var trouble = AttemptFailure(cause: isGone ? .machine : .input, message: "model", attempts: 1)
    trouble.isGone = isGone
    trouble.isNoted = true
    trouble.isQuarantined = !isGone
    return trouble
  }

  private mutating func work(all: Bool = false) {
    if let next = intake.nextUnverified, all || Bool.random(using: &random) {
      let place = place(at: next.location)
      let name = next.target?.layout.name ?? ""
      let isSame = place.map { output[name]?.contents == $0.contents } ?? false
      intake.verified(next, isSame: isSame, nil)
      if isSame {
        output[name]?.stamp = next.stamp.digest
        output[name]?.files = next.stamp.files
        if let index = place.flatMap({ place in
          places.firstIndex { $0.identity == place.identity }
        }), places[index].location == next.location, signature(places[index]) == next.stamp {
          places[index].isRestored = false
        }
      }
    }
    for entry in intake.running.sorted(by: { $0.order < $1.order })
    where all || Bool.random(using: &random) { end(entry, all) }
    for entry in intake.queue.prefix(all ? 10 : 2) { intake.start(entry.location) }
  }

  private mutating func end(_ entry: StagingEntry, _ isCalm: Bool) {
    guard case .running(let stamp) = entry.phase, let name = entry.target?.layout.name else {
      return
    }
    guard let place = place(at: entry.location) else {
      var gone = trouble(isGone: true)
      gone.hasResults = output[name] != nil
      intake.end(entry.location, .failed(gone), nowSeconds: seconds, text)
      return
    }
    let chance = isCalm ? 0 : Int.random(in: 0..<10, using: &random)
    if chance == 9 {
      intake.giveBack(entry.location, nowSeconds: seconds, text)
      return
    }
    output[name] = Result(
      identity: place.identity, owner: entry.location, noted: entry.location,
      contents: place.contents, times: stamp.content, stamp: stamp.digest, files: stamp.files,
      missing: place.missing, isQuarantined: chance == 8, pipeline: pipeline)
    if let index = places.firstIndex(where: { $0.identity == place.identity }),
      signature(place) == stamp
    {
      places[index].isRestored = false
    }
    note("ran \(name) \(chance == 8 ? "quarantined" : "done")")
    intake.end(
      entry.location,
      chance == 8
        ? .quarantined(trouble(isGone: false))
        : .done(hasWarnings: !place.missing.isEmpty, missing: place.missing),
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
      intake.entries.values.compactMap { $0.movedTo.map { CaptureLocation($0.recognition) } })
    let copies = Set(snapshot.copies.map(\.location))
    for place in places where place.isRecognized {
      let location = location(place)
      let count = (intake.entries[location] == nil ? 0 : 1) + (twins.contains(location) ? 1 : 0)
      let isCopy = copies.contains(location)
      // A copy that runs already ends as it is.
      if isCopy ? count > (intake.entries[location]?.isRunning == true ? 1 : 0) : count != 1 {
        problem("\(place.name) has \(count) rows")
      }
    }
    for entry in intake.entries.values where !entry.isRunning && place(at: entry.location) == nil {
      problem("\(entry.name) has a row and no place")
    }
    checkDone()
    checkNumbers()
  }

  /// What is done waits for nothing new as long as its content is the same.
  private mutating func checkDone() {
    for place in places {
      guard let entry = intake.entries[location(place)], let state = entry.state else {
        done[place.identity] = nil
        continue
      }
      let times = [signature(place).content.hex: place.isTransferring ? 1 : 0]
      if let before = done[place.identity], before == times,
        state == .arriving || state == .incomplete || state == .stalledUpload
      {
        problem("\(place.name) was done, has not changed, and is \(state.rawValue)")
      }
      done[place.identity] = state.isReady ? times : nil
    }
  }

  private mutating func checkNumbers() {
    let summary = summary
    var needing = 0
    var states: [CaptureState: Int] = intake.departed
    for entry in intake.entries.values {
      guard let state = entry.state else { continue }
      states[state, default: 0] += 1
      let isPartial = state.isReady && (output[entry.name]?.missing.isEmpty == false)
      if [.failed, .quarantined, .incomplete, .stalledUpload].contains(state) || isPartial {
        needing += 1
      }
    }
    if states != summary.states { problem("totals \(summary.states) are not \(states)") }
    if summary.needPerson != needing + intake.departedNeeding {
      problem("\(summary.needPerson) need a person, not \(needing) and \(intake.departedNeeding)")
    }
    if intake.departed.values.contains(where: { $0 < 0 }) || intake.departedNeeding < 0 {
      problem("departed \(intake.departed)")
    }
    if summary.disappearedTotal > removals {
      let names = summary.disappeared.map(\.id).joined(separator: " ")
      problem("\(names) disappeared of \(removals)")
    }
    for waiting in summary.waiting where waiting.state == .queued && waiting.waitsFor == nil {
      problem("\(waiting.id) waits for nothing")
    }
  }

  /// When nothing happens any more, nothing waits.
  private mutating func checkAtRest() {
    if intake.stagingTrouble != nil { return }
    let copies = Set(snapshot.copies.map(\.location))
    var owners: [Int: String] = [:]
    for (name, result) in output where !result.isQuarantined {
      guard places.contains(where: { $0.identity == result.identity }) else { continue }
      if let other = owners.updateValue(name, forKey: result.identity) {
        problem("two results of one capture: \(other) and \(name)")
      }
    }
    for place in places where !copies.contains(location(place)) {
      guard let entry = intake.entries[location(place)] else { continue }
      switch entry.state {
      case nil: if place.isRecognized { problem("\(place.name) is not recognized") }
      case .stalledUpload: if !place.isTransferring { problem("\(place.name) is stalled") }
      case .done, .doneWithWarnings:
        if output[entry.name]?.contents != place.contents {
          problem("\(place.name) is done and its results are others")
        }
      case .quarantined: break
      case .some(let state): problem("\(place.name) is \(state.rawValue) for ever")
      }
    }
  }
}
