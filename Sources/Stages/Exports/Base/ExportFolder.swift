import Captures
import Media
import Core
import Engine
import Synchronization

/// The folder of an export: the writing that all formats share.
package final class ExportFolder: Sendable {
  package let context: StageContext
  private let ways: [FileSharing]
  /// Number of files by how they were shared.
  private let shared = Mutex<[FileSharing: Int]>([:])

  init(_ context: StageContext) {
    self.context = context
    ways = ExportParameters.ways(context.parameters)
  }

  /// Adds the unchanged file of a frame. Called by any thread.
  func share(_ pictures: ExportPictures, _ frame: Int, as name: String) throws {
    let way = try pictures.share(frame, into: context.staging, as: name, by: ways)
    shared.withLock { $0[way, default: 0] += 1 }
  }

  package func write(_ text: String, as name: String) throws {
    try context.staging.write(Array(text.utf8), as: name)
  }

  package func write(_ bytes: [UInt8], as name: String) throws {
    try context.staging.write(bytes, as: name)
  }

  /// Creates a file that is written in pieces.
  func create(_ name: String) throws -> StagedFile { try context.staging.create(name) }

  /// Writes the pictures of `frames` in the requested form, on all cores if any has to be encoded.
  ///
  /// - Parameter name: the name of a frame's file, given the index in `frames`, the frame and the
  ///   extension (`png`, `jpg`).
  /// - Returns: the names, by index in `frames`.
  func writePictures(
    _ pictures: ExportPictures, _ frames: [Int], _ form: PictureForm,
    name: @Sendable (_ position: Int, _ frame: Int, _ ending: String) -> String
  ) throws -> [String] {
    context.progress.expect(frames.count)
    let names = frames.enumerated().map { position, frame in
      name(position, frame, form.ending(of: frame, pictures))
    }
    let encoded = frames.indices.filter { form.encodes(frames[$0], pictures) }
    for position in frames.indices where !form.encodes(frames[position], pictures) {
      try context.cancellation.check()
      try share(pictures, frames[position], as: names[position])
      context.progress.advance()
    }
    try encode(encoded) { position, scratch in
      let picture = try pictures.color(frames[position])
      try scratch.writer.encode(
        rgb: picture.rgb, width: picture.width, height: picture.height, into: &scratch.file)
      try context.staging.write(scratch.file, as: names[position])
    } makeScratch: {
      EncodingScratch(writer: try PictureWriter(form, context.parameters))
    }
    return names
  }

  /// Shares the unchanged files of `frames`. Returns the names, by index.
  func sharePictures(
    _ pictures: ExportPictures, _ frames: [Int],
    name: (_ position: Int, _ frame: Int, _ ending: String) -> String
  ) throws -> [String] {
    try frames.enumerated().map { position, frame in
      try context.cancellation.check()
      let name = name(position, frame, pictures.ending(frame) ?? "png")
      try share(pictures, frame, as: name)
      return name
    }
  }

  /// Calls `work` for each of `positions` on all cores of the budget; at most one per core is in
  /// memory.
  package func encode<Scratch: ~Copyable>(
    _ positions: [Int], _ work: @Sendable (Int, inout Scratch) throws -> Void,
    makeScratch: @Sendable () throws -> Scratch
  ) throws {
    let turn = Atomic<Int>(0)
    try pullFrames(
      workers: context.workers, budget: context.budget, makeScratch: makeScratch,
      next: { _ in
        try context.cancellation.check()
        let index = turn.add(1, ordering: .relaxed).oldValue
        return index < positions.count ? positions[index] : nil
      },
      work: { position, scratch in
        try work(position, &scratch)
        context.progress.advance()
      })
  }

  /// Writes `frames.csv`, `export.json` and `README.txt`, last of all.
  ///
  /// - Parameter content: what the export contains; its assumptions are determined here, for every
  ///   format.
  package func finish(
    _ manifest: ExportManifest, _ readme: ExportReadme, _ content: ExportContent
  ) throws -> StageResult {
    var (manifest, readme) = (manifest, readme)
    let found = AssumptionFinder(content).all
    manifest.assume(found.map(\.assumption))
    if let offset = TimeOffsetText.measured(context) { manifest.more["timeOffset"] = offset }
    readme.assume(found.map(\.sentence))
    if content.poses == .recorded { readme.conventions.append(Self.origin(of: content.capture)) }
    readme.remarks += ExportRemarks.all(content)
    let canonical = context.capture.frames.count
    if let frames = manifest.frames {
      if let warning = frames.nothingLeft(context) { context.warnings.add(warning) }
      try writeFrames(frames, manifest.names)
    }
    let ways = shared.withLock { $0 }
    // The most expensive method used: users must know it before they change a file in place.
    let way = [FileSharing.copy, .link, .clone].first { ways[$0, default: 0] > 0 }
    let json = manifest.json(
      stage: context.stage, canonicalFrames: canonical, shared: way?.rawValue)
    try write(JSONText.pretty(json), as: "export.json")
    try write(
      readme.text(manifest, canonicalFrames: manifest.frames == nil ? nil : canonical),
      as: "README.txt")
    return StageResult(frames: manifest.frames?.frames.count ?? 0)
  }

  /// Where poses come from.
  private static func origin(of capture: Capture) -> String {
    switch capture.world {
    case .zUp: "The poses are those that the scene was released with."
    case .yUp: "The poses are what the app tracked, not a reference."
    case .firstCamera:
      "The poses are what the app tracked, not a reference. Their world is that of the first camera: which way is up "
        + "is not known."
    }
  }

  private func writeFrames(_ frames: ExportFrames, _ names: [String]) throws {
    var table = try TableFile("frames.csv", ["frame", "timestamp_ns", "name"], context.staging)
    for (position, frame) in frames.frames.enumerated() {
      table.csv.field(frame)
      table.csv.field(context.capture.frames[frame].pictureTime?.nanoseconds)
      table.csv.field(names.indices.contains(position) ? names[position] : "")
      try table.endRow()
    }
    try table.finish()
  }
}

/// The buffers of one worker.
struct EncodingScratch: ~Copyable {
  var writer: PictureWriter
  var file: [UInt8] = []
}
