import SystemPackage

/// An error about the content of a file: damaged, truncated or of an unsupported kind.
public protocol ContentError: Error {
  /// The file, if known.
  var contentFile: FilePath? { get }
  /// The system's error number, where the machine failed and nothing is known of the content.
  var errorNumber: Errno? { get }
  /// What helps where another copy of the file does not, as an order; `nil`: another copy may help.
  var correction: String? { get }
}

extension ContentError {
  public var errorNumber: Errno? { nil }
  public var correction: String? { nil }
}
