import CPlatform
import SystemPackage
import Glibc

extension HeldFolder {
  // MARK: Reading

  /// Opens the regular file `name` for reading; `nil` if it does not exist.
  public func openFile(_ name: String) throws(FileError) -> FileDescriptor? {
    try openedFile(name)?.file
  }

  private func openedFile(
    _ name: String
  ) throws(FileError) -> (file: FileDescriptor, status: FileStatus)? {
    try check(name)
    let file =
      StorageFaults.fails(.open, path.appending(name: name))
      ? -1 : openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else {
      let code = errno
      if code == ENOENT { return nil }
      if code == ELOOP { try refuse(name, operation: "read") }
      throw failure(code, name, "read")
    }
    do throws(Errno) {
      let status = try FileStatus(FileDescriptor(rawValue: file))
      if status.kind == .file { return (FileDescriptor(rawValue: file), status) }
    } catch {
      close(file)
      throw failure(error.rawValue, name, "look at")
    }
    close(file)
    throw FileError.notOurs(path.appending(name), "is not a file", operation: "read")
  }

  /// The content of the regular file `name` and its stamp before reading. `nil` for anything else,
  /// for files larger than `limit` bytes, and if the file was shortened while it was read.
  ///
  /// Cost: four system calls; no error text is created.
  public func stampedContents(
    of name: String, limit: Int = InputLimits.bytesOfRecord.most
  ) -> (bytes: [UInt8], stamp: FileStamp)? {
    let opened =
      StorageFaults.fails(.open, path.appending(name: name))
      ? -1
      : PathText.withCString(name) {
        openat(descriptor, $0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
      }
    guard opened >= 0 else {
      DeviceErrors.note(Errno(rawValue: errno), path.appending(name: name), "read")
      return nil
    }
    defer { close(opened) }
    guard let stamp = (try? FileStatus(FileDescriptor(rawValue: opened)))?.fileStamp,
      stamp.bytes <= limit
    else { return nil }
    let size = Int(stamp.bytes)
    var isWhole = true
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got =
          StorageFaults.fails(.read, path.appending(name: name))
          ? -1 : read(opened, buffer.baseAddress.map { $0 + count }, size - count)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else {
          if got < 0 {
            DeviceErrors.note(Errno(rawValue: errno), path.appending(name: name), "read")
          }
          isWhole = false
          return
        }
        count += got
      }
    }
    return isWhole ? (bytes, stamp) : nil
  }

  /// The content of the regular file `name`; `nil` if it does not exist. Throws for files larger
  /// than `limit` bytes.
  public func contents(of name: String, limit: Int = InputLimits.bytesOfRecord.most)
    throws(FileError) -> [UInt8]?
  {
    guard let (file, status) = try openedFile(name) else { return nil }
    defer { try? file.close() }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: Int(max(1, min(status.bytes, 1 << 16))))
    do {
      while true {
        let count = try piece.withUnsafeMutableBytes { try file.read(into: $0) }
        if count == 0 { return bytes }
        bytes += piece[..<count]
        guard bytes.count <= limit else { break }
      }
    } catch {
      throw FileError(error, path: path.appending(name), operation: "read")
    }
    throw FileError(
      kind: .other, path: path.appending(name), operation: "read", reason: "is too large")
  }

  /// The content of a file below `root`, a folder that the user named. Links below `root` are not
  /// followed. `nil` if there is no such regular file.
  public static func contents(
    of path: FilePath, below root: FilePath, limit: Int = InputLimits.bytesOfRecord.most
  ) -> [UInt8]? {
    guard let (folder, last) = place(of: path, below: root) else { return nil }
    return try? folder.contents(of: last, limit: limit)
  }

  /// Opens the file for reading.
  public static func file(_ path: FilePath, below root: FilePath) -> FileDescriptor? {
    guard let (folder, last) = place(of: path, below: root) else { return nil }
    return try? folder.openFile(last)
  }

  private static func place(
    of path: FilePath, below root: FilePath
  ) -> (folder: HeldFolder, name: String)? {
    var rest = path
    guard rest.removePrefix(root), let last = rest.lastComponent?.string else { return nil }
    do throws(FileError) {
      var folder = try following(root)
      for component in rest.removingLastComponent().components {
        guard let inner = try folder.folder(component.string) else { return nil }
        folder = inner
      }
      return (folder, last)
    } catch {
      return nil
    }
  }

  // MARK: Writing

  /// Creates an empty file for writing. Throws if the name exists.
  public func create(_ name: String) throws(FileError) -> FileDescriptor {
    try check(name)
    try fault(.create, name, "create")
    let file = openat(
      descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure(errno, name, "create") }
    return FileDescriptor(rawValue: file)
  }

  /// Opens a file for appending; creates it if it does not exist.
  public func append(to name: String) throws(FileError) -> FileDescriptor {
    try openForWriting(name, O_APPEND, operation: "create")
  }

  /// Writes a file of exactly these bytes; existing content is replaced. Not atomic, so the file
  /// must have no readers meanwhile. A link is refused. `durably` adds an `fsync`.
  func overwrite(
    _ name: String, with bytes: [UInt8], durably: Bool = false
  ) throws(FileError) {
    let file = try openForWriting(name, O_TRUNC, operation: "write")
    do {
      try file.closeAfter {
        try fault(.write, name, "write")
        _ = try file.writeAll(bytes)
        if durably, fsync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
      }
    } catch {
      throw error as? FileError ?? failure((error as? Errno ?? .ioError).rawValue, name, "write")
    }
  }

  /// Opens a regular file; creates it if it does not exist. A link, pipe or device is refused.
  private func openForWriting(
    _ name: String, _ flags: Int32, operation: String
  ) throws(FileError) -> FileDescriptor {
    try check(name)
    try fault(.create, name, operation)
    let file = PathText.withCString(name) {
      openat(
        descriptor, $0, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0o666)
    }
    guard file >= 0 else {
      let code = errno
      if code == ELOOP { try refuse(name, operation: "write") }
      throw failure(code, name, operation)
    }
    let found: FileStatus
    do throws(Errno) {
      found = try FileStatus(FileDescriptor(rawValue: file))
    } catch {
      close(file)
      throw failure(error.rawValue, name, operation)
    }
    guard found.kind == .file else {
      close(file)
      throw FileError.notOurs(path.appending(name), "is not a file")
    }
    return FileDescriptor(rawValue: file)
  }

  /// Lets a file hold this much space of the disk, whatever is in it; creates it if it does not exist. File systems
  /// that cannot allocate in advance are written to. What was allocated before an error stays.
  public func allocate(_ bytes: Int64, as name: String) throws(FileError) {
    let file = try openForWriting(name, 0, operation: "create")
    defer { try? file.close() }
    let code = posix_fallocate(file.rawValue, 0, off_t(max(1, bytes)))
    guard code == 0 else { throw failure(code, name, "write") }
  }

  /// Creates a file of exactly these bytes. Throws if the name exists. Removes the file after an
  /// error. `durably` adds an `fsync`; without it, write-back of larger files is started but not
  /// awaited.
  public func write(
    _ bytes: [UInt8], as name: String, durably: Bool = false
  ) throws(FileError) {
    let file = try create(name)
    do {
      try file.closeAfter {
        try fault(.write, name, "write")
        WritebackHint.expect(bytes.count, in: file)
        _ = try file.writeAll(bytes)
        if durably {
          try fault(.flush, name, "flush")
          if fsync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
        } else if bytes.count >= WritebackHint.leastBytes {
          WritebackHint.begin(file, bytes: Int64(bytes.count))
        }
      }
    } catch {
      unlinkat(descriptor, name, 0)
      throw FileError(error, path: path.appending(name), operation: "write")
    }
  }

  /// Creates a file of exactly these bytes atomically. Returns `false` and does nothing if the name
  /// exists.
  public func writeNew(_ bytes: [UInt8], as name: String) throws(FileError) -> Bool {
    try check(name)
    let beside = Replacement.name(of: name)
    // Also where creating it is said to have failed: the answer of a server may be lost.
    defer { unlinkat(descriptor, beside, 0) }
    try write(bytes, as: beside)
    // `linkat` is atomic also on file systems where `renameat2` is not: it fails if the name
    // exists.
    if linkat(descriptor, beside, descriptor, name, 0) == 0 { return true }
    if errno == EEXIST { return false }
    do throws(FileError) {
      try renameNew(beside, to: self, as: name)
      return true
    } catch {
      if try entry(name) != nil { return false }
      throw error
    }
  }

  /// Replaces a small file atomically: writes a temporary file beside it, flushes it, and renames
  /// it. A link or folder in its place is refused. Content whose damage is detectable and that can
  /// be recreated need not be flushed (`durably: false`).
  public func replace(
    _ name: String, with bytes: [UInt8], durably: Bool = true
  ) throws(FileError) {
    if let present = try entry(name), present.kind != .file {
      try refuse(name, operation: "write")
    }
    let beside = Replacement.name(of: name)
    do throws(FileError) {
      try write(bytes, as: beside, durably: durably)
      try rename(beside, to: self, as: name)
    } catch {
      unlinkat(descriptor, beside, 0)
      throw error
    }
  }

  // MARK: Renaming

  /// Renames within one file system. Replaces a file with the new name.
  public func rename(_ name: String, to folder: HeldFolder, as newName: String) throws(FileError) {
    try check(name)
    try folder.check(newName)
    try folder.fault(.rename, newName, "rename")
    guard renameat(descriptor, name, folder.descriptor, newName) == 0 else {
      throw folder.failure(errno, newName, "rename")
    }
  }

  /// Renames within one file system. Throws if the new name exists.
  public func renameNew(
    _ name: String, to folder: HeldFolder, as newName: String
  ) throws(FileError) {
    try check(name)
    try folder.check(newName)
    try folder.fault(.rename, newName, "publish")
    let code = scanmill_rename_new_entry(descriptor, name, folder.descriptor, newName)
    guard code == 0 else { throw folder.failure(code, newName, "publish") }
  }

  /// Exchanges two names of one file system atomically. Returns `false` and does nothing if the
  /// file system does not support it (NFS).
  public func exchange(
    _ name: String, with folder: HeldFolder, _ other: String
  ) throws(FileError) -> Bool {
    try check(name)
    try folder.check(other)
    try folder.fault(.exchange, other, "publish")
    let code = scanmill_exchange_entries(descriptor, name, folder.descriptor, other)
    if code == EINVAL || code == ENOSYS || code == EOPNOTSUPP { return false }
    guard code == 0 else { throw folder.failure(code, other, "publish") }
    return true
  }

  // MARK: Flushing

  /// Makes creations, renames and removals in this folder durable, where the file system can: some of FUSE and SMB answer
  /// EINVAL for a folder.
  public func flush() throws(FileError) {
    let failure =
      StorageFaults.fault(.flushFolder, path)
      ?? (fsync(descriptor) == 0 ? nil : Errno(rawValue: errno))
    if let failure, failure != .invalidArgument {
      throw FileError(failure, path: path, operation: "flush")
    }
  }

  /// Flushes all data of its file system. One call per batch is much cheaper than one `fsync` per
  /// file, which costs milliseconds.
  public func flushFileSystem() throws(FileError) {
    if let fault = StorageFaults.fault(.flushFileSystem, path) {
      throw FileError(fault, path: path, operation: "flush")
    }
    let code = scanmill_sync_filesystem(descriptor)
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: path, operation: "flush")
    }
  }
}

/// The temporary name of a file that will replace another one in the same folder:
/// `.NAME.<home>-<process>.new`.
public enum Replacement {
  static func name(of name: String) -> String {
    ".\(name).\(ProcessHome.current)-\(getpid()).new"
  }

  /// Whether `found` is an unfinished replacement of `name` whose writer has ended. Files of other
  /// machines count as abandoned if `isOld`.
  public static func isAbandoned(_ found: String, of name: String, isOld: Bool) -> Bool {
    guard found.hasPrefix(".\(name)."), found.hasSuffix(".new"),
      found.utf8.count > name.utf8.count + 6
    else { return false }
    let who = found.dropFirst(name.count + 2).dropLast(4).split(
      separator: "-", omittingEmptySubsequences: false)
    guard who.count == 2, let process = Int32(who[1]) else { return false }
    return who[0] == ProcessHome.current ? !ProcessHome.isAlive(process) : isOld
  }
}
