import SystemPackage

/// An error about what is in a file: damaged, cut short, of a kind that cannot be read.
public protocol ContentError: Error {
  /// The file, where it is known.
  var contentFile: FilePath? { get }
}
