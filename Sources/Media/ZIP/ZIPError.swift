/// Why an archive, or one entry of it, cannot be read.
public struct ZIPError: Error, Hashable, Sendable {
  /// Where in the archive.
  public var byteOffset: Int
  /// What is wrong, as a clause.
  public var what: String
}
