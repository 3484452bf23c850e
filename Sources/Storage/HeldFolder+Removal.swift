import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension HeldFolder {
  /// Removes a file, a link, or a folder with all it holds. Absent is fine.
  ///
  /// Goes down by descriptors and into nothing but what was looked at: neither through links nor into
  /// what is put in a folder's place meanwhile, nor into another mounted file system. Depth costs no
  /// more than a few dozen descriptors: what lies deeper is moved up first.
  public func remove(_ name: String) throws(FileError) {
    try check(name)
    guard let found = try entry(name) else { return }
    guard found.kind == .folder else { return try unlink(RawName(name)) }
    var removal = Removal(base: self, device: try status().device)
    try remove(RawName(name), depth: 0, &removal)
    while let next = removal.moved.popLast() { try remove(next, depth: 0, &removal) }
  }

  /// What removing a folder needs on all levels.
  private struct Removal {
    /// Where folders that lie too deep are moved to.
    let base: HeldFolder
    /// Of the file system that is not left.
    let device: UInt64
    /// Names in `base` that are still to be removed.
    var moved: [RawName] = []
  }

  /// Removes the folder `name` if it is empty; whether it is gone.
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
    // Somebody may still be adding to it.
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

  /// A folder that lies too deep, to a name in `base` that nothing has.
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

  /// A program may leave folders that nothing can be removed from: they are made writable, once.
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
