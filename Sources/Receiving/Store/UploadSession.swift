import Captures
import Core

/// The uploads of one id by one sender without a pause of an hour: the files of one scan, which lie in one folder.
struct UploadSession {
  /// The capture and the sender of the session.
  struct Key: Hashable {
    let capture: NameKey
    let sender: NameKey

    init(_ capture: String, _ sender: String) {
      self.capture = NameKey(capture)
      self.sender = NameKey(Self.identity(of: sender))
    }

    /// Who sends, wherever from: the name of the token, else the address.
    static func identity(of sender: String) -> String { String(sender.prefix { $0 != " " }) }
  }

  /// In nanoseconds; a sender that comes later than that begins another scan.
  static let longestPause: Int64 = 3_600 * 1_000_000_000

  /// SHA-256 of the last content of each name.
  private(set) var files: [NameKey: String] = [:]
  /// The folder in which all of them lie; `nil` before the first of them has its place.
  private(set) var home: String?
  /// Names that lie in `home` because the same content was sent, and is in another folder as well.
  private(set) var carried: Set<NameKey> = []
  /// Folders in which they cannot lie: those have other content that stays.
  private(set) var excluded: Set<NameKey> = []
  /// Files that were sent again, changed or not, since the session's last new name.
  private var repeated: [NameKey: String] = [:]
  /// When its last file had come, in nanoseconds since 1970.
  private(set) var last: Int64

  init(at time: Int64) { last = time }

  /// What was received of a sender before this process began, by the notes of captures that are not complete.
  init(recovering versions: [StoredFolder], sender: String, at time: Int64) {
    self.init(at: time)
    let identity = NameKey(Key.identity(of: sender))
    let known = versions.filter { $0.manifest.complete == nil && !$0.manifest.declared }
      .flatMap(\.manifest.files).filter { NameKey(Key.identity(of: $0.sender)) == identity }
      .map { (file: $0, time: UTCText.nanoseconds($0.received) ?? 0) }
      .sorted { $0.time > $1.time }
    var next = time
    for (file, time) in known {
      guard next &- time <= Self.longestPause else { break }
      next = time
      if files[NameKey(file.name)] == nil { files[NameKey(file.name)] = file.sha256 }
    }
  }

  /// Whether an upload that began then is another session.
  func isOver(at time: Int64) -> Bool { time &- last > Self.longestPause }

  /// Whether a file cannot be of the same scan: its sender has verified other content of its name.
  func isOther(_ name: String, _ sha256: String, isVerified: (String) -> Bool) -> Bool {
    guard let known = files[NameKey(name)], known != sha256, !carried.contains(NameKey(name)) else {
      return false
    }
    return isVerified(known)
  }

  /// The session of another scan of the same id. What was sent once more just before it is of this one, as far as can be
  /// told.
  func next() -> UploadSession {
    var next = UploadSession(at: last)
    next.files = repeated
    next.carried = Set(repeated.keys)
    return next
  }

  /// Notes a file that has its place.
  mutating func note(_ name: String, _ sha256: String, at time: Int64) {
    let key = NameKey(name)
    let known = files[key]
    if known == nil {
      repeated = [:]
    } else {
      repeated[key] = sha256
      if known != sha256 { carried.remove(key) }
    }
    files[key] = sha256
    last = max(last, time)
  }

  /// Notes where all files lie.
  ///
  /// - Parameters:
  ///   - names: of those that were put there besides.
  ///   - others: folders in which they cannot lie.
  mutating func settle(in folder: String, carrying names: [String], notIn others: [String]) {
    if home.map({ NameKey($0) != NameKey(folder) }) ?? false { carried = [] }
    home = folder
    carried.formUnion(names.map(NameKey.init))
    excluded.formUnion(others.map(NameKey.init))
  }
}
