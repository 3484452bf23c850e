import Core
import Engine
import Media
import SystemPackage

/// A frame of a published capture with the files of it that are packed.
struct PackedFrame {
  struct File {
    /// One of `PublishedFrames.columns`.
    var column: String
    var path: FilePath
    /// As recorded when it was published; `path` is relative to the stage.
    var entry: OutputEntry
    /// When it was recorded, in nanoseconds since 1970; `nil` where the record does not tell.
    var recordedNanoseconds: Int64?

    /// What follows the number of the frame in the name of the member: `.color.png`.
    var nameEnd: String { ".\(column).\(path.extension ?? "bin")" }

    /// The open file; `nil` where it is to be compared with its digest.
    func unchanged() throws(FileError) -> InputFile? {
      let file = try InputFile(path)
      return isUnchanged(file) ? file : nil
    }

    /// The content, which is what was published.
    func verified() throws -> [UInt8] {
      let file = try InputFile(path)
      let content = try file.whole(limit: InputLimits.bytesOfPicture)
      guard isUnchanged(file) || Digest(of: content) == entry.sha256 else { throw altered }
      return content
    }

    /// Whether size and time of the last change say that it is what was published.
    func isUnchanged(_ file: InputFile) -> Bool {
      guard let time = recordedNanoseconds else { return false }
      return file.count == entry.bytes && file.isUnchanged(sinceNanoseconds: time)
    }

    var altered: PackError {
      // A run compares digests only when it is asked to.
      PackError(
        "\(path.shown) is not what was published (its digest differs): run it again with --verify")
    }
  }

  var frame: Int
  var nanoseconds: Int64?
  var files: [File]
  /// Everything else that the tables say of it.
  var values: [String: JSONValue]
}

/// The samples of motion sensors of a published capture.
struct PublishedMotion {
  /// `imu.csv`.
  var file: PackedFrame.File
  /// `coremotion` or `android`: the sign of accelerations.
  var convention: String?

  /// `nil`: the stage has no table of samples, or its files were removed.
  init?(_ layout: OutputLayout, stage: String) throws {
    guard !PublishedFrames.isGone(stage, layout) else { return nil }
    let published = try PublishedFiles(of: stage, layout)
    guard let file = published.file("imu.csv", column: "imu") else { return nil }
    self.file = file
    guard try Digest(ofFileAt: file.path) == file.entry.sha256 else { throw file.altered }
    convention = published.record.signsOfAcceleration
  }
}

/// The frames of a published capture, from its tables, in order and one by one.
struct PublishedFrames {
  private let layout: OutputLayout
  private var frames: TableRows
  private var tables: [(name: String, rows: TableRows)] = []
  private let columns: [String]
  /// The stage that made masks, where its files are still there.
  private let masks: String?
  /// The published files of each stage, by name; stages are looked up once.
  private var published: [String: Result<PublishedFiles, PackError>] = [:]

  static let mask = "mask"
  /// The columns of `frames.csv` that name files, and masks, which lie under the number of the frame.
  static let columns = ["color", "depth", "confidence", "aligned", mask]

  /// What is packed of a frame: masks, unless pictures are chosen, only where they were made and kept.
  var packed: [String] {
    columns.filter { $0 != Self.mask || masks != nil || columns != Self.columns }
  }

  /// - Parameters:
  ///   - stage: the stage that made the tables.
  ///   - masks: the stage that made masks.
  ///   - columns: which files are packed.
  init(
    _ layout: OutputLayout, tables stage: String, masks: String?, columns: [String]
  ) throws {
    self.layout = layout
    self.columns = columns
    self.masks = masks.flatMap { Self.isGone($0, layout) ? nil : $0 }
    let files = try PublishedFiles(of: stage, layout)
    func rows(_ name: String) throws -> TableRows? {
      try files.file(name, column: "").map { try TableRows($0.path) }
    }
    guard let frames = try rows("frames.csv") else {
      throw PackError("\(stage) has no frames.csv")
    }
    self.frames = frames
    for (name, file) in [("intrinsics", "intrinsics.csv"), ("pose", "poses.csv")] {
      if let found = try rows(file) { tables.append((name, found)) }
    }
  }

  mutating func next() throws -> PackedFrame? {
    guard let row = try frames.next() else { return nil }
    var frame = PackedFrame(
      frame: row.frame, nanoseconds: row.values["timestamp_ns"].flatMap(Self.integer), files: [],
      values: row.values.filter { !Self.columns.contains($0.key) })
    frame.values["frame"] = .integer(Int64(row.frame))
    for column in columns {
      guard case .string(let text)? = row.values[column] else { continue }
      frame.files.append(try file(text, column))
    }
    if let masks, columns.contains(Self.mask), !frame.files.isEmpty {
      let mask = try files(of: masks).file(FrameFileName.name(row.frame), column: Self.mask)
      if let mask { frame.files.append(mask) }
    }
    for index in tables.indices {
      if let values = try tables[index].rows.values(ofFrame: row.frame) {
        // The time of the frame stands in its own row.
        frame.values[tables[index].name] = .object(values.filter { $0.key != "timestamp_ns" })
      }
    }
    return frame
  }

  private static func integer(_ value: JSONValue) -> Int64? {
    if case .integer(let number) = value { number } else { nil }
  }

  /// The file that a cell such as `color/000012.png` names.
  private mutating func file(_ text: String, _ column: String) throws -> PackedFrame.File {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw PackError("frames.csv names '\(text)', which is no file") }
    let (stage, name) = (parts[0], parts[1])
    guard let file = try files(of: stage).file(name, column: column) else {
      throw PackError("frames.csv names \(text), which \(stage) does not have: run it again")
    }
    return file
  }

  private mutating func files(of stage: String) throws -> PublishedFiles {
    let files =
      published[stage]
      ?? Result { () throws(PackError) in try PublishedFiles(of: stage, layout) }
    published[stage] = files
    return try files.get()
  }

  /// Whether what the stage made was removed, as it may be.
  static func isGone(_ stage: String, _ layout: OutputLayout) -> Bool {
    switch ArtifactStore(layout).published(stage, verify: false)?.state {
    case nil, .removed?: true
    default: false
    }
  }
}

/// The files that a stage published, all of them there.
private struct PublishedFiles {
  let record: ArtifactRecord
  private let folder: FilePath
  private let entries: [String: OutputEntry]
  private let recordedNanoseconds: Int64?

  init(of stage: String, _ layout: OutputLayout) throws(PackError) {
    guard let found = ArtifactStore(layout).published(stage, verify: false) else {
      throw PackError("\(stage) is not there: run it first")
    }
    switch found.state {
    case .intact: break
    case .removed: throw PackError("\(stage) was removed: run it again")
    case .missing(let names):
      throw PackError("\(stage): \(names.first ?? "a file") is missing: run it again")
    case .altered(let names):
      throw PackError(
        "\(stage): \(names.first ?? "a file") is not what was published: run it again")
    case .unsound(let problem): throw PackError("\(stage): \(problem)")
    }
    record = found.record
    folder = layout.artifact(stage)
    entries = Dictionary(found.record.outputs.map { ($0.path, $0) }) { first, _ in first }
    recordedNanoseconds = UTCText.nanoseconds(found.record.finished)
  }

  /// `nil` for a name that was not published.
  func file(_ name: String, column: String) -> PackedFrame.File? {
    entries[name].map { entry in
      PackedFrame.File(
        column: column, path: folder.pushing(FilePath(text: name)), entry: entry,
        recordedNanoseconds: recordedNanoseconds)
    }
  }
}

/// Why frames cannot be packed.
public struct PackError: Error, Hashable, CustomStringConvertible {
  public let text: String
  /// Whether another process is at work there.
  public let isLocked: Bool
  public var description: String { text }

  init(_ text: String, isLocked: Bool = false) { (self.text, self.isLocked) = (text, isLocked) }
}

/// The rows of a published table whose first column is the frame, in ascending order.
private struct TableRows {
  private var scanner: CSVScanner
  private let columns: [String]
  private var ahead: (frame: Int, values: [String: JSONValue])?

  init(_ path: FilePath) throws {
    scanner = try CSVScanner(path)
    guard try scanner.nextLine() else { throw PackError("\(path.shownName) is empty") }
    columns = (0..<scanner.cellCount).map { [scanner] in scanner.text(inCell: $0) }
  }

  mutating func next() throws -> (frame: Int, values: [String: JSONValue])? {
    if let row = ahead {
      ahead = nil
      return row
    }
    guard try scanner.nextLine() else { return nil }
    var values: [String: JSONValue] = [:]
    var frame: Int?
    for (index, column) in columns.enumerated()
    where index < scanner.cellCount && !scanner.isEmpty(cell: index) {
      let text = scanner.text(inCell: index)
      if column == "frame" {
        frame = Int(text)
      } else if let number = Int64(text) {
        values[column] = .integer(number)
      } else if let number = Double(text), number.isFinite {
        values[column] = .number(number)
      } else {
        values[column] = .string(text)
      }
    }
    guard let frame else { throw PackError("line \(scanner.lineNumber) names no frame") }
    return (frame, values)
  }

  /// The values of one frame; `nil` without a row. Frames are asked for in ascending order.
  mutating func values(ofFrame frame: Int) throws -> [String: JSONValue]? {
    while let row = try next() {
      if row.frame == frame { return row.values }
      if row.frame > frame {
        ahead = row
        return nil
      }
    }
    return nil
  }
}
