/// The app format of a capture, by the name that files and the command line give it: `vi-slam`.
///
/// Which names have a reader is known to a `CaptureRegistry` alone. A name is a constant beside its reader.
public struct CaptureFamily: RawRepresentable, Hashable, Sendable, Codable {
  public let rawValue: String

  public init(_ name: String) { rawValue = name }

  /// `nil` for an empty name.
  public init?(rawValue: String) {
    guard !rawValue.isEmpty else { return nil }
    self.rawValue = rawValue
  }
}
