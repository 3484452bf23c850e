import Captures
import Core
import FoundationEssentials
import SystemPackage

/// `.upload.json` in the folder of a capture: what an upload server notes about the files that it has received there,
/// with what its journal adds (`UploadJournal`).
///
/// Whoever can write into STAGING can write it, so nothing of it is believed that the folder contradicts, and every
/// number, name and time is checked. One that does not pass is damaged as a whole. Only what counts for a decision is
/// asked for: notes of other servers may have less than `UploadManifest`.
public struct UploadRecord: Hashable, Sendable {
  public struct File: Hashable, Sendable {
    /// The path in the capture's folder, which may have one folder level.
    public var name: String
    /// `nil`: not noted.
    public var bytes: Int64?
    public var state: State
    /// The file's time of modification when its digest was compared, in nanoseconds since 1970; `nil`: not noted.
    var modifiedNanoseconds: Int64?
    /// The digest of what was received, in lower-case hex digits; `nil`: not noted.
    var sha256: String?
  }

  /// What is known of the content of a file.
  public typealias State = UploadManifest.FileState

  /// What was found in a folder.
  public enum Reading: Hashable, Sendable {
    case absent
    case record(UploadRecord)
    /// Why it cannot be used.
    case damaged(String)
  }

  /// The id that the sender gave, which two folders share when one of them is a twin; `nil`: not noted.
  public var capture: String?
  /// The server has everything, by the rule of the family or by the word of the sender.
  public var isComplete: Bool
  /// Names that it waits for.
  public var missing: [String]
  /// Processing was requested after the last file came.
  public var isProcessRequested: Bool
  public var files: [File]

  /// A capture of 100,000 files, with digests, names and the programs that sent them.
  private static let limit = InputLimit(
    "bytes of \(UploadManifest.fileName)", most: UploadManifest.mostBytes,
    "it is held in memory several times over")
  private static let longestName = 1_024

  /// Reads the record of a folder. No link is followed out of it. Cost: two looks by name where there is none, else
  /// the files.
  public static func read(in root: EnclosedFolder) -> Reading {
    do {
      // Before the manifest, which may be replaced meanwhile.
      let journal = try contents(of: UploadJournal.fileName, in: root)
      guard let (bytes, path) = try contents(of: UploadManifest.fileName, in: root) else {
        return .absent
      }
      let document = try LooseJSON.decode(Document.self, from: bytes, of: path)
      let added = journal.map { bytes, path in
        // A line that was cut was not acknowledged.
        UploadJournal.lines(in: bytes).compactMap {
          try? LooseJSON.decode(Document.File.self, from: Array($0), of: path)
        }
      }
      return .record(try UploadRecord(document, journal: added ?? []))
    } catch let problem as Problem {
      return .damaged(problem.text)
    } catch let error as FileError {
      return .damaged(error.reason)
    } catch let error as DecodingError {
      return .damaged(words(error))
    } catch {
      return .damaged("no JSON")
    }
  }

  /// `nil`: there is no such file.
  private static func contents(
    of name: String, in root: EnclosedFolder
  ) throws(FileError) -> (bytes: [UInt8], path: FilePath)? {
    do throws(FileError) {
      let file = try InputFile(name, in: root)
      try limit.check(file.count, of: file.path)
      return (try file.head(file.count), file.path)
    } catch {
      if error.kind == .notFound { return nil }
      throw error
    }
  }

  // MARK: Checks

  private struct Document: Decodable {
    struct File: Decodable {
      var name: String
      var bytes: Int64?
      var state: String
      var received: String?
      var modified: String?
      var sha256: String?
    }

    var schema: Int
    var capture: String?
    var lastArrival: String?
    var complete: String?
    var missing: [String]?
    var processRequested: String?
    var files: [File]?
  }

  private struct Problem: Error { var text: String }

  private init(_ document: Document, journal: [Document.File]) throws(Problem) {
    guard document.schema == 1 else {
      throw Problem(text: "schema \(document.schema) is not known")
    }
    if let capture = document.capture { try Self.check(capture, "capture") }
    capture = document.capture
    isComplete = try Self.time(document.complete, "complete") != nil
    missing = document.missing ?? []
    for name in missing { try Self.check(name, "missing") }
    let requested = try Self.time(document.processRequested, "processRequested")
    var arrived = try Self.time(document.lastArrival, "lastArrival")
    files = []
    for (index, file) in (document.files ?? []).enumerated() {
      files.append(try Self.checked(file, "files[\(index)]"))
    }
    if !journal.isEmpty {
      var known = Set(files.map { Array($0.name.utf8) })
      for (index, file) in journal.enumerated() {
        let place = "\(UploadJournal.fileName), file \(index)"
        let added = try Self.checked(file, place)
        guard known.insert(Array(added.name.utf8)).inserted else { continue }
        files.append(added)
        let received = try Self.time(file.received, "\(place).received")
        arrived = [arrived, received].compactMap(\.self).max()
      }
    }
    // Files that arrived after the request are not part of it.
    isProcessRequested = requested.map { $0 >= (arrived ?? $0) } ?? false
  }

  private static func checked(_ file: Document.File, _ place: String) throws(Problem) -> File {
    try check(file.name, "\(place).name")
    guard let state = UploadManifest.FileState(rawValue: file.state) else {
      throw Problem(text: "\(place).state is none of unverified, verified, mismatch")
    }
    if let bytes = file.bytes, bytes < 0 { throw Problem(text: "\(place).bytes is negative") }
    return File(
      name: file.name, bytes: file.bytes, state: state,
      modifiedNanoseconds: try time(file.modified, "\(place).modified"), sha256: file.sha256)
  }

  private static func check(_ name: String, _ key: String) throws(Problem) {
    guard !name.isEmpty, name.utf8.count <= longestName else {
      throw Problem(text: "\(key) is empty or longer than \(longestName) bytes")
    }
    guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw Problem(text: "\(key) has a control character")
    }
  }

  /// Nanoseconds since 1970.
  private static func time(_ text: String?, _ key: String) throws(Problem) -> Int64? {
    guard let text else { return nil }
    guard let time = UTCText.nanoseconds(text) else {
      throw Problem(text: "\(key) is no time")
    }
    return time
  }

  private static func words(_ error: DecodingError) -> String {
    func key(_ path: [any CodingKey]) -> String {
      path.reduce("") { text, key in
        key.intValue.map { "\(text)[\($0)]" }
          ?? (text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)")
      }
    }
    switch error {
    case .keyNotFound(let missing, let context):
      return "\(key(context.codingPath + [missing])) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return context.codingPath.isEmpty
        ? "no JSON object" : "\(key(context.codingPath)) is of another kind"
    case .dataCorrupted(let context):
      return context.codingPath.isEmpty ? "no JSON" : "\(key(context.codingPath)) cannot be read"
    @unknown default: return "no JSON"
    }
  }

  // MARK: Compared with the folder

  /// What the folder says otherwise than the record, in words; `nil`: nothing. Cost: one system call per file.
  public func contradiction(in root: EnclosedFolder) -> String? {
    for file in files {
      guard let stamp = root.stamp(of: file.name) else { return "\(file.name) is not there" }
      guard let bytes = file.bytes, bytes != stamp.bytes else { continue }
      return "\(file.name) has \(stamp.bytes) bytes in place of \(bytes)"
    }
    return nil
  }

  /// Files whose digest was compared and was the same, and which have the size and the time of modification that they
  /// had then. Cost: one system call per file.
  func unchanged(in root: EnclosedFolder) -> Int {
    files.count { file in
      guard file.state == .verified, let bytes = file.bytes,
        let modified = file.modifiedNanoseconds, let stamp = root.stamp(of: file.name)
      else { return false }
      return stamp.bytes == bytes && stamp.modifiedNanoseconds == modified
    }
  }

  /// Whether the digest of every file was compared and was the same, and none is known to have changed since. Cost: one
  /// system call per file.
  public func isVerified(in root: EnclosedFolder) -> Bool {
    !files.isEmpty
      && files.allSatisfy { file in
        guard file.state == .verified, let stamp = root.stamp(of: file.name) else { return false }
        return file.bytes ?? stamp.bytes == stamp.bytes
          && file.modifiedNanoseconds ?? stamp.modifiedNanoseconds == stamp.modifiedNanoseconds
      }
  }

  /// Names of files that are known to be others than those on the device: another size or content than was compared, or
  /// received damaged and still there. A restored backup may have other times, so they decide only where no digest is
  /// noted. What is gone is missing, not altered. Cost: one system call per file.
  ///
  /// - Parameter digest: of the file at a path as it is now; `nil`: not known.
  func altered(in root: EnclosedFolder, digest: (String, FileStamp) -> Digest?) -> [String] {
    files.filter { file in
      guard file.state != .unverified, let stamp = root.stamp(of: file.name) else { return false }
      let isOfSize = file.bytes ?? stamp.bytes == stamp.bytes
      let isOfTime =
        file.modifiedNanoseconds ?? stamp.modifiedNanoseconds == stamp.modifiedNanoseconds
      let path = root.path.appending(FilePath(file.name).components).text
      // `nil`: not known.
      let isOfContent = file.sha256.map { noted in digest(path, stamp).map { $0.hex == noted } }
      if file.state == .mismatch { return isOfSize && isOfContent.flatMap(\.self) ?? isOfTime }
      return !isOfSize || isOfContent.map { $0 == false } ?? !isOfTime
    }.map(\.name)
  }

  /// Reads the notes in the folder of a capture; the record is empty without them.
  ///
  /// - Parameter place: the capture's folder; the file of a capture that is one file.
  static func altered(in place: FilePath, digest: (String, FileStamp) -> Digest?) -> [String] {
    let folder = FileSystem.isFolder(place) ? place : place.removingLastComponent()
    guard let root = try? EnclosedFolder(folder, followsPath: false),
      case .record(let record) = read(in: root)
    else { return [] }
    return record.altered(in: root, digest: digest)
  }

  /// Files that were received and are known to be damaged.
  public var mismatches: [File] { files.filter { $0.state == .mismatch } }
}

/// What an upload server notes about the files of a capture, in numbers: how many there are, and of how many it has
/// compared the digest with that of the device.
public struct UploadCounts: Hashable, Sendable, Codable {
  public var files: Int
  public var verified: Int
  /// How many of these are as they were then, by size and time of modification.
  public var unchanged: Int
  /// The server has everything.
  var isComplete: Bool
  /// The id of another capture that had it first, with other content.
  var twinOf: String?
}

extension UploadCounts {
  /// `nil`: there is none, or it is damaged. Cost: a look by name where there is none, else one system call per file.
  ///
  /// - Parameter place: the capture's folder; the file of a capture that is one file.
  public init?(in place: FilePath) {
    let folder = FileSystem.isFolder(place) ? place : place.removingLastComponent()
    guard let root = try? EnclosedFolder(folder, followsPath: false),
      case .record(let record) = UploadRecord.read(in: root)
    else { return nil }
    self.init(
      files: record.files.count, verified: record.files.count { $0.state == .verified },
      unchanged: record.unchanged(in: root), isComplete: record.isComplete,
      twinOf: folder.name.flatMap { OutputName.twin(of: $0) })
  }
}

/// How far an upload has come that is not over.
public struct UploadProgress: Hashable, Sendable, Codable {
  /// Size of all files that are there, the temporary one included.
  public var bytes: Int64
  /// The transfer's temporary file, relative to the capture's folder; `nil`: an upload server says that more is on
  /// its way.
  public var temporaryFile: String?

  public init(bytes: Int64, temporaryFile: String?) {
    self.bytes = bytes
    self.temporaryFile = temporaryFile
  }

  /// Whether the temporary file is the placeholder of a cloud drive.
  var isInCloud: Bool {
    guard let name = temporaryFile?.split(separator: "/").last else { return false }
    return CloudPlaceholder.target(of: String(name)) != nil
  }

  /// `12 bytes are there, a.h264.part is not whole`, without the time.
  public func words(size: (Int64) -> String) -> String {
    let what =
      temporaryFile.map { file in
        isInCloud
          ? "\(file) is the placeholder of a file that a cloud drive has not downloaded"
          : "the temporary file \(file) of its transfer is left"
      }
      ?? "its upload server waits for more"
    return "no new byte has come; \(size(bytes)) are there, and \(what)"
  }
}

/// Whether a capture may be deleted on its device: an upload server has compared the digests of all its files with those
/// of the device, they have not changed since, and everything that was asked for is made of them.
public struct Custody: Hashable, Sendable, Codable {
  /// What says that the files are whole.
  enum Proof: String, Hashable, Codable {
    /// The digests of an upload server's manifest, all compared with the files.
    case manifest
  }

  /// Files that are here; `nil`: not looked at yet.
  var receivedFiles: Int?
  var receivedBytes: Int64?
  /// Files that a complete upload has; `nil`: not known.
  var expectedFiles: Int?
  /// `nil`: contents were not compared, or not all, or files have changed since.
  var verifiedBy: Proof?
  /// Why it may not be deleted, in words; empty: it may.
  var lacks: [String]

  /// What is said of files that only their names speak for.
  public static let notCompared =
    "all files that the app writes are here; contents were not compared"

  /// Complete and verified: safe to delete on the device. The one place that decides it.
  var isSafe: Bool { verifiedBy != nil && lacks.isEmpty }

  /// The one sentence about it, for people.
  public var words: String {
    if isSafe { return "complete and verified: safe to delete" }
    return lacks == [Self.notCompared] ? Self.notCompared : "keep: " + lacks.joined(separator: "; ")
  }
}
