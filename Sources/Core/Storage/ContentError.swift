import SystemPackage

/// An error about the content of a file: damaged, truncated or of an unsupported kind.
public protocol ContentError: Error {
  /// The file, if known.
  var contentFile: FilePath? { get }
  /// The system's error number, where the machine failed and nothing is known of the content.
  var errorNumber: Errno? { get }
}

extension ContentError {
  public var errorNumber: Errno? { nil }
}
