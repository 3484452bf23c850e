import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension MetricsText {
  /// Throws why a file cannot be written, as far as that shows before it is: there is no such folder, it may
  /// not be written to, or something else than a file has the name.
  public static func check(_ file: FilePath) throws(FileError) {
    _ = try place(of: file)
    let above = file.removingLastComponent()
    guard above.withPlatformString({ access($0, W_OK) }) == 0 else {
      throw FileError(Errno(rawValue: errno), path: above, operation: "write")
    }
  }

  private static func place(
    of file: FilePath
  ) throws(FileError) -> (folder: HeldFolder, name: String) {
    guard let name = file.lastComponent?.string, file.lastComponent?.kind == .regular else {
      throw FileError(
        kind: .other, path: file, operation: "write", reason: "is not the name of a file")
    }
    let above = file.removingLastComponent()
    // The user's own word, also where it lies in the output.
    EnclosedPaths.leaveOpen(above)
    let folder: HeldFolder
    do throws(FileError) {
      folder = try HeldFolder.following(above)
    } catch {
      guard error.kind == .notFound else { throw error }
      throw FileError(
        kind: .notFound, path: file, operation: "write",
        reason: "there is no folder \(above.shown.onOneLine)",
        remedy: "make the folder, or choose another file for --metrics")
    }
    if let present = try folder.entry(name), present.kind != .file {
      throw FileError.notOurs(
        file, "is not a file", remedy: "choose another file for --metrics, or remove it")
    }
    return (folder, name)
  }

  /// Replaces the file in one step: a reader sees the old text or the new one. Others may read it (mode
  /// 0644, whatever the umask says): the node exporter runs as a user of its own. Only a file is replaced:
  /// a link, a device or a folder in its place is an error.
  ///
  /// Not flushed to disk: it is out of date after a power cut anyway.
  public func write(to file: FilePath) throws(FileError) {
    let (folder, name) = try Self.place(of: file)
    // One name for all times: what a kill leaves is replaced by the next one. It does not end with
    // `.prom`, so that it is not taken for metrics.
    let beside = ".\(name).scanmill-new"
    try folder.remove(beside)
    let descriptor = try folder.create(beside)
    do {
      defer { try? descriptor.close() }
      guard fchmod(descriptor.rawValue, 0o644) == 0 else { throw Errno(rawValue: errno) }
      _ = try descriptor.writeAll(Array(text.utf8))
    } catch {
      try? folder.remove(beside)
      throw FileError(error as? Errno ?? .ioError, path: file, operation: "write")
    }
    do throws(FileError) {
      try folder.rename(beside, to: folder, as: name)
    } catch {
      try? folder.remove(beside)
      throw error
    }
  }
}
