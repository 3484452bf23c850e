import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A folder held open, for looking at many of its entries without walking its path each time.
public final class OpenFolder: Sendable {
  private let descriptor: Int32

  /// `nil` when there is no folder that can be read. Follows symbolic links.
  public init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
  }

  /// A folder in this one; links are not followed when `followsLinks` is `false`.
  public init?(_ name: String, in folder: OpenFolder, followsLinks: Bool = true) {
    descriptor = openat(
      folder.descriptor, name,
      O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The stamp of a regular file, `name` relative to this folder; follows links.
  public func stamp(of name: String) -> FileStamp? {
    var status = stat()
    guard fstatat(descriptor, name, &status, 0) == 0 else { return nil }
    return FileStamp(status)
  }

  /// The bytes of a regular file of at most `limit` bytes, and its stamp before it was read.
  public func contents(of name: String, limit: Int = 1 << 28) -> (bytes: [UInt8], stamp: FileStamp)?
  {
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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

  /// What an entry is by itself.
  public enum Kind: Sendable {
    case file, folder, link, other
  }

  /// Names and kinds of all entries but `.` and `..`, in the order of the file system.
  public func entries() -> [(name: String, kind: Kind)] {
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0, let stream = fdopendir(own) else {
      if own >= 0 { close(own) }
      return []
    }
    defer { closedir(stream) }
    var found: [(name: String, kind: Kind)] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      found.append((name, kind(of: name, type: Int32(entry.pointee.d_type))))
    }
    return found
  }

  private func kind(of name: String, type: Int32) -> Kind {
    switch type {
    case Int32(DT_REG): return .file
    case Int32(DT_DIR): return .folder
    case Int32(DT_LNK): return .link
    case Int32(DT_UNKNOWN):
      var status = stat()
      guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .other }
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
