import Glibc
import SystemPackage

/// The file system's information about one file, folder or link at one moment.
///
/// The only caller of `stat` in Swift code. Other types hold parts of it: `FileStamp` is stored,
/// `FileIdentity` is compared while a file is read, `FileID` identifies a file. Cost: one system
/// call.
public struct FileStatus: Sendable {
  public enum Kind: Sendable {
    case file, folder, link
    /// A pipe, device or socket.
    case other
  }

  private let status: Stat

  /// The status of an open file or folder.
  public init(_ file: FileDescriptor) throws(Errno) {
    status = try Stat(file)
  }

  /// The status of `path`. Links are followed as far as `EnclosedPaths` allows; one at the end is
  /// not followed if `followsLast` is `false`.
  public init(of path: FilePath, followsLast: Bool = true) throws(Errno) {
    self = try EnclosedPaths.status(of: path.text, followsLast: followsLast)
  }

  /// The status of `path`, with all links followed. For paths of the user and of the kernel.
  public init(followingAllLinksOf path: FilePath) throws(Errno) {
    status = try Stat(path)
  }

  /// The status of a path that is not enclosed.
  init(_ path: UnsafePointer<CChar>, followsLast: Bool) throws(Errno) {
    status = try Stat(path, followTargetSymlink: followsLast)
  }

  /// The status of a path relative to an open folder. A link at the end is not followed.
  init(_ path: UnsafePointer<CChar>, in folder: Int32) throws(Errno) {
    status = try Stat(
      path, relativeTo: FileDescriptor(rawValue: folder), flags: .symlinkNoFollow)
  }

  public var kind: Kind {
    switch status.type {
    case .regular: .file
    case .directory: .folder
    case .symbolicLink: .link
    default: .other
    }
  }

  public var bytes: Int64 { status.size }
  /// Allocated bytes: less than `bytes` if the file has holes.
  var allocatedBytes: Int64 { status.sizeAllocated }
  /// Nanoseconds since 1970, like all times.
  public var modifiedNanoseconds: Int64 { Self.nanoseconds(status.st_mtim) }
  public var changedNanoseconds: Int64 { Self.nanoseconds(status.st_ctim) }
  public var inode: UInt64 { UInt64(status.inode.rawValue) }
  public var device: UInt64 { UInt64(status.deviceID.rawValue) }
  /// Number of hard links.
  var links: Int { status.linkCount }
  /// Type and permission bits.
  public var mode: UInt32 { UInt32(status.mode.rawValue) }

  /// Numbers of its owner and its group.
  var user: UInt32 { status.userID.rawValue }
  var group: UInt32 { status.groupID.rawValue }

  /// Identifies the file, folder or link.
  public var id: FileID { FileID(device: device, inode: inode) }

  /// The stamp, whatever the kind.
  public var stamp: FileStamp {
    FileStamp(
      bytes: bytes, modifiedNanoseconds: modifiedNanoseconds,
      changedNanoseconds: changedNanoseconds, inode: inode)
  }

  /// `nil` unless it is a regular file.
  public var fileStamp: FileStamp? { kind == .file ? stamp : nil }

  /// The kind as a predicate: "is a symbolic link".
  var phrase: String {
    switch kind {
    case .file: "is a file"
    case .folder: "is a folder"
    case .link: "is a symbolic link"
    case .other: "is neither a file nor a folder"
    }
  }

  static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

/// Identifies a file or folder regardless of its path, by file system and inode number. Valid
/// within one process only, because a file system gets another number when it is mounted again.
public struct FileID: Hashable, Sendable {
  public var device: UInt64
  public var inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// Follows links; `nil` if the target is not a folder. Cost: one system call.
  public init?(ofFolder folder: FilePath) {
    guard let found = try? FileStatus(followingAllLinksOf: folder), found.kind == .folder else {
      return nil
    }
    self = found.id
  }

  /// Follows links; `nil` if the target is not a regular file. Cost: one system call.
  public init?(ofFile file: FilePath) {
    guard let found = try? FileStatus(followingAllLinksOf: file), found.kind == .file else {
      return nil
    }
    self = found.id
  }

  /// The ID of the nearest existing folder above `path`; `nil` if there is none.
  public static func nearest(above path: FilePath) -> FileID? {
    var folder = path
    while folder.removeLastComponent() {
      if let found = FileID(ofFolder: folder) { return found }
    }
    return nil
  }
}

/// The values that reveal a change of a file whose content is cached: inode, size, modification
/// time, and the time of the last change of any kind, which cannot be set.
///
/// Stricter than `FileIdentity`: a new mode, name or link also changes it, and the content is then
/// read again. It has no device number, because stamps are stored and the number differs between
/// machines and mounts.
public struct FileStamp: Hashable, Sendable, Codable {
  public var bytes: Int64
  public var modifiedNanoseconds: Int64
  public var changedNanoseconds: Int64
  public var inode: UInt64

  public init(
    bytes: Int64, modifiedNanoseconds: Int64, changedNanoseconds: Int64, inode: UInt64
  ) {
    self.bytes = bytes
    self.modifiedNanoseconds = modifiedNanoseconds
    self.changedNanoseconds = changedNanoseconds
    self.inode = inode
  }

  /// Follows symbolic links as far as `EnclosedPaths` allows; `nil` unless the target is a regular
  /// file.
  public init?(of path: FilePath) {
    self.init(of: path.text)
  }

  /// The stamp of a path as text (`PathText`).
  public init?(of path: String) {
    guard let found = (try? EnclosedPaths.status(of: path))?.fileStamp else { return nil }
    self = found
  }

  /// Whether the last change was more than two seconds before `nowNanoseconds` (since 1970). A
  /// later write then cannot have the same time in the file system's resolution. Uses the change
  /// time, which every write updates; the modification time can be set to any value, even in the
  /// future.
  public func isSettled(nowNanoseconds: Int64) -> Bool {
    let (age, overflow) = nowNanoseconds.subtractingReportingOverflow(changedNanoseconds)
    return !overflow && age > 2_000_000_000
  }

  /// The current time on the clock of file times.
  public static func nowNanoseconds() -> Int64 { nanoseconds(of: CLOCK_REALTIME) }
}

/// The stamps of many files, one after the other. The folders that they lie in stay open as long as
/// it exists, so that their paths are resolved once and not once per file.
///
/// Every stamp is what `FileStamp(of:)` would give. Not kept longer than one pass over the files
/// takes: a folder that takes the place of an open one is not noticed. Cost: one system call per
/// file, five for a link or a file that is absent; one descriptor per folder, at most 16.
public struct FileStamps {
  /// By path, as text (`PathText`); `nil` for one that cannot be opened.
  private var folders: [String: HeldFolder?] = [:]
  private static let mostFolders = 16

  public init() {}

  /// The stamp of a path as text (`PathText`). Links are followed as far as `EnclosedPaths` allows;
  /// `nil` unless the target is a regular file.
  public mutating func stamp(of path: String) -> FileStamp? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
      return FileStamp(of: path)
    }
    let name = String(path[path.utf8.index(after: slash)...])
    return folder(String(path[..<slash]))?.stamp(of: name) ?? FileStamp(of: path)
  }

  private mutating func folder(_ path: String) -> HeldFolder? {
    if let known = folders[path] { return known }
    if folders.count >= Self.mostFolders { folders = [:] }
    let opened = HeldFolder(FilePath(text: path))
    folders[path] = .some(opened)
    return opened
  }
}

/// The size of a file or folder.
public struct FolderSize: Hashable, Sendable {
  public var bytes: Int64 = 0
  public var files = 0
  /// Allocated bytes: less than `bytes` if files have holes.
  public var allocatedBytes: Int64 = 0

  public init(bytes: Int64 = 0, files: Int = 0) {
    self.bytes = bytes
    self.files = files
  }

  /// The size of everything at and below `path`. Links are counted but not followed. Entries that
  /// cannot be inspected are not counted: sizes are shown, and waited by, and nothing is decided by them.
  ///
  /// Cost: one system call per file, and one descriptor at a time.
  public init(of path: FilePath) {
    guard let found = try? FileStatus(of: path, followsLast: false) else { return }
    guard found.kind == .folder else {
      add(found)
      return
    }
    var folders = [path]
    while let next = folders.popLast() {
      guard let folder = HeldFolder(next, followsLast: false) else { continue }
      for (name, kind) in (try? folder.list()) ?? [] {
        if kind == .folder {
          folders.append(next.appending(name: name))
        } else if let found = folder.status(of: name) {
          add(found)
        }
      }
    }
  }

  private mutating func add(_ file: FileStatus) {
    bytes += file.bytes
    allocatedBytes += file.allocatedBytes
    files += 1
  }

  public static func += (a: inout FolderSize, b: FolderSize) {
    a.bytes += b.bytes
    a.files += b.files
    a.allocatedBytes += b.allocatedBytes
  }
}
