import Captures
import Core
import SystemPackage

/// What stages are expected to write and to take: per byte of a capture, what stages wrote and took for captures of the
/// same family in this output; for a family without any, by usual sizes, and without a time. What a run says before it
/// starts, what a job says for which the disk is too small, and what a watcher waits for come from here.
public struct RunNeeds: Sendable {
  private struct Rate {
    var input: Int64 = 0
    var bytes: Int64 = 0
    var cpuSeconds = 0.0
  }

  private let pipeline: PipelineDefinition
  private let root: FilePath
  private let cores: Int
  private var rates: [String: [String: Rate]] = [:]
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
    for stage in pipeline.stages {
      guard let record = store.record(stage.name) else { continue }
      var rate = rates[cache.family.rawValue]?[stage.name] ?? Rate()
      rate.input += input
      rate.bytes += record.outputs.reduce(0) { $0 &+ $1.bytes }
      rate.cpuSeconds += record.cpuSeconds
      rates[cache.family.rawValue, default: [:]][stage.name] = rate
    }
  }

  /// Counts stages of one capture that are to run.
  public mutating func add(_ capture: Recognition, _ stages: some Sequence<String>) {
    let size = Double(sizes.bytes(of: capture))
    for stage in stages.compactMap({ pipeline[$0] }) {
      isNothing = false
      // An intermediate is removed at the end.
      if stage.keep { bytes += expected(of: stage, capture.family, ofBytes: size) }
      let rate = rates[capture.family.rawValue]?[stage.name]
      cpuSeconds = cpuSeconds.flatMap { seconds in
        rate.map { seconds + $0.cpuSeconds / Double($0.input) * size }
      }
    }
  }

  /// What one stage is expected to write for a capture, whether that is kept or not.
  func bytes(of stage: StageDefinition, _ capture: Recognition) -> Int64 {
    var sizes = CaptureSizes()
    return Self.whole(
      expected(of: stage, capture.family, ofBytes: Double(sizes.bytes(of: capture))))
  }

  /// What all stages, intermediates included, are expected to write for a capture of so many bytes, as far as captures of
  /// its family tell; 0: they tell nothing.
  public func knownBytes(_ family: String, ofBytes size: Int64) -> Int64 {
    let ratio = pipeline.stages.reduce(0.0) { $0 + (known(family, $1) ?? 0) }
    return Self.whole(ratio * Double(max(0, size)))
  }

  private func known(_ family: String, _ stage: StageDefinition) -> Double? {
    rates[family]?[stage.name].map { Double($0.bytes) / Double($0.input) }
  }

  private func expected(
    of stage: StageDefinition, _ family: CaptureFamily, ofBytes size: Double
  ) -> Double {
    let usual = Self.usualRatios[stage.kind.name] ?? Self.usualRatio
    return (known(family.rawValue, stage) ?? usual) * size
  }

  private static func whole(_ bytes: Double) -> Int64 { Int64(min(max(0, bytes), 9e18)) }

  /// `needs about 0.7 GB (34 GB free), about 20 s`; `nil`: nothing is to run.
  public var line: String? {
    if isNothing { return nil }
    let free = (try? FileSystemSpace(at: root)) ?? (try? FileSystemSpace(at: existingFolder))
    let time = cpuSeconds.map { ", about \(DurationText.estimated(max(1, $0 / Double(cores))))" }
    return "needs about \(ByteCount.text(Self.whole(bytes)))"
      + (free.map { " (\(ByteCount.text($0.freeBytes)) free)" } ?? "") + (time ?? "")
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
