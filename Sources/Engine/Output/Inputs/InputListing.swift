import Captures
import Core
import SystemPackage

/// The files of a capture as they are at one time, without a look inside.
///
/// For a capture that is a folder everything below it (links to folders are not entered; of a link that
/// leads out the link itself counts), for one that shares its folder with others all files whose names
/// begin with its stem, and one that is one file that file. An added, removed, renamed, changed or replaced file makes another listing.
public struct InputListing: Hashable, Sendable, Codable, CacheRecord {
  public struct Entry: Hashable, Sendable, Codable {
    /// Relative to the folder, or a whole path for a file that lies elsewhere; empty for a capture
    /// that is one file.
    public var name: String
    var stamp: FileStamp
  }

  /// The capture's folder; the file if the capture is one file.
  public private(set) var folder: String
  private(set) var stem: String?
  /// The files by name.
  public private(set) var entries: [Entry]
  /// Whether all files had been still for a while: a later change cannot bear the same times.
  private(set) var isSettled: Bool

  /// Beyond this many files, or folders in folders, a capture is not remembered.
  private static let mostEntries = 200_000
  private static let mostLevels = 6

  package static var blank: InputListing {
    InputListing(folder: "", stem: nil, entries: [], isSettled: false)
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&folder)
    try coder(&stem)
    try coder(&isSettled)
    try coder(&entries)
  }
}

extension InputListing {
  /// `nil` when the folder is absent, holds too much, or could not be looked at as a whole. What bystanders left is not in it.
  init?(_ recognition: Recognition, nowNanoseconds: Int64) {
    self.init(
      folder: recognition.path.text, stem: recognition.stem, nowNanoseconds: nowNanoseconds)
  }

  init?(folder: String, stem: String?, nowNanoseconds: Int64) {
    self.folder = folder
    self.stem = stem
    entries = []
    isSettled = true
    let path = FilePath(text: folder)
    guard let root = try? EnclosedFolder(path) else {
      // A link that took its place is none of the capture.
      guard stem == nil, let found = try? FileStatus(of: path, followsLast: false),
        let stamp = found.fileStamp
      else { return nil }
      entries = [Entry(name: "", stamp: stamp)]
      isSettled = stamp.isSettled(nowNanoseconds: nowNanoseconds)
      return
    }
    guard let open = try? root.folder(),
      (try? gather(open, of: root, prefix: "", level: 0)) == true
    else { return nil }
    entries.sort { $0.name < $1.name }
    isSettled = entries.allSatisfy { $0.stamp.isSettled(nowNanoseconds: nowNanoseconds) }
  }

  /// Whether the capture is there: a stem without a file names none.
  var isThere: Bool { stem == nil || !entries.isEmpty }

  /// Whether it is of a capture that is one file.
  var isOneFile: Bool { stem == nil && entries.contains { $0.name.isEmpty } }

  /// The whole path of an entry.
  package func path(of entry: Entry) -> String {
    if entry.name.isEmpty { return folder }
    return entry.name.hasPrefix("/") ? entry.name : "\(folder)/\(entry.name)"
  }

  /// Everything in the folder of a capture, also what belongs to others that share it; for a stage that
  /// is shown the folder.
  package static func all(in folder: String) -> InputListing? {
    InputListing(folder: folder, stem: nil, nowNanoseconds: .max)
  }

  /// The first file, by name, that is not as it was: changed, gone or new.
  func firstDifference(to now: InputListing) -> String? {
    let (old, new) = (Set(entries), Set(now.entries))
    return old.symmetricDifference(new).map(\.name).min()
  }

  /// `false` where there is more than is looked at. Throws where a part of it is not known.
  private mutating func gather(
    _ open: HeldFolder, of root: EnclosedFolder, prefix: String, level: Int
  ) throws(FileError) -> Bool {
    for (name, kind) in try open.list() {
      if level == 0, let stem, !name.utf8.starts(with: stem.utf8) { continue }
      if IgnoredFiles.contains(name) { continue }
      switch kind {
      case .folder:
        guard level < Self.mostLevels else { return false }
        // A folder that may not be entered is left out of both listings that are compared.
        guard let inner = try open.listable(name) else { continue }
        guard try gather(inner, of: root, prefix: prefix + name + "/", level: level + 1) else {
          return false
        }
      case .file, .link:
        let found =
          kind == .file
          ? try open.lookable(name)?.fileStamp
          : try linkedStamp(prefix + name, open, name, in: root)
        guard let stamp = found else { continue }
        guard entries.count < Self.mostEntries else { return false }
        entries.append(Entry(name: prefix + name, stamp: stamp))
      case .other: continue
      }
    }
    return true
  }

  /// Stamp of the file that a link leads to inside; of the link itself where it leads out.
  private func linkedStamp(
    _ path: String, _ open: HeldFolder, _ name: String, in root: EnclosedFolder
  ) throws(FileError) -> FileStamp? {
    switch root.look(at: path) {
    case .file(let stamp): stamp
    case .outside: open.status(of: name)?.stamp
    case .failed(let error): throw error
    case .folder, .other, .forbidden, .nothing: nil
    }
  }

  /// Adds files that a reader named and that are not among the entries.
  package mutating func add(_ paths: some Sequence<FilePath>) {
    let known = Set(entries.map { $0.name.isEmpty ? folder : "\(folder)/\($0.name)" })
    var others: [String: FileStamp] = [:]
    for path in paths where !known.contains(path.text) {
      others[path.text] = FileStamp(of: path)
    }
    entries += others.sorted { $0.key < $1.key }.map { Entry(name: $0.key, stamp: $0.value) }
  }

  /// Stamps by whole path.
  var stamps: [String: FileStamp] {
    Dictionary(firstOf: entries.map { (path(of: $0), $0.stamp) })
  }

  /// Entries in the folder of the capture.
  private var ownEntries: some Sequence<Entry> {
    entries.lazy.filter { !$0.name.utf8.starts(with: "/".utf8) }
  }

  /// Whether these are files of the same names, sizes and times, wherever they lie.
  func looksLike(_ other: InputListing) -> Bool {
    let (mine, others) = (ownEntries, other.ownEntries)
    return mine.elementsEqual(others) { first, second in
      first.name == second.name && first.stamp.bytes == second.stamp.bytes
        && first.stamp.modifiedNanoseconds == second.stamp.modifiedNanoseconds
    } && !entries.isEmpty
  }

  /// Names, sizes and times of modification in one digest, without what a copy or a change of mode alters.
  var contentStamp: Digest { stamp(hasTimes: true) }
  /// Names and sizes in one digest, which a copy without times leaves as they are.
  var sizeStamp: Digest { stamp(hasTimes: false) }

  private func stamp(hasTimes: Bool) -> Digest {
    var coder = CacheCoder()
    for entry in ownEntries {
      coder.put(entry.name)
      coder.put(entry.stamp.bytes)
      if hasTimes { coder.put(entry.stamp.modifiedNanoseconds) }
    }
    return Digest(of: coder.bytes)
  }

  /// Whether names, sizes and times of modification are still the same. Cost: one system call per file.
  ///
  /// - Parameter now: those in the folder of the capture.
  func hasTimes(of now: InputListing) -> Bool {
    guard looksLike(now) else { return false }
    return entries.filter { $0.name.hasPrefix("/") }.allSatisfy { entry in
      FileStamp(of: entry.name).map {
        $0.bytes == entry.stamp.bytes && $0.modifiedNanoseconds == entry.stamp.modifiedNanoseconds
      } ?? false
    }
  }

  /// Whether these are files of the same names, sizes and times of modification, each name without the stem of its
  /// capture.
  func looksMoved(to other: InputListing) -> Bool {
    func looks(_ listing: InputListing) -> [String] {
      listing.entries.filter { !$0.name.hasPrefix("/") }.map { entry in
        let isOfStem = listing.stem.map { entry.name.utf8.starts(with: $0.utf8) } ?? false
        let name = isOfStem ? entry.name.dropFirst(listing.stem?.count ?? 0) : entry.name[...]
        return "\(name)\0\(entry.stamp.bytes) \(entry.stamp.modifiedNanoseconds)"
      }.sorted()
    }
    return looks(self) == looks(other) && !entries.isEmpty
  }

  /// The listing with the stamps that its files bear now.
  func renewed(nowNanoseconds: Int64) -> InputListing? {
    var now = InputListing(folder: folder, stem: stem, nowNanoseconds: nowNanoseconds)
    now?.add(entries.filter { $0.name.hasPrefix("/") }.map { FilePath(text: $0.name) })
    return now
  }

  /// Whether everything is still the same. Cost: one system call per file.
  func isCurrent() -> Bool { isSettled && listedAgain().map(looksCurrent) == true }

  /// Entries in the folder of the capture as they are now; `nil` where it is gone or holds too much.
  func listedAgain() -> InputListing? {
    InputListing(folder: folder, stem: stem, nowNanoseconds: .max)
  }

  /// Whether all files had been still for two seconds at this time, as `isSettled` tells of the time that it was
  /// listed at.
  func isSettled(nowNanoseconds: Int64) -> Bool {
    entries.allSatisfy { $0.stamp.isSettled(nowNanoseconds: nowNanoseconds) }
  }

  /// Whether all names and stamps are still the same, which proves nothing of files that changed just before
  /// they were listed. Cost: one system call per file.
  ///
  /// - Parameter now: those in the folder of the capture.
  func looksCurrent(_ now: InputListing) -> Bool {
    guard entries.starts(with: now.entries) else { return false }
    return entries[now.entries.count...].allSatisfy { FileStamp(of: $0.name) == $0.stamp }
  }
}

/// Tells whether a capture at one place is the one that was at another, without reading all of it.
///
/// The SHA-256 of the names and sizes of all its files and of the first and last 64 KiB of the 64 smallest.
/// Names and sizes alone do not do: raw streams of recordings of one length have equal ones. The ends of
/// small files do: they hold times, poses and identifiers, which no two recordings share. Times of files
/// are not compared, since copying changes them.
extension InputListing {
  private static let mostFiles = 64
  private static let end = 64 << 10

  /// `nil` for a capture that holds nothing, or too much to be listed.
  static func contentKey(of recognition: Recognition) -> Digest? {
    guard let listing = InputListing(recognition, nowNanoseconds: .max), !listing.entries.isEmpty
    else { return nil }
    return listing.contentKey(in: recognition)
  }

  func contentKey(in recognition: Recognition) -> Digest? {
    let hasher = Digest.Hasher()
    // Files elsewhere do not move with it.
    let entries = ownEntries
    for entry in entries {
      hasher.update(Array("\(entry.name)\0\(entry.stamp.bytes)\0".utf8))
    }
    let smallest = entries.sorted { ($0.stamp.bytes, $0.name) < ($1.stamp.bytes, $1.name) }
      .prefix(Self.mostFiles)
    if isOneFile {
      guard let file = try? InputFile(recognition.path), Self.add(file, to: hasher) else {
        return nil
      }
      return hasher.finish()
    }
    guard let root = try? EnclosedFolder(recognition.folder) else { return nil }
    for entry in smallest {
      if case .outside = root.look(at: entry.name) { continue }
      guard let file = try? InputFile(entry.name, in: root), Self.add(file, to: hasher) else {
        return nil
      }
    }
    return hasher.finish()
  }

  /// Adds both ends of a file; `false` if they cannot be read.
  private static func add(_ file: InputFile, to hasher: Digest.Hasher) -> Bool {
    for start in [0, max(end, file.count - end)] {
      guard let bytes = try? file.bytes(at: start, count: end) else { return false }
      hasher.update(bytes)
    }
    return true
  }
}

extension InputListing {
  /// Files up to this size are read rather than left unknown.
  private static let mostBytesRead: Int64 = 1 << 20

  /// Names, sizes and contents in one digest, for those who must know whether a capture whose files have other times or
  /// inodes is the same as before. `nil` where nothing is there, where a file lies outside of the capture, and where a
  /// file cannot be told without being read and is not to be.
  ///
  /// Digests that a run noted count while their files bear the same stamps.
  ///
  /// - Parameters:
  ///   - known: digests that a run noted; a small file that is not among them is read rather than looked for in the
  ///     notes.
  ///   - readsAll: whether files of any size are read.
  ///
  /// Cost: with `readsAll` reading all files whose digest is not noted.
  func contents(
    known: [String: DigestCache.Entry] = [:], notedIn layout: OutputLayout, readsAll: Bool
  ) -> Digest? {
    guard !entries.isEmpty else { return nil }
    let place = FilePath(text: folder)
    let noted = DigestCache(layout.digestCache, capture: place)
    let unread = DigestCache(layout.digestCache, capture: place, isRead: false)
    func digest(_ path: String, _ stamp: FileStamp) -> Digest? {
      let isSmall = stamp.bytes <= Self.mostBytesRead
      if let entry = known[path], entry.stamp == stamp { return entry.sha256 }
      if isSmall, !known.isEmpty { return try? unread.digest(of: path) }
      return noted.noted(path, stamp) ?? (readsAll || isSmall ? try? noted.digest(of: path) : nil)
    }
    var coder = CacheCoder()
    for entry in entries {
      guard !entry.name.hasPrefix("/"), let digest = digest(path(of: entry), entry.stamp) else {
        return nil
      }
      coder.put(entry.name)
      coder.put(entry.stamp.bytes)
      coder.put(digest.hex)
    }
    return Digest(of: coder.bytes)
  }
}
