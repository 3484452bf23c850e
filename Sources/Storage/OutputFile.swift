import SystemPackage

/// Whole files written in one go, at paths that the caller vouches for.
public enum OutputFile {
  /// Creates `path` with exactly these bytes; what was there is cut to them. Links on the way are followed as
  /// far as `EnclosedPaths` allows; one in its place is refused. `durably` adds an `fsync`.
  public static func write(
    _ bytes: [UInt8], to path: FilePath, durably: Bool = false
  ) throws(FileError) {
    guard let name = path.name else {
      throw FileError(.isDirectory, path: path, operation: "write")
    }
    let above = path.removingLastComponent()
    let folder: HeldFolder
    do throws(Errno) {
      folder = HeldFolder(
        taking: try HeldFolder.open(above.isEmpty ? FilePath(".") : above), at: above)
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
    try folder.overwrite(name, with: bytes, durably: durably)
  }
}
