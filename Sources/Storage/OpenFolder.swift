import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder held open, for looking at many of its entries without walking its path each time.
public final class OpenFolder: Sendable {
  private let descriptor: Int32

  /// `nil` when there is no folder that can be read. Links on the way are followed, one at the end
  /// unless `followsLinks` is `false`.
  public init?(_ path: String, followsLinks: Bool = true) {
    descriptor = EnclosedPaths.open(
      path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else { return nil }
  }

  /// A folder in an enclosed one, or that one itself (`.`). Throws what keeps it from being read.
  public init(_ relative: String, in folder: EnclosedFolder) throws(FileError) {
    descriptor = folder.open(relative, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw FileError(
        Errno(rawValue: -descriptor),
        path: relative == "." ? folder.path : folder.path.pushing(FilePath(text: relative)),
        operation: "list")
    }
  }

  /// Throws what keeps it from being read: absent, no folder, forbidden. Links as above.
  public init(reading path: FilePath, followsLinks: Bool = true) throws(FileError) {
    descriptor = EnclosedPaths.open(
      path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "list")
    }
  }

  /// A folder in this one; a link is none.
  public init?(_ name: String, in folder: OpenFolder) {
    descriptor = PathText.withCString(name) {
      openat(folder.descriptor, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    }
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The stamp of a regular file in this folder; a link is none.
  public func stamp(of name: String) -> FileStamp? {
    var status = stat()
    guard
      PathText.withCString(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0
    else { return nil }
    return FileStamp(status)
  }

  /// The stamp of whatever has this name, a link by itself.
  public func ownStamp(of name: String) -> FileStamp? {
    var status = stat()
    let found = PathText.withCString(name) {
      fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW)
    }
    return found == 0 ? FileStamp(ofAnything: status) : nil
  }

  /// A folder further down, `path` relative to this one; no link is followed, and none leads up.
  public func below(_ path: String) -> OpenFolder? {
    var folder = self
    for name in path.split(separator: "/") {
      guard name != "..", let inner = OpenFolder(String(name), in: folder)
      else { return nil }
      folder = inner
    }
    return folder
  }

  /// The bytes of a regular file in this folder of at most `limit` bytes, and its stamp before it was read;
  /// a link is none.
  public func contents(of name: String, limit: Int = InputLimits.bytesOfRecord.most) -> (
    bytes: [UInt8], stamp: FileStamp
  )? {
    let file = PathText.withCString(name) {
      openat(descriptor, $0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, let stamp = FileStamp(status), stamp.bytes <= limit else {
      return nil
    }
    let size = Int(stamp.bytes)
    var isWhole = true
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = read(file, buffer.baseAddress.map { $0 + count }, size - count)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else {
          isWhole = false
          return
        }
        count += got
      }
    }
    return isWhole ? (bytes, stamp) : nil
  }

  func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result { body(descriptor) }

  /// What an entry is by itself.
  public enum Kind: Sendable {
    case file, folder, link, other
  }

  /// Names (as `PathText` carries them) and kinds of all entries but `.` and `..`, in the order of the
  /// file system; none where it cannot be read.
  public func entries() -> [(name: String, kind: Kind)] { (try? list()) ?? [] }

  /// The same; throws the system's error when not all of them can be read.
  public func list() throws(Errno) -> [(name: String, kind: Kind)] {
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0, let stream = fdopendir(own) else {
      let code = errno
      if own >= 0 { close(own) }
      throw Errno(rawValue: code)
    }
    defer { closedir(stream) }
    var found: [(name: String, kind: Kind)] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { PathText.text(of: $0) }
      }
      if name != ".", name != ".." {
        found.append((name, kind(of: name, type: Int32(entry.pointee.d_type))))
      }
      errno = 0
    }
    // The end, or a device that did not answer in the middle.
    guard errno == 0 else { throw Errno(rawValue: errno) }
    return found
  }

  private func kind(of name: String, type: Int32) -> Kind {
    switch type {
    case Int32(DT_REG): return .file
    case Int32(DT_DIR): return .folder
    case Int32(DT_LNK): return .link
    case Int32(DT_UNKNOWN):
      var status = stat()
      guard
        PathText.withCString(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0
      else { return .other }
      switch status.st_mode & S_IFMT {
      case S_IFREG: return .file
      case S_IFDIR: return .folder
      case S_IFLNK: return .link
      default: return .other
      }
    default: return .other
    }
  }
}
