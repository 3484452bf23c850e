import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension HeldFolder {
  /// Removes a file, a link, or a folder with its content. Does nothing if nothing is there.
  ///
  /// Works with descriptors and enters only folders that it has inspected: never links, folders
  /// that are replaced meanwhile, or other mounted file systems. At most a few dozen descriptors
  /// are open at any depth; deeper folders are first moved up.
  public func remove(_ name: String) throws(FileError) {
    try check(name)
    guard let found = try entry(name) else { return }
    guard found.kind == .folder else { return try unlink(RawName(name)) }
    var removal = Removal(base: self, device: try status().device)
    try remove(RawName(name), depth: 0, &removal)
    while let next = removal.moved.popLast() { try remove(next, depth: 0, &removal) }
  }

  /// State of the removal of a folder, shared by all levels.
  private struct Removal {
    /// The folder to which folders at a great depth are moved.
    let base: HeldFolder
    /// Device number of the file system to which removal is limited.
    let device: UInt64
    /// Names in `base` that remain to be removed.
    var moved: [RawName] = []
  }

  /// Removes the folder `name` if it is empty. Returns whether it no longer exists.
  @discardableResult
  public func removeIfEmpty(_ name: String) -> Bool {
    guard (try? check(name)) != nil, (try? fault(.unlink, name, "remove folder")) != nil else {
      return false
    }
    return unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT
  }

  private static let deepest = 32

  private func remove(
    _ name: RawName, depth: Int, _ removal: inout Removal
  ) throws(FileError) {
    guard let found = try entry(name) else { return }
    guard found.kind == .folder else { return try unlink(name) }
    guard let inner = try folder(name) else { return }
    guard try inner.status().id == found.id else {
      throw FileError(
        kind: .temporary, path: inner.path, operation: "remove",
        reason: "was replaced by something else while it was removed")
    }
    guard scanmill_is_mount_root(inner.descriptor) == 0, found.device == removal.device else {
      throw FileError.notOurs(inner.path, "is a mounted file system", operation: "remove")
    }
    // Another process may still be adding files.
    for attempt in 0..<8 {
      for child in try inner.rawNames() {
        if depth >= Self.deepest, try inner.entry(child)?.kind == .folder {
          removal.moved.append(
            try inner.moveUp(child, to: removal.base, number: removal.moved.count))
        } else {
          try inner.remove(child, depth: depth + 1, &removal)
        }
      }
      try fault(.unlink, name.text, "remove folder")
      if unlinkat(descriptor, name.bytes, AT_REMOVEDIR) == 0 { return }
      let code = errno
      if code == ENOENT { return }
      guard code == ENOTEMPTY || code == EEXIST, attempt < 7 else {
        throw failure(code, name.text, "remove folder")
      }
    }
  }

  /// Moves a folder at a great depth to a new name in `base`.
  private func moveUp(
    _ name: RawName, to base: HeldFolder, number: Int
  ) throws(FileError) -> RawName {
    for attempt in 0..<1000 {
      let up = RawName(Replacement.name(of: "removed-\(number)-\(attempt)"))
      let code = scanmill_rename_new_entry(descriptor, name.bytes, base.descriptor, up.bytes)
      if code == 0 { return up }
      guard code == EEXIST else { throw failure(code, name.text, "remove folder") }
    }
    throw failure(EEXIST, name.text, "remove folder")
  }

  /// Programs may leave read-only folders. If removal is denied, the folder is made writable and
  /// the removal is tried once more.
  private func unlink(_ name: RawName) throws(FileError) {
    try fault(.unlink, name.text, "remove")
    if unlinkat(descriptor, name.bytes, 0) == 0 || errno == ENOENT { return }
    let code = errno
    if code == EACCES, fchmod(descriptor, 0o700) == 0, unlinkat(descriptor, name.bytes, 0) == 0 {
      return
    }
    throw failure(code, name.text, "remove")
  }
}
