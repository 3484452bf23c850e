import Captures
import Core

/// Where a file belongs, by what its sender calls it. Checked before any path is made of it.
public struct UploadName: Hashable, Sendable {
  /// The id of the capture: a name of one folder.
  public let capture: String
  /// The file in that folder; may have one folder level.
  public let name: String

  static let mostBytes = 255
  /// Bytes of an id, so that `<id>~2` to `<id>~999` are names, too.
  static let mostIDBytes = 251

  /// A name as the apps send it, which tells the capture: the name up to its first dot, less the
  /// endings that an app adds to it.
  ///
  /// - Parameter endings: the accepted ones, in lower case, without the dot.
  public init(fileName: String, endings: Set<String>) throws(UploadRefusal) {
    try Self.check(fileName, "the file name")
    try Self.checkEnding(of: fileName, endings)
    let id = Self.id(of: fileName)
    guard !id.isEmpty else {
      throw UploadRefusal(
        .invalid, "the file name '\(fileName)' names no capture before its first dot")
    }
    try Self.checkID(id)
    capture = id
    name = fileName
  }

  /// A capture and a file of it, with at most one `/` in its name.
  public init(
    capture: String, path: String, endings: Set<String>
  ) throws(UploadRefusal) {
    try Self.checkID(capture)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2 else {
      throw UploadRefusal(.invalid, "the file name may have one folder in front, not more")
    }
    for part in parts { try Self.check(part, "the file name") }
    try Self.checkEnding(of: parts.last ?? "", endings)
    self.capture = capture
    name = path
  }

  /// The folder in front of the file, and the file.
  var parts: (folder: String?, file: String) { Self.parts(of: name) }

  static func parts(of name: String) -> (folder: String?, file: String) {
    guard let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")) else { return (nil, name) }
    return (String(name[..<slash]), String(name[name.utf8.index(after: slash)...]))
  }

  /// Compared as the disk does, by bytes.
  func isSame(as other: UploadName) -> Bool {
    NameKey(capture) == NameKey(other.capture) && NameKey(name) == NameKey(other.name)
  }

  /// Whether the name can be a file or folder here; used for captures that are asked for, too.
  static func isAcceptable(_ name: String) -> Bool {
    do throws(UploadRefusal) {
      try check(name, "")
      return true
    } catch {
      return false
    }
  }

  private static func checkID(_ id: String) throws(UploadRefusal) {
    let what = "the name of the capture"
    try check(id, what)
    if id.utf8.count > mostIDBytes {
      throw UploadRefusal(.invalid, "\(what) is longer than \(mostIDBytes) bytes")
    }
    if id.utf8.suffix(IgnoredFiles.truthEnding.utf8.count).elementsEqual(
      IgnoredFiles.truthEnding.utf8)
    {
      throw UploadRefusal(
        .invalid, "\(what) ends in \(IgnoredFiles.truthEnding), which is never processed")
    }
    if TransferNames.contains(id) {
      throw UploadRefusal(
        .invalid, "\(what) is one that files bear while they are sent: it would never be processed")
    }
  }

  private static func check(_ name: String, _ what: String) throws(UploadRefusal) {
    let problem: String? =
      if name.isEmpty {
        "is empty"
      } else if name.utf8.count > mostBytes {
        "is longer than \(mostBytes) bytes"
      } else if name.unicodeScalars.contains(where: isUnreadable) {
        "is not UTF-8"
      } else if name.utf8.contains(UInt8(ascii: "/")) || name.utf8.contains(UInt8(ascii: "\\")) {
        "has a slash in it"
      } else if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
        "has a control character in it"
      } else if name.utf8.first == UInt8(ascii: ".") {
        "begins with a dot"
      } else if IgnoredFiles.contains(name) {
        "is one that systems give to files of their own, which are never processed"
      } else {
        nil
      }
    if let problem { throw UploadRefusal(.invalid, "\(what) \(problem)") }
  }

  /// The library puts U+FFFD in place of bytes that are not UTF-8. The last scalars of the private
  /// planes stand for single bytes in this program (`PathText`).
  private static func isUnreadable(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\u{FFFD}" || PathText.byte(scalar) != nil
  }

  private static func checkEnding(of file: String, _ endings: Set<String>) throws(UploadRefusal) {
    let ending = file.utf8.lastIndex(of: UInt8(ascii: ".")).map {
      file[file.utf8.index(after: $0)...].lowercased()
    }
    if ending == nil, UploadLimits.namesWithoutEnding.contains(file) { return }
    guard let ending, endings.contains(ending) else {
      throw UploadRefusal(
        .unknownEnding,
        "files ending in '\(ending.map { ".\($0)" } ?? "nothing")' are not accepted here")
    }
  }

  /// What the apps add to the id of a capture in names of some files.
  private static let additions: [(addition: String, ending: String)] = [
    ("-primary", ".mp4"), ("-secondary", ".mp4"), ("_depth", ".txt"), ("_confidence", ".txt"),
    ("_thumb", ".jpg"), ("_preview", ".mp4"),
  ]

  static func id(of fileName: String) -> String {
    let dot = fileName.utf8.firstIndex(of: UInt8(ascii: ".")) ?? fileName.endIndex
    let stem = fileName[..<dot]
    let ending = fileName[dot...].lowercased()
    for (addition, own) in additions where ending == own && stem.hasSuffix(addition) {
      return String(stem.dropLast(addition.count))
    }
    return String(stem)
  }
}

/// Why an upload or a question is not accepted, in words for the person who holds the device.
public struct UploadRefusal: Error, CustomStringConvertible {
  public enum Kind: Sendable {
    /// The name, a header or the length is not acceptable.
    case invalid
    /// More bytes than allowed for one file or one capture.
    case tooLarge
    /// The ending is of no known family.
    case unknownEnding
    /// The disk, the quota or the reserve.
    case noSpace
    /// The bytes are not those that the sender's digest describes; nothing was stored.
    case wrongDigest
    /// No file of that name was received.
    case unknown
    /// The sender has begun and left too many uploads.
    case tooMany
    /// Nothing, or too little, arrived for too long.
    case tooSlow
    /// The connection ended in a body, or what came is not HTTP.
    case cut
    /// Something that was not received is in the way.
    case conflict
    /// The upload is being received elsewhere.
    case locked
    /// A file call failed: not the sender's fault.
    case failed
  }

  public var kind: Kind
  var message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }

  static let stalled = UploadRefusal(.tooSlow, "nothing arrived for too long: send the file again")
  static let slow = UploadRefusal(.tooSlow, "the connection is too slow: send the file again")
  static let cut = UploadRefusal(
    .cut, "the connection ended before the file did: send it again")
  static let closing = UploadRefusal(.failed, "the server is shutting down")
  static let diskFull = UploadRefusal(
    .noSpace, "the disk of this server is full: ask whoever runs it")
  static let stagingFull = UploadRefusal(
    .noSpace, "the staging folder is full: ask whoever runs this server")
  static let unknownUpload = UploadRefusal(.unknown, "no such upload")
}

/// What a store accepts. Sizes in bytes; `nil` is no limit.
public struct UploadLimits: Sendable {
  public var file: Int64? = 64 << 30
  public var capture: Int64? = 256 << 30
  /// Bytes of the entries of a capture's files in its manifest, some 140,000 files; the rest of a manifest has a
  /// mebibyte. A larger manifest is read by nothing (`UploadManifest.mostBytes`).
  public var entries = Int64(UploadManifest.mostBytes) - (1 << 20)
  /// Bytes of everything in STAGING that was received; `nil`: no limit.
  public var quota: Int64?
  /// Space of the disk that stays free.
  public var reserve: Int64 = 1 << 30
  /// Accepted endings in lower case, without the dot.
  public var endings = UploadLimits.knownEndings
  /// After so many bytes data is written to disk while more is received.
  var syncEvery: Int64 = 64 << 20
  /// For how many seconds at least files of a large capture are noted in its journal before its manifest is written.
  var journalSeconds = 2.0
  /// Bytes of what an upload has announced and not sent that are kept free for it.
  var ahead: Int64 = 64 << 20
  /// How many uploads that can be resumed one sender may have begun and left.
  var suspended = 256
  /// How long an upload that can be resumed is kept, in nanoseconds.
  var resumableLifetime: Int64 = 7 * 86_400 * 1_000_000_000

  public init() {}

  /// Names without an ending that an app writes.
  static let namesWithoutEnding: Set<String> = ["metadata"]

  /// The last parts of the names of files that the apps write.
  public static let knownEndings: Set<String> = [
    "acce", "acce_ascii", "atti", "atti_ascii", "bin", "cam", "camera", "conf", "csv", "depth",
    "exr", "glb",
    "grav", "grav_ascii", "h264", "heic", "imu", "jpeg", "jpg", "json", "jsonl", "log", "lut",
    "m4a", "m4v",
    "mag", "mag_ascii", "mkv", "mov", "mp4", "npy", "obj", "plist", "ply", "png", "pose", "r3d",
    "rot",
    "rot_ascii", "sens", "sha256", "txt", "usdz", "xml", "yaml", "yml", "zip", "zlib",
  ]
}
