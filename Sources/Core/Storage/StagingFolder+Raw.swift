import SystemPackage

extension StagingFolder {
  /// Writes the elements of an array in memory order, which is little-endian.
  public func write<Element: BitwiseCopyable>(
    elements: [Element], as name: String
  ) throws(FileError) {
    let file = try create(name)
    do {
      try elements.withUnsafeBytes { try file.append(raw: $0) }
    } catch {
      throw (error as? FileError)
        ?? FileError(kind: .other, path: path, operation: "write", reason: "\(error)")
    }
    try file.finish()
  }
}
