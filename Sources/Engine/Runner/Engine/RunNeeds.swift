import Captures
import Core
import SystemPackage

/// What stages are expected to write and to take: per byte of a capture, what stages wrote and took for captures of the
/// same family in this output with the same parameters, else with others; for a family without any, by usual sizes, and
/// without a time. Files that an export shares with what it was made from count once. What a run says before it
/// starts, what a job says for which the disk is too small, and what a watcher waits for come from here.
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
  /// By family, stage and parameters.
  private var rates: [String: [String: [[String: JSONValue]: Rate]]] = [:]
  private var sizes = CaptureSizes()
  private var bytes = 0.0
  /// `nil`: not known of a capture that is to be processed.
  private var cpuSeconds: Double? = 0
  private var isNothing = true

  /// So many captures tell enough of a family.
  private static let mostLookedAt = 60
  /// Bytes of results per byte of a capture, for stages of which nothing is known.
  private static let usualRatios = ["decode-color": 3.0, "decompress-depth": 0.0]
  private static let usualRatio = 0.3

  /// Cost: some small files of at most 60 captures.
  public init(_ pipeline: PipelineDefinition, root: FilePath, cores: Int = 1) {
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
    let store = ArtifactStore(layout)
    var written: Set<Digest> = []
    for stage in pipeline.stages {
      guard let record = store.record(stage.name) else { continue }
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
  public mutating func add(_ capture: Recognition, _ stages: some Sequence<StageDefinition>) {
    let size = Double(sizes.bytes(of: capture))
    for stage in stages {
      isNothing = false
      let known = known(capture.family.rawValue, stage, ofBytes: size)
      // An intermediate is removed at the end.
      if stage.keep { bytes += known?.bytes ?? Self.usual(stage, ofBytes: size) }
      cpuSeconds = cpuSeconds.flatMap { seconds in known.map { seconds + $0.cpuSeconds } }
    }
  }

  /// What one stage is expected to write for a capture, whether that is kept or not.
  func bytes(of stage: StageDefinition, _ capture: Recognition) -> Int64 {
    var sizes = CaptureSizes()
    let size = Double(sizes.bytes(of: capture))
    return Self.whole(
      known(capture.family.rawValue, stage, ofBytes: size)?.bytes
        ?? Self.usual(stage, ofBytes: size))
  }

  /// What all stages, intermediates included, are expected to write for a capture of so many bytes, as far as captures of
  /// its family tell; 0: they tell nothing.
  public func knownBytes(_ family: String, ofBytes size: Int64) -> Int64 {
    let size = Double(max(0, size))
    return Self.whole(
      pipeline.stages.reduce(0.0) { $0 + (known(family, $1, ofBytes: size)?.bytes ?? 0) })
  }

  private static func usual(_ stage: StageDefinition, ofBytes size: Double) -> Double {
    (usualRatios[stage.kind.name] ?? usualRatio) * size
  }

  /// What captures of a family tell of a stage. Results that were made with other parameters count as far as it can be
  /// told how much larger or smaller these make them; those of some frames tell nothing of all.
  private func known(
    _ family: String, _ stage: StageDefinition, ofBytes size: Double
  ) -> (bytes: Double, cpuSeconds: Double)? {
    guard let all = rates[family]?[stage.name] else { return nil }
    let asked = stage.parameters.json
    let same = all[asked].map { [asked: $0] }
    let others = same ?? all.filter { Self.part(stage.kind, $0.key, frames: nil) != nil }
    let input = Double(others.values.reduce(0) { $0 + $1.input })
    if input == 0 { return nil }
    let scale = size / input
    let frames = Double(others.values.reduce(0) { $0 + $1.frames }) * scale
    let bytes = others.reduce(0.0) { sum, other in
      let part =
        same == nil
        ? (Self.part(stage.kind, asked, frames: frames) ?? 1)
          / (Self.part(stage.kind, other.key, frames: nil) ?? 1) : 1
      return sum + Double(other.value.bytes) * part
    }
    return (bytes * scale, others.values.reduce(0.0) { $0 + $1.cpuSeconds } * scale)
  }

  /// Which part of the bytes of a whole result parameters leave.
  ///
  /// - Parameter frames: of all; `nil`: not known, and the part of some is not told.
  private static func part(
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
  /// said: video that is decoded takes up to two hundred times its size. `nil`: nothing is to run.
  public var line: String? {
    if isNothing { return nil }
    let free = (try? FileSystemSpace(at: root)) ?? (try? FileSystemSpace(at: existingFolder))
    let time =
      cpuSeconds.map { ", about \(DurationText.estimated(max(1, $0 / Double(cores))))" }
      ?? "; a guess: some of it was never made here"
    return "needs about \(ByteCount.text(Self.whole(bytes)))"
      + (free.map { " (\(ByteCount.text($0.freeBytes)) free)" } ?? "") + time
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
