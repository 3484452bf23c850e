import SystemPackage

/// An error about the content of a file: damaged, truncated or of an unsupported kind.
public protocol ContentError: Error {
  /// The file, if known.
  var contentFile: FilePath? { get }
}
