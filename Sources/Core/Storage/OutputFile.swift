import SystemPackage

/// Writes whole files at paths whose links may be followed.
public enum OutputFile {
  /// Writes a file of exactly these bytes; existing content is replaced. Links in the path are
  /// followed as far as `EnclosedPaths` allows; a link in the place of the file is refused.
  /// `durably` adds an `fsync`.
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
