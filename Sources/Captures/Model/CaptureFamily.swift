/// The app format of a capture, by its name in files and on the command line: `vi-slam`.
///
/// Only a `CaptureRegistry` knows which names have a reader. Each reader defines a constant for its
/// family.
public struct CaptureFamily: RawRepresentable, Hashable, Sendable, Codable {
  public let rawValue: String

  public init(_ name: String) { rawValue = name }

  /// `nil` for an empty name.
  public init?(rawValue: String) {
    guard !rawValue.isEmpty else { return nil }
    self.rawValue = rawValue
  }
}
