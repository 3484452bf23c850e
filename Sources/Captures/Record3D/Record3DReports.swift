import Core
import Media
import SystemPackage

extension Record3DCapture {
  private var family: String { CaptureFamily.record3D.rawValue }

  /// Warns of absent and damaged files.
  func reportFiles() {
    if case .absent(let why) = tables.color { warnings.add(.missingFile, "color", why) }
    if case .absent(let why) = tables.depth { warnings.add(.missingFile, "depth", why) }
    switch tables.metadata {
    case .missing(let why): warnings.add(.missingFile, "metadata", why)
    case .corrupt(let why): warnings.add(.corruptRecord, "metadata", why)
    case .unreadable, .read: break
    }
    for (stream, count) in tables.files.outsidePictures {
      warnings.addLinksOutside(stream, count, of: "pictures")
    }
    if tables.hasExchangedSides, let stated = tables.object?.depthSize {
      warnings.add(
        .sizeMismatch, "depth",
        "the metadata says \(stated.width)x\(stated.height), where color stands upright: dw and dh are "
          + "exchanged, \(stated.height)x\(stated.width) is used")
    }
    guard let archive = tables.files.archive else { return }
    warnings.add(
      .truncatedStream, family, count: archive.isCut ? 1 : 0,
      "the file was cut off before its directory; entries that are whole are read")
    warnings.add(
      .pathOutsideCapture, family, count: archive.hostile,
      "entries whose names lead out of the archive; not read"
        + (archive.firstHostile.map { ", the first is \($0)" } ?? ""))
    for doubled in archive.doubled {
      guard let stream = tables.files.stream(ofEntry: doubled) else { continue }
      warnings.add(.multipleStreams, stream, "\(doubled) is there again; the first is read")
    }
  }

  /// Number of frames that there should be pictures of.
  private var expected: Int { tables.object?.poses?.count ?? tables.numberCount }

  private var streams: [(report: StreamReport, files: NumberedFiles?)] {
    let files = tables.files
    return [("color", files.color), ("depth", files.depth), ("confidence", files.confidence)].map {
      (StreamReport($0, "the \($0) files", $1.value?.files), $1.value?.files)
    }
  }

  /// Warns of streams whose length differs from the number of poses, and of color and depth that differ.
  func reportLengths() {
    for (report, files) in streams {
      let present = Set(files?.files.map(\.number) ?? [])
      report.tell(
        "files", expected: expected, tables.object?.poses == nil ? "frames" : "poses",
        "paired by number" + LossWords.without((0..<expected).filter { !present.contains($0) })
          + doubt(tables.object?.poses?.count, "pose", upTo: tables.numberCount), to: warnings)
    }
    guard let color = streams[0].report.held, let depth = streams[1].report.held else { return }
    warnings.addDifference(color: color, "color files", depth: depth, "depth files")
  }

  /// Words about a list of the metadata that is too short, which does not say where an entry is missing.
  private func doubt(_ entries: Int?, _ noun: String, upTo frames: Int) -> String {
    guard let entries, entries < frames else { return "" }
    return "; if a \(noun) is missing before the end of the list, those behind it "
      + LossWords.shifted(frames - entries)
  }

  func reportTimes() {
    if case .unreadable = tables.metadata { return }
    guard frames.hasRecordedTimes else {
      let isTimed = frames.frames.contains { $0.timestamp != nil }
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no times are recorded"
          + (isTimed ? "; those of the frames follow from their numbers and the nominal rate" : ""))
      return
    }
    warnings.add(
      .timestampsMissing, "frames", count: frames.untimed,
      "frames without a recorded time"
        + doubt(tables.object?.times?.count, "time", upTo: frames.frames.count))
    warnings.add(
      .corruptRecord, "frames", count: frames.far, "times that are far away from all others")
    let times = frames.frames.compactMap(\.timestamp)
    let steps = TimeSteps(times)
    warnings.addOrder(of: steps, times: times.count)
    warnings.addGaps(steps, of: frames.frames.count, Record3DReader.description)
  }

  // MARK: Completeness

  /// Files that are named one by one at most.
  private static let mostNamed = 100

  var filesOfParts: [CapturePart: [FilePath]] {
    let files = tables.files
    let metadata = files.hasMetadata ? [files.metadataPath] : []
    func paths(_ stream: StreamState<StoredPictureFiles>) -> [FilePath] {
      stream.value?.paths ?? []
    }
    func joined(_ more: [FilePath]) -> [FilePath] {
      metadata + more.filter { !metadata.contains($0) }
    }
    let color = paths(files.color)
    let parts: [CapturePart: [FilePath]] = [
      // The metadata states how large pictures must be.
      .color: joined(color), .depth: joined(paths(files.depth)),
      .confidence: joined(paths(files.confidence)),
      .frames: joined(color + (files.archive == nil ? paths(files.depth) : [])),
      .poses: metadata, .intrinsics: joined(Array(color.prefix(1))),
      .calibration: joined(Array(color.prefix(1))),
    ]
    return parts.filter { part, paths in
      switch part {
      case .color: !color.isEmpty
      case .depth: files.depth.value != nil
      case .confidence: files.confidence.value != nil
      default: !paths.isEmpty
      }
    }
  }

  /// The app writes the metadata last; each pose has a color and a depth file.
  var completeness: UploadCompleteness {
    let files = tables.files
    let form = files.generation
    var missing: [String] = []
    var absent: [String] = []
    switch tables.metadata {
    case .missing(let why):
      absent.append(form.metadataName)
      if files.hasMetadata { missing.append("\(why).") }
    case .corrupt(let why): missing.append("\(why).")
    case .unreadable, .read: break
    }
    if files.archive?.isCut ?? false {
      missing.append("The file was cut off before its directory.")
    }
    let poses = tables.object?.poses?.count ?? 0
    for (stream, folder, ending) in [
      (files.color, form.colorFolder, Record3DGeneration.colorEnding),
      (files.depth, form.depthFolder, form.depthEnding),
    ] {
      let numbers = Set(stream.value?.files.files.map(\.number) ?? [])
      let holes = (0..<poses).filter { !numbers.contains($0) }
      absent += holes.prefix(Self.mostNamed).map { "\(folder)/\($0).\(ending)" }
      if holes.count > Self.mostNamed {
        missing.append("\(holes.count) files \(folder)/*.\(ending) are not there.")
      }
    }
    missing += absent.map { "\($0) is not there." }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  /// Adds claims about stream lengths: files and poses correspond by number.
  func claim(_ capture: inout Capture) {
    capture.claims.add(
      [StreamReport("poses", "the poses", tables.object?.poses?.count)] + streams.map(\.report))
  }
}

/// The entries of an `.r3d` file, read in place; of one that was packed again in a folder, those of that folder.
struct Record3DArchive: Record3DEntries {
  private let archive: ZIPArchive
  /// The first entry of each name that is one of a recording's.
  private let entries: [String: ZIPEntry]
  private let names: [String: [String]]
  /// Number of entries whose names lead outside.
  let hostile: Int
  /// An example of them.
  let firstHostile: String?
  /// Names of further entries with a name that an earlier one has.
  let doubled: [String]

  /// Whether the directory is lost: the file was cut off.
  var isCut: Bool { archive.isCut }

  init(_ path: FilePath) throws(CaptureError) {
    do throws(FileError) {
      let file = try MappedFile(path)
      archive = try Self.open(file)
    } catch {
      throw CaptureError(error, of: path)
    }
    let inner = Record3DGeneration.innerFolder(of: archive.entries)
    var entries: [String: ZIPEntry] = [:]
    var names: [String: [String]] = [:]
    var hostile: [String] = []
    var doubled: [String] = []
    for entry in archive.entries {
      let whole = String(decoding: entry.name, as: UTF8.self)
      if entry.hostility != nil {
        hostile.append(whole)
        continue
      }
      guard whole.hasPrefix(inner) else { continue }
      let name = String(whole.dropFirst(inner.count))
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      // Names of a recording are ASCII: what was repaired by decoding is none of them.
      guard parts.count <= 2, let inner = parts.last, !inner.isEmpty else { continue }
      if entries[name] != nil {
        doubled.append(name)
        continue
      }
      entries[name] = entry
      names[parts.count == 2 ? String(parts[0]) : "", default: []].append(String(inner))
    }
    self.entries = entries
    self.names = names
    self.hostile = hostile.count
    firstHostile = hostile.first
    self.doubled = doubled
  }

  private static func open(_ file: MappedFile) throws(FileError) -> ZIPArchive {
    do throws(ZIPError) {
      return try ZIPArchive(file)
    } catch {
      throw FileError(
        kind: .other, path: file.path, operation: "read", reason: error.what,
        remedy: "copy the file from the device again")
    }
  }

  func names(in folder: String) -> [String] { names[folder] ?? [] }

  func path(of name: String) -> FilePath { archive.path }

  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes {
    guard let entry = entries[name] else {
      throw CaptureError(file: archive.path, problem: "it has no entry \(PathText.shown(name))")
    }
    do throws(ZIPError) {
      return .bytes(try archive.content(of: entry, most: limit.most))
    } catch {
      return .none(
        FrameIssue(
          code: .corruptRecord,
          message: "\(PathText.shown(name)), byte \(error.byteOffset): \(error.what)"))
    }
  }
}
