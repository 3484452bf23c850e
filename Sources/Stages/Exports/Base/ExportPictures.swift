import Media
import Core
import Engine
import Processing
import SystemPackage

/// The picture files of an artifact by canonical frame, with their entries in its record.
struct ExportPictures {
  /// The stage that made the pictures.
  let stage: String
  let record: ArtifactRecord
  private let folder: HeldFolder
  private let path: FilePath
  /// Entries by frame.
  private let entries: [Int: OutputEntry]
  /// The frames that were requested from the stage, or from the stage whose pictures it re-encoded.
  private let selection: FrameSelection
  /// The frames that the stage `color` selects, where the stage follows it.
  private let colorSelection: FrameSelection

  init(_ input: InputArtifact) throws {
    stage = input.stage
    record = input.record
    path = input.folder
    folder = try HeldFolder.following(input.folder)
    entries = FrameFileName.pictures(in: input.record)
    selection = Self.selection(input.record)
    colorSelection = Self.selection(record.parameters, CommonParameters.followed)
  }

  func has(_ frame: Int) -> Bool { entries[frame] != nil }

  /// Whether a frame has no picture only because its stage was set to leave it out.
  func isSkipped(_ frame: Int) -> Bool {
    entries[frame] == nil && !(selection.contains(frame) && colorSelection.contains(frame))
  }

  private static func selection(_ record: ArtifactRecord) -> FrameSelection {
    if let picked = PickedFrames(record) { return FrameSelection(only: Set(picked.frames)) }
    var values = record.parameters
    if case .object(let passedOn)? = record.recorded[selectionKey] { values = passedOn }
    return selection(values, CommonParameters.selection)
  }

  /// - Parameter parameters: `every`, `first` and `last`, whatever their names.
  private static func selection(
    _ values: [String: JSONValue], _ parameters: [ParameterDescription]
  ) -> FrameSelection {
    let numbers = parameters.map { values[$0.name]?.whole }
    return FrameSelection(every: numbers[0] ?? 1, first: numbers[1] ?? 0, last: numbers[2])
  }

  /// The key under which inner stages record the selection of the color stage.
  private static let selectionKey = "selection"

  /// What an inner stage that re-encodes these pictures records about them.
  var toRecord: [String: JSONValue] {
    var recorded = sizesToRecord
    recorded.merge(PublishedShape(record)?.recorded ?? [:]) { first, _ in first }
    if let picked = PickedFrames(record) {
      recorded.merge(picked.recorded) { first, _ in first }
    } else if selection != FrameSelection() {
      var values: [String: JSONValue] = [
        "every": .integer(Int64(selection.every)), "first": .integer(Int64(selection.first)),
      ]
      values["last"] = selection.last.map { .integer(Int64($0)) }
      recorded[Self.selectionKey] = .object(values)
    }
    return recorded
  }

  /// Frames with a picture, ascending.
  var frames: [Int] { entries.keys.sorted() }

  var isEmpty: Bool { entries.isEmpty }

  /// Name, size and digest of a frame's file.
  private func entry(_ frame: Int) throws -> OutputEntry {
    guard let entry = entries[frame] else { throw missing(frame) }
    return entry
  }

  /// Path of a frame's file.
  func file(_ frame: Int) throws -> FilePath { path.appending(try entry(frame).path) }

  /// `png` or `jpg`; `nil` without a picture.
  func ending(_ frame: Int) -> String? {
    entries[frame].map { $0.path.hasSuffix(".jpg") ? "jpg" : "png" }
  }

  /// The bytes of a frame's file. Throws if its size differs from the recorded one.
  func bytes(_ frame: Int) throws -> [UInt8] {
    let entry = try entry(frame)
    guard let size = Int(exactly: entry.bytes), let bytes = try read(entry.path, size) else {
      throw missing(frame)
    }
    guard bytes.count == size else {
      throw FileError(
        kind: .changedWhileReading, path: path.appending(entry.path), operation: "read",
        reason: "has \(bytes.count) bytes, its artifact says \(entry.bytes)",
        remedy: "run the stage '\(stage)' again")
    }
    return bytes
  }

  /// Reads up to one byte more than `size`, so that a file that has grown is detected.
  private func read(_ name: String, _ size: Int) throws -> [UInt8]? {
    guard let file = try folder.openFile(name) else { return nil }
    defer { try? file.close() }
    do {
      return try [UInt8](unsafeUninitializedCapacity: size + 1) { buffer, filled in
        while filled < size + 1 {
          let rest = UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: buffer[filled...]))
          let count = try file.read(into: rest)
          if count == 0 { break }
          filled += count
        }
      }
    } catch {
      throw FileError(
        error, path: path.appending(name), operation: "read")
    }
  }

  /// The color picture of a frame, decoded. Throws for pictures of 16 bits.
  func color(_ frame: Int) throws -> ColorImage {
    try PublishedLight.checkEightBits(PublishedLight(record), of: stage)
    return try StillImage.read(file(frame)).picture
  }

  /// The picture for measuring, also if it has 16 bits.
  func look(_ frame: Int) throws -> ColorImage {
    try PublishedLight.look(file(frame), PublishedLight(record))
  }

  /// The depth picture of a frame, decoded: millimeters.
  func depth(_ frame: Int) throws -> DepthImage {
    try PNGReader.depth(at: file(frame))
  }

  /// An 8-bit gray picture of a frame, decoded.
  func gray(_ frame: Int) throws -> GrayImage {
    try PNGReader.gray(at: file(frame))
  }

  /// Adds the unchanged file of a frame to `staging`.
  func share(
    _ frame: Int, into staging: StagingFolder, as name: String, by ways: [FileSharing]
  ) throws -> FileSharing {
    let entry = try entry(frame)
    return try staging.share(entry.path, in: folder, entry, as: name, by: ways)
  }

  private func missing(_ frame: Int) -> StageFailure {
    StageFailure("'\(stage)' has no picture of frame \(frame), which it had a moment ago")
  }
}

extension ExportPictures {
  /// Makes pictures of `color/` anew in another form: from their video if that is as good, else from their files.
  ///
  /// - Parameters:
  ///   - frames: those whose pictures are made.
  ///   - write: writes the picture of a frame; called by any thread.
  func remake<Scratch: ~Copyable>(
    _ frames: [Int], _ context: StageContext, makeScratch: @Sendable () throws -> Scratch,
    write:
      @Sendable (_ frame: Int, _ rgb: [UInt8], _ width: Int, _ height: Int, inout Scratch)
      throws -> Void
  ) throws -> StageResult {
    context.progress.expect(self.frames.count)
    let redecoder = try ColorRedecoder(context, record, frames: frames)
    let done = try redecoder?.pull(makeScratch: makeScratch, work: write) ?? []
    try context.each(
      frames.filter { !done.contains($0) },
      { (frame: Int, scratch: inout Scratch) in
        let picture = try color(frame)
        try write(frame, picture.rgb, picture.width, picture.height, &scratch)
      }, makeScratch: makeScratch)
    var result = StageResult(frames: self.frames.count, recorded: toRecord)
    // The decoder's own threads are not counted for any worker.
    result.externalCPUSeconds = redecoder?.decoder.threadCPUSeconds ?? 0
    return result
  }
}
