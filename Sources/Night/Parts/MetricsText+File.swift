import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension MetricsText {
  /// Replaces the file in one step: a reader sees the old text or the new one. Others may read it (mode
  /// 0644, whatever the umask says): the node exporter runs as a user of its own. Only a file is replaced:
  /// a link, a device or a folder in its place is an error.
  ///
  /// Not flushed to disk: it is out of date after a power cut anyway.
  public func write(to file: FilePath) throws(FileError) {
    guard let name = file.lastComponent?.string, file.lastComponent?.kind == .regular else {
      throw FileError(
        kind: .other, path: file, operation: "write", reason: "is not the name of a file")
    }
    let above = file.removingLastComponent()
    EnclosedPaths.leaveOpen(above)
    let folder = try HeldFolder.following(above)
    if let present = try folder.entry(name), present.kind != .file {
      throw FileError.notOurs(
        file, "is not a file", remedy: "choose another file for --metrics, or remove it")
    }
    // One name for all times: what a kill leaves is replaced by the next one. It does not end with
    // `.prom`, so that nobody takes it for metrics.
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
