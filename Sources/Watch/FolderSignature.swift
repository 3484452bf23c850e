import Captures
import Engine
import Core
import SystemPackage
import Glibc

/// Names, sizes, times and inodes of files, as one digest: what tells a place at rest from one that is
/// written to. No file is opened, and what a link leads to outside of the folder is not looked at. Device
/// numbers are left out: they change with every mount.
struct FolderSignature: Hashable {
  var digest: Digest
  /// Digest of names, sizes and times of modification alone, names without the stem: what a change of owner or mode, a
  /// restored backup and a move leave as it was.
  var content: Digest
  /// Size of all files.
  var bytes: Int64 = 0
  /// Tells files apart by inode, size and time of modification: of the 16 files with the lowest inodes. One value in
  /// common: a file is in both places.
  var files: [UInt64] = []
  /// The first temporary file of a transfer by name, relative to the folder; `nil` where there is none.
  var temporaryFile: String?
  /// Another version of one of its files, kept by a synchronizer.
  var conflict: String?

  /// Beyond this many files or folders in folders nothing further is looked at, as with `InputListing`.
  private static let mostEntries = 200_000
  private static let mostLevels = 6

  /// A transfer's temporary file lies in it.
  var isTransferring: Bool { temporaryFile != nil }
}

extension FolderSignature {
  /// Everything in a folder; with `stem` only what begins with it, without folders in it. Throws when the folder, or
  /// a part of it, could not be looked at, except what this user may not see.
  init(of folder: FilePath, stem: String? = nil) throws(FileError) {
    var gathering = Gathering(stem: stem.map { Array($0.utf8) })
    try gathering.gather(folder, isDeep: true)
    self = gathering.stamp
  }

  /// Signatures of captures that are one file each, by name, together with what transfers have on its way of them:
  /// `NAME.part`, `.NAME.XXXXXX`. Captures of which neither is there are left out.
  ///
  /// Cost: one listing for all of them, one system call for each.
  static func ofFiles(
    _ names: [String], in folder: FilePath
  ) throws(FileError) -> [String: FolderSignature] {
    if names.isEmpty { return [:] }
    let open = try EnclosedFolder(folder, followsPath: false).folder()
    let entries = try open.list()
    let transfers = entries.filter { $0.kind == .file && TransferNames.contains($0.name) }
    var signatures: [String: FolderSignature] = [:]
    for name in names {
      // No link: what it leads to is another place.
      let stamp = try open.lookable(name)?.fileStamp
      var gathering = Gathering(stem: Array(name.utf8))
      if let stamp { gathering.add(name, stamp) }
      for (other, _) in transfers where TransferNames.isTransfer(other, of: name) {
        gathering.addTransfer(other)
        if let stamp = try open.lookable(other)?.fileStamp { gathering.add(other, stamp) }
      }
      if stamp != nil || gathering.temporaryFile != nil { signatures[name] = gathering.stamp }
    }
    return signatures
  }

  /// The signature of a capture; `nil` when it cannot be looked at.
  init?(of capture: Recognition) {
    let found =
      capture.isFile
      ? (try? Self.ofFiles([capture.path.name ?? ""], in: capture.folder))?.values.first
      : try? FolderSignature(of: capture.folder, stem: capture.stem)
    guard let found else { return nil }
    self = found
  }

  /// The entries of a folder itself: files with their times, folders by name.
  init(ofEntriesIn folder: FilePath) throws(FileError) {
    var gathering = Gathering(stem: nil)
    try gathering.gather(folder, isDeep: false)
    self = gathering.stamp
  }

  private struct Gathering {
    let stem: [UInt8]?
    var lines: [(full: String, content: String)] = []
    var bytes: Int64 = 0
    var files: [(inode: UInt64, key: UInt64)] = []
    var temporaryFile: String?
    var conflict: String?

    /// Throws when the folder cannot be read, or a link has been put in its place or above it.
    mutating func gather(_ folder: FilePath, isDeep: Bool) throws(FileError) {
      let root = try EnclosedFolder(folder, followsPath: false)
      try gather(root.folder(), of: root, prefix: "", level: 0, isDeep: isDeep)
    }

    private mutating func gather(
      _ open: HeldFolder, of root: EnclosedFolder, prefix: String, level: Int, isDeep: Bool
    ) throws(FileError) {
      for (name, kind) in try open.list() {
        if level == 0, let stem, !name.utf8.starts(with: stem),
          !(TransferNames.contains(name) && name.utf8.dropFirst().starts(with: stem))
        {
          continue
        }
        if StagingNames.isBystander(name) {
          if kind == .folder, IgnoredFiles.isUpload(open.path.appending(name: name)) {
            add("\(prefix)\(name)/")
          }
          continue
        }
        var isTransfer = TransferNames.contains(name)
        // Transfer tools leave their own folders behind, empty.
        if kind == .folder, TransferNames.isFolder(name), let kept = try open.listable(name) {
          isTransfer = try !kept.names(atMost: 1).isEmpty
        }
        if isTransfer { addTransfer(prefix + name) }
        if StagingNames.isConflict(name) { conflict = prefix + name }
        guard lines.count < FolderSignature.mostEntries else { return }
        switch kind {
        case .folder:
          add("\(prefix)\(name)/")
          guard isDeep, level < FolderSignature.mostLevels, let inner = try open.listable(name)
          else {
            continue
          }
          try gather(inner, of: root, prefix: "\(prefix)\(name)/", level: level + 1, isDeep: true)
        case .file, .link:
          let found: FileStamp?
          if kind == .file {
            found = try open.lookable(name)?.fileStamp
          } else {
            switch root.look(at: prefix + name) {
            case .file(let stamp): found = stamp
            case .failed(let error): throw error
            case .folder, .other, .outside, .forbidden, .nothing: found = nil
            }
          }
          guard let stamp = found else {
            add("\(prefix)\(name)")
            if CloudPlaceholder.isUnread(link: root.path.pushing(FilePath(text: prefix + name))) {
              addTransfer(prefix + name)
            }
            continue
          }
          add(prefix + name, stamp)
        case .other: continue
        }
      }
    }

    mutating func addTransfer(_ name: String) { temporaryFile = min(temporaryFile ?? name, name) }

    private mutating func add(_ name: String) { lines.append((name, inContent(name))) }

    mutating func add(_ name: String, _ stamp: FileStamp) {
      let seen = "\(stamp.bytes) \(stamp.modifiedNanoseconds)"
      lines.append(
        (
          "\(name)\0\(seen) \(stamp.changedNanoseconds) \(stamp.inode)",
          "\(inContent(name))\0\(seen)"
        ))
      bytes &+= stamp.bytes
      guard stamp.bytes > 0 else { return }
      files.append((stamp.inode, FolderSignature.fileKey(stamp)))
      // Not kept in order: a folder may hold 100,000 files.
      if files.count > 4_096 { keepLowest() }
    }

    private mutating func keepLowest() {
      files.sort { $0.inode < $1.inode }
      files.removeLast(max(0, files.count - FolderSignature.mostFileKeys))
    }

    /// What names of one stem have in common with those of another one.
    private func inContent(_ name: String) -> String {
      guard let stem, name.utf8.starts(with: stem) else { return name }
      return String(decoding: name.utf8.dropFirst(stem.count), as: UTF8.self)
    }

    var stamp: FolderSignature {
      var least = self
      least.keepLowest()
      var stamp = FolderSignature(
        digest: Digest(of: lines.map(\.full).sorted().joined(separator: "\n")),
        content: Digest(of: lines.map(\.content).sorted().joined(separator: "\n")))
      stamp.bytes = bytes
      stamp.files = least.files.map(\.key)
      stamp.temporaryFile = temporaryFile
      stamp.conflict = conflict
      return stamp
    }
  }

  private static let mostFileKeys = 16

  /// FNV-1a: the same in every process.
  private static func fileKey(_ stamp: FileStamp) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for value in [
      stamp.inode, UInt64(bitPattern: stamp.bytes), UInt64(bitPattern: stamp.modifiedNanoseconds),
    ] {
      for shift in stride(from: 0, to: 64, by: 8) {
        hash = (hash ^ (value >> UInt64(shift) & 0xff)) &* 0x100_0000_01b3
      }
    }
    return hash
  }

  /// The signature of several folders: what their signatures are made from, and what lies in them.
  init(of parts: [(folder: FilePath, stamp: FolderSignature)]) {
    func digest(_ part: (FolderSignature) -> Digest) -> Digest {
      Digest(
        of: parts.map { "\($0.folder) \(part($0.stamp))" }.sorted().joined(separator: "\n"))
    }
    self.init(digest: digest(\.digest), content: digest(\.content))
    bytes = parts.reduce(0) { $0 &+ $1.stamp.bytes }
    files = Array(parts.flatMap(\.stamp.files).prefix(Self.mostFileKeys))
    temporaryFile = parts.compactMap(\.stamp.temporaryFile).min()
  }
}
