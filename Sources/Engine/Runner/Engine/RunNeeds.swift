import Captures
import Core
import SystemPackage

/// What stages are expected to write and to take: per byte of a capture, what stages wrote and took for captures of the
/// same family in this output with the same parameters, else with others; for a family without any, what stages guess
/// of some captures that are opened, and without a time. Files that an export shares with what it was made from count
/// once. What a run says before it starts, what a job says for which the disk is too small, and what a watcher waits for
/// come from here.
public struct RunNeeds: Sendable {
  private struct Rate {
    var input: Int64 = 0
    var bytes: Int64 = 0
    var cpuSeconds = 0.0
    var frames = 0

    mutating func add(_ input: Int64, _ bytes: Int64, _ record: ArtifactRecord) {
      self.input += input
      self.bytes += bytes
      cpuSeconds += record.cpuSeconds
      frames += record.frames
    }
  }

  private let pipeline: PipelineDefinition
  private let root: FilePath
  private let cores: Int
  /// By family and stage: bytes of captures that lack what the stage is about, or in which no stage reads it.
  private var idle: [String: [String: Int64]] = [:]
  /// By family, stage and parameters.
  private var rates: [String: [String: [[String: JSONValue]: Rate]]] = [:]
  private var sizes = CaptureSizes()
  private var bytes = 0.0
  /// Bytes of the intermediates of a capture, the most of all, as far as results tell.
  private var passing = 0.0
  /// Bytes of results that others take the place of; `nil`: not known of a capture.
  private var replaced: Int64? = 0
  /// `nil`: not known of a capture that is to be processed.
  private var cpuSeconds: Double? = 0
  private let isElsewhere: Bool
  private let look: CaptureLook?
  private var lookingSeconds = 0.0
  /// The summary of one capture of each family that was processed.
  private var summaries: [String: CaptureSummary] = [:]
  /// By family.
  private var opened: [String: [Opened]] = [:]
  /// Per byte of a capture, by family and stage.
  private var guesses: [String: [String: (parameters: ParameterValues, bytes: Guess)]] = [:]

  /// Bytes of results that a stage guesses.
  private struct Guess {
    var least: Double
    var usual: Double
  }

  private struct Opened {
    var recognition: Recognition
    var size: Double
    /// `nil`: it cannot be opened.
    var content: OpenedCapture?
  }

  /// So many captures tell enough of a family.
  private static let mostLookedAt = 60
  /// So many captures of a family are opened, as long as all of it does not take longer than some seconds.
  private static let mostOpened = 3
  private static let mostLookingSeconds = 5.0
  /// Bytes of results per byte of a capture, for stages that guess nothing.
  private static let usualRatio = 0.3

  /// Cost: some small files of at most 60 captures.
  ///
  /// - Parameters:
  ///   - look: opens captures; `nil`: none is opened.
  ///   - isElsewhere: whether machines of a cluster do the work, which may have disks of their own for intermediates.
  public init(
    _ pipeline: PipelineDefinition, root: FilePath, cores: Int = 1, look: CaptureLook? = nil,
    isElsewhere: Bool = false
  ) {
    self.look = look
    self.isElsewhere = isElsewhere
    self.pipeline = pipeline
    self.root = root
    self.cores = max(1, cores)
    let layouts = (try? OutputCatalog.candidates(in: root)) ?? []
    let step = max(1, layouts.count / Self.mostLookedAt)
    for index in stride(from: 0, to: layouts.count, by: step) {
      learn(layouts[index])
    }
  }

  /// Takes in what a capture's stages wrote and took. Cost: some small files.
  public mutating func learn(_ layout: OutputLayout) {
    guard let cache = CaptureCache(of: layout) else { return }
    let input = cache.inputs.entries.reduce(Int64(0)) { $0 &+ $1.stamp.bytes }
    guard input > 0 else { return }
    summaries[cache.family.rawValue] = cache.summary
    let store = ArtifactStore(layout)
    let adapted = pipeline.adapted(
      to: cache.summary, StageChoice(Selection()), known: store.known)
    var written: Set<Digest> = []
    for stage in pipeline.stages {
      guard let record = store.record(stage.name) else {
        // A step that no stage reads, such as the time offset, is not made.
        if stage.applicability(cache.summary) != .applies || adapted[stage.name] == nil {
          idle[cache.family.rawValue, default: [:]][stage.name, default: 0] &+= input
        }
        continue
      }
      let isCopied = record.parameters["share"] == .string("copy")
      let shares = !isCopied && stage.kind.content(stage.parameters) == .files
      let own = shares ? record.outputs.filter { !written.contains($0.sha256) } : record.outputs
      written.formUnion(own.map(\.sha256))
      var known = rates[cache.family.rawValue]?[stage.name] ?? [:]
      known[record.parameters, default: Rate()].add(
        input, own.reduce(0) { $0 &+ $1.bytes }, record)
      rates[cache.family.rawValue, default: [:]][stage.name] = known
    }
  }

  /// Counts stages of one capture that are to run.
  ///
  /// - Parameters:
  ///   - cleaned: bytes of the same results that `clean` removed, by stage.
  ///   - replaced: bytes of results that these take the place of; `nil`: not known.
  public mutating func add(
    _ capture: Recognition, _ stages: some Sequence<StageDefinition>,
    cleaned: [String: Int64] = [:], replaced: Int64? = 0
  ) {
    self.replaced = replaced.flatMap { replaced in self.replaced.map { $0 &+ replaced } }
    let size = Double(sizes.bytes(of: capture))
    var passing = 0.0
    defer { self.passing = max(self.passing, passing) }
    for stage in stages {
      let known = known(capture.family.rawValue, stage, ofBytes: size)
      // An intermediate is removed at the end.
      if !stage.keep, !isElsewhere { passing += known?.bytes ?? 0 }
      if stage.keep {
        bytes +=
          cleaned[stage.name].map(Double.init) ?? known?.bytes
          ?? guess(stage, capture, ofBytes: size)
      }
      cpuSeconds = cpuSeconds.flatMap { seconds in known.map { seconds + $0.cpuSeconds } }
    }
  }

  /// What one stage is expected to write for a capture that is open, whether that is kept or not.
  func bytes(
    of stage: StageDefinition, _ capture: Recognition, _ content: OpenedCapture
  ) -> Int64 {
    var sizes = CaptureSizes()
    let size = Double(sizes.bytes(of: capture))
    return Self.whole(
      known(capture.family.rawValue, stage, ofBytes: size)?.bytes
        ?? Self.guess(stage, content, ofBytes: size).usual)
  }

  /// What a watcher waits for: what all stages, intermediates included, are expected to write for a capture of so many
  /// bytes, as far as results of its family tell; of other stages the least that they can write. A guess that is too high
  /// would keep a capture waiting every night for space that it does not need. One that is too low costs one attempt,
  /// after which the watcher knows how much space was not enough. 0: nothing is known.
  public func knownBytes(_ family: String, ofBytes size: Int64) -> Int64 {
    let size = Double(max(0, size))
    return Self.whole(
      pipeline.stages.reduce(0.0) { sum, stage in
        sum
          + (known(family, stage, ofBytes: size)?.bytes
            ?? guesses[family]?[stage.name].map { $0.bytes.least * size } ?? 0)
      })
  }

  // MARK: Guesses

  /// Opens a capture of so many bytes if nothing is known of its family.
  public mutating func look(into capture: Recognition, ofBytes size: Int64) {
    if rates[capture.family.rawValue] == nil { look(into: capture, ofBytes: Double(size)) }
  }

  /// What is known of a capture, else of another one of its family; opens it if nothing is known of any.
  mutating func summary(like capture: Recognition) -> CaptureSummary? {
    let family = capture.family.rawValue
    if let known = summaries[family] { return known }
    look(into: capture, ofBytes: Double(sizes.bytes(of: capture)))
    let all = opened[family] ?? []
    let own = all.first { $0.recognition == capture }
    return own?.content?.summary ?? all.compactMap(\.content).first?.summary
  }

  /// Takes over what captures told that another one has opened.
  public mutating func takeGuesses(of other: RunNeeds) {
    (opened, guesses, lookingSeconds) = (other.opened, other.guesses, other.lookingSeconds)
  }

  private mutating func guess(
    _ stage: StageDefinition, _ capture: Recognition, ofBytes size: Double
  ) -> Double {
    let family = capture.family.rawValue
    if !stage.kind.content(stage.parameters).isOfTables { look(into: capture, ofBytes: size) }
    if let own = opened[family]?.first(where: { $0.recognition == capture })?.content {
      return Self.guess(stage, own, ofBytes: size).usual
    }
    if let known = guesses[family]?[stage.name], known.parameters == stage.parameters {
      return known.bytes.usual * size
    }
    let ratio = ratio(family, stage)
    guesses[family, default: [:]][stage.name] = (stage.parameters, ratio)
    return ratio.usual * size
  }

  private mutating func look(into capture: Recognition, ofBytes size: Double) {
    let family = capture.family.rawValue
    let others = opened[family] ?? []
    guard let look, size > 0, others.count < Self.mostOpened,
      lookingSeconds < Self.mostLookingSeconds,
      !others.contains(where: { $0.recognition == capture })
    else { return }
    let start = RunClock.system.monotonicSeconds()
    let content = try? look(capture)
    lookingSeconds += RunClock.system.monotonicSeconds() - start
    opened[family, default: []].append(
      Opened(recognition: capture, size: size, content: content))
    guesses[family] = nil
    for stage in pipeline.stages {
      guesses[family, default: [:]][stage.name] = (stage.parameters, ratio(family, stage))
    }
  }

  /// The ratio over all captures of a family that were opened.
  private func ratio(_ family: String, _ stage: StageDefinition) -> Guess {
    var input = 0.0
    var sum = Guess(least: 0, usual: 0)
    for capture in opened[family] ?? [] {
      guard let content = capture.content else { continue }
      input += capture.size
      let guess = Self.guess(stage, content, ofBytes: capture.size)
      (sum.least, sum.usual) = (sum.least + guess.least, sum.usual + guess.usual)
    }
    return input > 0
      ? Guess(least: sum.least / input, usual: sum.usual / input)
      : Guess(least: 0, usual: Self.usualRatio)
  }

  private static func guess(
    _ stage: StageDefinition, _ content: OpenedCapture, ofBytes size: Double
  ) -> Guess {
    guard stage.applicability(content.summary) == .applies else { return Guess(least: 0, usual: 0) }
    if !stage.isOfSubset, let expected = stage.kind.expectedBytes(stage.parameters, content) {
      return Guess(least: Double(expected.least), usual: Double(expected.usual))
    }
    let frames = Double(content.summary.frameCount)
    let part = shareKept(stage.kind, stage.parameters.json, frames: frames) ?? 1
    return Guess(least: 0, usual: usualRatio * size * part)
  }

  /// What captures of a family tell of a stage. Results that were made with other parameters count as far as it can be
  /// told how much larger or smaller these make them; those of some frames tell nothing of all.
  private func known(
    _ family: String, _ stage: StageDefinition, ofBytes size: Double
  ) -> (bytes: Double, cpuSeconds: Double)? {
    let all = rates[family]?[stage.name] ?? [:]
    let idle = idle[family]?[stage.name] ?? 0
    let asked = stage.parameters.json
    let same = all[asked].map { [asked: $0] }
    let others = same ?? all.filter { Self.shareKept(stage.kind, $0.key, frames: nil) != nil }
    if others.isEmpty, !all.isEmpty || idle == 0 { return nil }
    let input = Double(others.values.reduce(idle) { $0 &+ $1.input })
    if input == 0 { return nil }
    let scale = size / input
    let frames = Double(others.values.reduce(0) { $0 + $1.frames }) * scale
    let bytes = others.reduce(0.0) { sum, other in
      let part =
        same == nil
        ? (Self.shareKept(stage.kind, asked, frames: frames) ?? 1)
          / (Self.shareKept(stage.kind, other.key, frames: nil) ?? 1) : 1
      return sum + Double(other.value.bytes) * part
    }
    return (bytes * scale, others.values.reduce(0.0) { $0 + $1.cpuSeconds } * scale)
  }

  /// Which part of the bytes of a whole result parameters leave.
  ///
  /// - Parameter frames: of all; `nil`: not known, and the part of some is not told.
  private static func shareKept(
    _ kind: any Stage.Type, _ values: [String: JSONValue], frames: Double?
  ) -> Double? {
    var part = 1.0
    for parameter in kind.parameters {
      switch (parameter.sharedName?.parameter ?? parameter.name, values[parameter.name]) {
      case ("size", .string(let text)):
        if case .percent(let percent)? = PictureSizing(text) { part *= percent * percent / 1e4 }
      case ("every", .integer(let step)): part /= Double(max(1, step))
      case ("count", .integer(let count)):
        guard let frames else { return nil }
        part *= min(1, Double(count) / max(1, frames))
      case ("last", .integer), ("pick", .string("sharpest")), ("pick", .string("motion")):
        if frames == nil { return nil }
      default: break
      }
    }
    return part
  }

  private static func whole(_ bytes: Double) -> Int64 { Int64(min(max(0, bytes), 9e18)) }

  /// `needs about 0.7 GB (34 GB free), about 20 s`; without a time where no capture of a family tells of a stage, which is
  /// said: a guess is that of detailed pictures, of which flat ones take a third to a thirtieth. `nil`: nothing is needed.
  public var line: String? {
    let space = (try? FileSystemSpace(at: root)) ?? (try? FileSystemSpace(at: existingFolder))
    return line(free: space?.freeBytes)
  }

  /// - Parameter free: bytes that are free for it; `nil`: not known.
  func line(free: Int64?) -> String? {
    if Self.whole(bytes) == 0, cpuSeconds ?? 0 == 0 { return nil }
    let time =
      cpuSeconds.map { ", about \(DurationText.estimated(max(1, $0 / Double(cores))))" }
      ?? "; a guess: no result here tells of some of it, and pictures of little detail take much less"
    return "needs about \(ByteCount.text(Self.whole(bytes)))"
      + (free.map { " (\(ByteCount.text($0)) free)" } ?? "") + time
      + (free.flatMap(shortage).map { "; " + $0 } ?? "")
  }

  /// What is said where results tell that more is needed than is free, by more than a quarter: captures of one family
  /// differ. `nil`: it fits, or a part is a guess. The run starts all the same.
  private func shortage(_ free: Int64) -> String? {
    guard cpuSeconds != nil, let replaced else { return nil }
    let needed = max(bytes - Double(replaced), passing)
    guard needed > 1.25 * Double(free) else { return nil }
    let why =
      needed == passing
      ? ", as intermediates take \(ByteCount.text(Self.whole(passing))) for a while" : ""
    return
      "this does not fit\(why): free \(ByteCount.text(Self.whole(needed) - free)), choose another --output, or ask "
      + "for less; what fits is made, and the same command goes on from there"
  }

  /// The nearest folder above an output that is not made yet.
  private var existingFolder: FilePath {
    var folder = (try? FileSystem.absolute(root)) ?? root
    while !FileSystem.exists(folder), folder.lastComponent != nil {
      folder = folder.removingLastComponent()
    }
    return folder
  }
}

/// How much there is to read of captures. Folders that many captures share are listed once.
package struct CaptureSizes {
  package init() {}

  private var shared: [FilePath: [(name: String, bytes: Int64)]] = [:]

  /// Bytes of the capture's files; 0 where they cannot be looked at.
  package mutating func bytes(of capture: Recognition) -> Int64 {
    guard let stem = capture.stem else { return FolderSize(of: capture.path).bytes }
    let files = files(in: capture.folder)
    let low = files.partitioningIndex { !$0.name.utf8.lexicographicallyPrecedes(stem.utf8) }
    return files[low...].prefix { $0.name.utf8.starts(with: stem.utf8) }
      .reduce(0) { $0 + $1.bytes }
  }

  private mutating func files(in folder: FilePath) -> [(name: String, bytes: Int64)] {
    if let known = shared[folder] { return known }
    let names = ((try? FileSystem.names(in: folder)) ?? []).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    let root = try? EnclosedFolder(folder)
    let found = names.map { name in
      (name: name, bytes: root?.stamp(of: name)?.bytes ?? 0)
    }
    shared[folder] = found
    return found
  }
}
