import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What the file system says of one file, folder or link at one moment.
///
/// The only value of the program that is asked for by `stat`. Those who keep something of it make less of it:
/// `FileStamp` is stored, `FileIdentity` is compared while a file is read, `FileID` says which file it is.
/// Cost: one system call.
public struct FileStatus: Sendable {
  public enum Kind: Sendable {
    case file, folder, link
    /// A pipe, a device, a socket.
    case other
  }

  private let status: Stat

  /// Of an open file or folder.
  public init(_ file: FileDescriptor) throws(Errno) {
    status = try Stat(file)
  }

  /// At `path`. Links are followed as far as `EnclosedPaths` allows, one at the end unless `followsLast` is
  /// `false`.
  public init(of path: FilePath, followsLast: Bool = true) throws(Errno) {
    self = try EnclosedPaths.status(of: path.text, followsLast: followsLast)
  }

  /// At `path`, with all links followed, wherever they lead: for paths of the user and of the kernel.
  public init(followingAllLinksOf path: FilePath) throws(Errno) {
    status = try Stat(path)
  }

  /// At a path that no border is kept for.
  init(_ path: UnsafePointer<CChar>, followsLast: Bool) throws(Errno) {
    status = try Stat(path, followTargetSymlink: followsLast)
  }

  /// At a path relative to an open folder; a link at its end is looked at by itself.
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
  /// What the file system has set aside for it: less than `bytes` where a file has holes.
  public var allocatedBytes: Int64 { status.sizeAllocated }
  /// Since 1970, as are all times.
  public var modifiedNanoseconds: Int64 { Self.nanoseconds(status.st_mtim) }
  public var changedNanoseconds: Int64 { Self.nanoseconds(status.st_ctim) }
  public var inode: UInt64 { UInt64(status.inode.rawValue) }
  public var device: UInt64 { UInt64(status.deviceID.rawValue) }
  /// Names that the file has.
  public var links: Int { status.linkCount }
  /// Kind and permissions, as the system has them in one number.
  public var mode: UInt32 { UInt32(status.mode.rawValue) }

  /// Numbers of its owner and its group.
  public var user: UInt32 { status.userID.rawValue }
  public var group: UInt32 { status.groupID.rawValue }

  /// Which file, folder or link it is.
  public var id: FileID { FileID(device: device, inode: inode) }

  /// Whatever it is.
  public var stamp: FileStamp {
    FileStamp(
      bytes: bytes, modifiedNanoseconds: modifiedNanoseconds,
      changedNanoseconds: changedNanoseconds, inode: inode)
  }

  /// `nil` unless it is a regular file.
  public var fileStamp: FileStamp? { kind == .file ? stamp : nil }

  /// In words: "is a symbolic link".
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
