import SystemPackage
import Glibc

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
