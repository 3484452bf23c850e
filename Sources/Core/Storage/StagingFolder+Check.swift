import SystemPackage

/// Checks the files in a staging folder, whichever program wrote them.
extension StagingFolder {
  /// Digests a file that an external program wrote into the folder, and adds it to the artifact.
  /// Symbolic links are refused, in its path too, because an artifact contains its own bytes.
  public func adopt(_ name: String) throws(FileError) {
    let name = try claim(name)
    var (folder, path) = (folder, path)
    let components = FilePath(name).components.map(\.string)
    for component in components.dropLast() {
      path.append(component)
      guard let inner = try Self.own({ () throws(FileError) in try folder.folder(component) })
      else {
        throw FileError(.noSuchFileOrDirectory, path: path, operation: "publish")
      }
      folder = inner
    }
    try adopt(components.last ?? "", in: folder, as: name)
  }

  /// Adds every file in the folder that is not part of the artifact yet.
  public func adoptAll() throws(FileError) {
    try checkInPlace()
    try walk(folder, "") { (folder, name, entry, relative) throws(FileError) in
      guard !self.isListed(relative) else { return }
      _ = try self.claim(relative)
      try self.adopt(name, in: folder, as: relative)
    }
  }

  private func adopt(
    _ name: String, in folder: HeldFolder, as relative: String
  ) throws(FileError) {
    let path = folder.path.appending(name)
    guard let file = try Self.own({ () throws(FileError) in try folder.openFile(name) }) else {
      throw FileError(.noSuchFileOrDirectory, path: path, operation: "publish")
    }
    do {
      try file.closeAfter {
        let before = try FileIdentity(file, path: path)
        let digest = try Digest(reading: file)
        guard try FileIdentity(file, path: path) == before else {
          throw Self.problem(path, "was still being written after the program had ended")
        }
        record(relative, bytes: before.bytes, digest: digest)
      }
    } catch {
      throw error as? FileError
        ?? FileError(error as? Errno ?? .ioError, path: path, operation: "read")
    }
  }

  /// Throws if the folder is no longer at its original name. A folder that a program put in its
  /// place is neither written to nor published.
  public func checkInPlace() throws(FileError) {
    guard try parent.holds(folder, as: name) else {
      throw Self.problem(
        path, "was moved away or replaced while the stage ran",
        remedy: "a program must leave the folder that it is given where it is")
    }
  }

  /// Compares the folder with `outputs`: all of them must exist with their sizes, and nothing else
  /// except the record. Cost: inspects every file.
  public func check(_ outputs: [OutputEntry]) throws(FileError) {
    try checkInPlace()
    var missing = Dictionary(outputs.map { ($0.path, $0.bytes) }) { first, _ in first }
    try walk(folder, "") { (folder, name, entry, relative) throws(FileError) in
      // NFS keeps a removed file that is still open under such a name, and removes it later.
      if relative == Self.reservedName || name.hasPrefix(".nfs") { return }
      guard let bytes = missing.removeValue(forKey: relative) else {
        throw Self.problem(folder.path.appending(name), "is not among the files of the stage")
      }
      guard entry.bytes == bytes else {
        throw Self.problem(
          folder.path.appending(name), "has \(entry.bytes) bytes, \(bytes) were written")
      }
    }
    guard let first = missing.keys.min() else { return }
    throw FileError(
      kind: .temporary, path: path.appending(FilePath(first).components), operation: "publish",
      reason: "no longer exists (missing files in total: \(missing.count))",
      remedy: "something else removes files of this output: check that its file system shares locks"
    )
  }

  private func walk(
    _ folder: HeldFolder, _ prefix: String,
    _ body: (HeldFolder, String, FileStatus, String) throws(FileError) -> Void
  ) throws(FileError) {
    for name in try folder.rawNames().sorted(by: { $0.text < $1.text }) {
      let path = folder.path.appending(name.text)
      guard name.isText else { throw Self.problem(path, "has a name that is not UTF-8") }
      guard let entry = try folder.entry(name) else { continue }
      switch entry.kind {
      case .file: try body(folder, name.text, entry, prefix + name.text)
      case .folder:
        guard
          let inner = try Self.own({ () throws(FileError) in try folder.folder(name.text) })
        else { continue }
        try walk(inner, prefix + name.text + "/", body)
      case .link: throw Self.problem(path, "is a symbolic link", remedy: "write the file itself")
      case .other: throw Self.problem(path, entry.phrase)
      }
    }
  }

  /// Converts errors about foreign files to errors about the program, because it wrote everything
  /// in its folder.
  private static func own<Value>(
    _ body: () throws(FileError) -> Value
  ) throws(FileError) -> Value {
    do throws(FileError) {
      return try body()
    } catch {
      guard error.kind == .notOurs else { throw error }
      let reason = error.reason.split(separator: ";").first.map(String.init) ?? error.reason
      throw problem(error.path, reason, remedy: "write the file itself")
    }
  }

  private static func problem(
    _ path: FilePath, _ reason: String, remedy: String? = nil
  ) -> FileError {
    FileError(
      kind: .unpublishable, path: path, operation: "publish", reason: reason, remedy: remedy)
  }
}
