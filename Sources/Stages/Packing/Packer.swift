import Captures
import Core
import Engine
import FoundationEssentials
import Media
import SystemPackage

/// Packs published frames of many captures into shards.
///
/// Files go as they were published: unchanged since they were recorded, or compared with their digest; only depth and
/// confidence in HDF5 become arrays. What lies where follows from the published records alone, so that the same
/// results give the same bytes, and a shard that an earlier call finished is left as it is. Memory does not depend on
/// the number of captures: samples of one shard for each part.
public struct Packer: Sendable {
  public enum Format: String, CaseIterable, Sendable {
    case webdataset, hdf5

    /// The end of the names of shards.
    var nameEnd: String { self == .webdataset ? ".tar" : ".h5" }

    /// What the index says that it is; the first one is that of the library `wids`.
    var kind: String {
      self == .webdataset ? "wids-shard-index-v1" : "scanmill-hdf5-index-v1"
    }
  }

  public var root: FilePath
  public var into: FilePath
  /// The kinds of stages that make what is packed.
  private let makers: [ArtifactContent: [String]]
  public var format = Format.webdataset
  /// Which of the pictures are packed; those of `PublishedFrames.columns`.
  public var columns = Self.columns
  /// `nil`: one part, `all`.
  public var split: FrameSplit?
  /// A shard ends before the sample that would make it larger, and after `samplesOfShard`.
  public var shardBytes: Int64 = 1_000_000_000

  public static let columns = PublishedFrames.columns
  static let samplesOfShard = 10_000
  static let indexName = "index.json"
  private static let readmeName = "README.txt"

  /// Conventions of `docs/outputs.md`, for whoever has only the data set.
  private var readme: String { format == .webdataset ? Self.ofTar : Self.ofHDF5 }

  private static let ofHDF5 = """
    Frames of captures, packed by scanmill for HDF5.

    PART-NNNNNN.h5      a group for each capture, named after its id; a large capture may go on in the next file
    index.json          the files; complete is false while some frames could not be packed

    In a group, one row for each frame:
    color               the published picture (PNG, JPEG) as bytes: cv2.imdecode(group["color"][i], -1)
    depth, aligned      uint16, millimeters along the optical axis, 0 = none; aligned lies on the grid of color
    confidence          uint8, as the app states it
    has_color, ...      1 where the frame has that picture
    frame, timestamp_ns number of the frame; time on the capture's own clock
    poses               4x4, world from camera, meters; camera x right, y down, z forward; NaN = none
    intrinsics          3x3, of color, pixels, pixel centers at integers; NaN = none
    json                everything else that is known of the frame

    imu/SENSOR          timestamp_ns and values of all samples of the capture, in every file that has frames of it;
                        convention is coremotion (at rest, face up: z = -9.81) or android (+9.81). The units hold
                        unless the capture has the warning implausible-unit.

    What a capture does not have is absent.

    """

  private static let ofTar = """
    Frames of captures, packed by scanmill for WebDataset.

    PART-NNNNNN.tar   samples: KEY.color.*, KEY.depth.png, KEY.confidence.png, KEY.aligned.png, KEY.json
    PART-NNNNNN.csv   its members: capture, offset and bytes of the content, SHA-256
    index.json        the shards, for the library wids; complete is false while some could not be packed

    depth and aligned   16 bits, millimeters along the optical axis, 0 = none; aligned lies on the grid of color
    confidence          8 bits, as the app states it
    KEY.json            timestamp_ns is on the capture's own clock; intrinsics are of color, in pixels, pixel centers at
                        integers; pose is world from camera: tx ty tz in meters, quaternion qx qy qz qw, camera axes
                        x right, y down, z forward. What a capture does not have is absent.

    """

  private var readmeOfMasks: String {
    let name = format == .webdataset ? " (KEY.mask.png)" : ""
    return "mask                8 bits on the grid of color\(name): 255 is to be used, 0 is not\n"
  }

  public init(root: FilePath, into: FilePath, stages: StageRegistry) {
    self.root = root
    self.into = into
    makers = Dictionary(
      uniqueKeysWithValues: [.tables, .maskImages, .imuTables].map {
        ($0, stages.names(making: $0))
      })
  }

  /// The stage of a capture that makes this content.
  private func stage(_ content: ArtifactContent, of row: CaptureRow) -> String? {
    let makers = makers[content] ?? []
    return row.stages.first { makers.contains($0.uses) }?.stage
  }

  /// What was done. The counts are of what lies in the shards now.
  public struct Outcome: Sendable, Encodable {
    public var captures = 0
    public var samples = 0
    public var bytes: Int64 = 0
    /// Samples and shards by the name of the part.
    public var parts: [String: Part] = [:]
    public var shardsWritten = 0
    /// Shards of an earlier call that hold what they should.
    public var shardsKept = 0
    /// Shards of an earlier call that are no part of the set any more, and were removed.
    public var shardsRemoved = 0
    /// Frames that are in no part, because they lie at the border of two.
    public var framesBetweenParts = 0
    /// Samples that have other pictures but not this one, by its name.
    public var samplesWithout: [String: Int] = [:]
    public var problems: [Problem] = []

    public struct Part: Sendable, Encodable {
      public var samples = 0
      public var shards = 0
    }

    public struct Problem: Sendable, Encodable {
      public var capture: String
      /// `nil`: nothing of the capture is packed.
      public var sample: String?
      public var message: String
    }
  }

  /// The index of all shards, `index.json`: readable by the library `wids`, and what the next call compares with.
  private struct Index: Codable {
    struct Shard: Codable {
      var url: String
      var part: String
      var nsamples: Int
      var filesize: Int64
      /// The digest of names and contents that were to be in it; `nil` where some could not be packed, which the next call
      /// tries again.
      var plan: Digest?
    }

    var kind: String
    var version = 1
    var name: String
    var split: String?
    /// `false` until all that was asked for is there.
    var complete = false
    var shards: [Shard] = []

    enum CodingKeys: String, CodingKey {
      case kind = "__kind__"
      case version = "wids_version"
      case shards = "shardlist"
      case name, split, complete
    }
  }

  /// Packs captures, in the order of their ids. Throws what concerns the folder: everything that concerns one capture or
  /// sample is told in the outcome, and the others are packed.
  ///
  /// - Parameters:
  ///   - rows: captures of the output that are done.
  ///   - progress: is told the number of captures so far.
  public func pack(
    _ rows: [CaptureRow], progress: (Int) -> Void = { _ in }
  ) throws -> Outcome {
    let folder = try HeldFolder.making(following: into)
    guard
      let lock = try FileLock(
        in: folder, name: ".lock", holder: "scanmill pack", keepWaiting: { _ in false })
    else { throw PackError("\(into.shown): another scanmill pack writes there", isLocked: true) }
    defer { withExtendedLifetime(lock) {} }
    var work = try Work(self, folder)
    for (place, row) in rows.sorted(by: { $0.id < $1.id }).enumerated() {
      try work.add(row)
      progress(place + 1)
    }
    return try work.finish()
  }

  /// The state of one call.
  private struct Work {
    let packer: Packer
    let folder: HeldFolder
    /// What an earlier call wrote, by name.
    var known: [String: Index.Shard] = [:]
    var index: Index
    var outcome = Outcome()
    /// The shard of each part that is being filled.
    var open: [String: Shard] = [:]
    private var hasMasks = false

    init(_ packer: Packer, _ folder: HeldFolder) throws {
      self.packer = packer
      self.folder = folder
      for part in packer.split?.shares.names ?? [] { outcome.parts[part] = .init() }
      index = Index(
        kind: packer.format.kind, name: packer.root.lastComponent?.string ?? "scanmill",
        split: packer.split?.text)
      let names = try folder.names()
      if names.contains(Packer.indexName) {
        let text = Data(try folder.contents(of: Packer.indexName, limit: 1 << 30) ?? [])
        guard let found = try? JSONDecoder().decode(Index.self, from: text) else {
          throw PackError(
            "\(packer.into.shown): index.json is not one of scanmill pack; name another folder")
        }
        guard found.kind == index.kind else {
          throw PackError(
            "\(packer.into.shown) holds a data set of another format; name another folder")
        }
        known = Dictionary(found.shards.map { ($0.url, $0) }) { first, _ in first }
      } else {
        // A first call that was killed before its first shard left no more than that.
        guard names.allSatisfy({ [".lock", Packer.readmeName].contains($0) || Self.isOurs($0) })
        else {
          throw PackError(
            "\(packer.into.shown) holds other files; name a folder that is new or empty")
        }
      }
      for name in names where name.hasSuffix(Self.unfinished) { try folder.remove(name) }
    }

    static let unfinished = ".part"

    /// `train-000012.tar`, its list, or the unfinished form of one.
    static func isOurs(_ name: String) -> Bool {
      let stem = name.prefix { $0 != "." }
      let ends = Format.allCases.flatMap { [$0.nameEnd, $0.nameEnd + unfinished] }
      return (ends + [".csv"]).contains(String(name.dropFirst(stem.count)))
        && stem.count > 7 && stem.suffix(6).allSatisfy(\.isNumber)
        && stem.dropLast(6).last == "-"
    }

    mutating func add(_ row: CaptureRow) throws {
      do {
        guard let tables = packer.stage(.tables, of: row) else {
          throw PackError("it has no tables: run the default pipeline first")
        }
        let layout = OutputLayout(root: packer.root, name: row.id)
        guard !FileLock.isHeld(at: layout.lock) else {
          throw PackError("a run works on it: pack it again afterwards")
        }
        var frames = try PublishedFrames(
          layout, tables: tables, masks: packer.stage(.maskImages, of: row),
          columns: packer.columns)
        var motion: PublishedMotion?
        if packer.format == .hdf5, let stage = packer.stage(.imuTables, of: row) {
          motion = try PublishedMotion(layout, stage: stage)
        }
        var split: FrameSplit.OfCapture?
        var isFirst = true
        var packed = 0
        while let frame = try frames.next() {
          if isFirst {
            split = packer.split?.parts(of: row, from: frame.nanoseconds)
            isFirst = false
          }
          guard !frame.files.isEmpty else { continue }
          guard
            let part = split.map({ $0.part(ofFrame: frame.frame, at: frame.nanoseconds) }) ?? "all"
          else {
            outcome.framesBetweenParts += 1
            continue
          }
          try add(frame, motion, of: row, to: part, columns: frames.packed)
          packed += 1
        }
        guard packed > 0 || outcome.framesBetweenParts > 0 else {
          throw PackError("none of its frames has a picture that is packed")
        }
        outcome.captures += 1
      } catch let error as PackError {
        outcome.problems.append(.init(capture: row.id, message: error.text))
      } catch let error as FileError where !error.path.starts(with: folder.path) {
        outcome.problems.append(.init(capture: row.id, message: "\(error)"))
      }
    }

    private mutating func add(
      _ frame: PackedFrame, _ motion: PublishedMotion?, of row: CaptureRow, to part: String,
      columns: [String]
    ) throws {
      let number = outcome.parts[part, default: .init()].samples
      if frame.files.contains(where: { $0.column == PublishedFrames.mask }) { hasMasks = true }
      var values = frame.values
      values["capture"] = .string(row.id)
      if let family = row.family { values["family"] = .string(family) }
      let sample = Shard.Sample(
        key: number.padded(6), capture: row.id, files: frame.files,
        json: try JSONText.canonical(JSONValue.object(values)), motion: motion)
      if let shard = open[part], !shard.samples.isEmpty,
        shard.bytes + sample.bytes > packer.shardBytes
          || shard.samples.count >= Packer.samplesOfShard
      {
        try close(part)
      }
      open[part, default: Shard()].add(sample)
      for column in columns where !frame.files.contains(where: { $0.column == column }) {
        outcome.samplesWithout[column, default: 0] += 1
      }
      outcome.parts[part, default: .init()].samples += 1
    }

    /// Writes the shard of a part, or finds that it is there.
    private mutating func close(_ part: String) throws {
      guard let shard = open.removeValue(forKey: part), !shard.samples.isEmpty else { return }
      let stem = "\(part)-" + outcome.parts[part, default: .init()].shards.padded(6)
      let name = stem + packer.format.nameEnd
      outcome.parts[part, default: .init()].shards += 1
      let digest = shard.digest
      var entry = Index.Shard(
        url: name, part: part, nsamples: shard.samples.count, filesize: shard.bytes, plan: digest)
      if let old = known[name], old.plan == digest,
        folder.status(of: name)?.bytes == old.filesize,
        packer.format != .webdataset || folder.status(of: stem + ".csv") != nil
      {
        outcome.shardsKept += 1
        entry.filesize = old.filesize
      } else {
        let skipped = try write(shard, stem)
        outcome.shardsWritten += 1
        entry.filesize = folder.status(of: name)?.bytes ?? 0
        if skipped > 0 {
          entry.plan = nil
          entry.nsamples -= skipped
        }
        // A run that is killed from here on resumes at this shard.
        var soFar = index
        soFar.shards = (soFar.shards + [entry] + known.values.filter { $0.url != name })
        try write(soFar)
      }
      outcome.samples += entry.nsamples
      outcome.bytes += entry.filesize
      known[name] = nil
      index.shards.append(entry)
    }

    /// Writes the file and its list of members; the number of samples that could not be packed.
    private mutating func write(_ shard: Shard, _ stem: String) throws -> Int {
      let name = stem + packer.format.nameEnd
      let unfinished = name + Self.unfinished
      let file = try folder.create(unfinished)
      defer { try? file.close() }
      var problems: [Outcome.Problem] = []
      // A shard of an earlier call is replaced as a whole: its list goes first, so that no list tells of other bytes.
      if folder.status(of: stem + ".csv") != nil { try folder.remove(stem + ".csv") }
      let path = folder.path.appending(unfinished)
      let skipped = { (sample: Shard.Sample, error: PackError) in
        problems.append(.init(capture: sample.capture, sample: sample.key, message: error.text))
      }
      guard packer.format == .webdataset else {
        try shard.writeHDF5(to: file, at: path, skipped: skipped)
        try folder.rename(unfinished, to: folder, as: name)
        outcome.problems += problems
        return problems.count
      }
      let members = try shard.writeTar(to: file, at: path, skipped: skipped)
      outcome.problems += problems
      var table = CSVWriter(
        columns: ["member", "capture", "offset_bytes", "bytes", "sha256"])
      for member in members {
        table.row(
          member.name, member.capture, member.offset, member.entry.bytes, member.entry.sha256.hex)
      }
      try folder.rename(unfinished, to: folder, as: name)
      try folder.replace(stem + ".csv", with: table.drain())
      return problems.count
    }

    private func write(_ index: Index) throws {
      var sorted = index
      sorted.shards.sort { $0.url < $1.url }
      try folder.replace(Packer.indexName, with: try JSONText.pretty(sorted))
    }

    mutating func finish() throws -> Outcome {
      for part in open.keys.sorted() { try close(part) }
      index.complete = outcome.problems.isEmpty
      try folder.replace(
        Packer.readmeName,
        with: Array((packer.readme + (hasMasks ? packer.readmeOfMasks : "")).utf8))
      try write(index)
      // Shards that the set no longer has would be read by whoever reads `train-*.tar`.
      let end = packer.format.nameEnd
      let names = Set(index.shards.flatMap { [$0.url, $0.url.dropLast(end.count) + ".csv"] })
      for name in try folder.names() where Self.isOurs(name) && !names.contains(name) {
        try folder.remove(name)
        if name.hasSuffix(end) { outcome.shardsRemoved += 1 }
      }
      try folder.flush()
      return outcome
    }
  }
}

extension FrameSplit {
  /// The parts of a capture whose first frame has this time.
  func parts(of row: CaptureRow, from nanoseconds: Int64?) -> OfCapture {
    let name: String? =
      switch way {
      case .scene: row.sceneInfo.label.map { "scene \($0)" }
      case .device: row.deviceInfo.id.map { "device \($0)" }
      case .capture, .blocks, .every: nil
      }
    return OfCapture(split: self, key: name ?? "capture \(row.id)", firstNanoseconds: nanoseconds)
  }
}
