import Core
import SystemPackage

/// A picture that cannot be read or written.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file; `nil` for bytes in memory.
  public var file: FilePath?
  /// What is wrong, as a clause: `the file ends early`.
  public var what: String
  /// Number of bytes that had been read when the error was found.
  public var byteOffset: Int?
  /// What the user can do.
  public var remedy: String?
  /// The system's error number, where the machine failed and nothing is known of the content.
  public var errorNumber: Errno?

  public init(
    file: FilePath? = nil, what: String, byteOffset: Int? = nil, remedy: String? = nil,
    errorNumber: Errno? = nil
  ) {
    self.file = file
    self.what = what
    self.byteOffset = byteOffset
    self.remedy = remedy
    self.errorNumber = errorNumber
  }

  public var description: String {
    let subject = file?.shown.onOneLine ?? "picture in memory"
    let place = byteOffset.map { " (byte \($0))" } ?? ""
    let advice = remedy.map { "; \($0)" } ?? ""
    return "\(subject): \(what)\(place)\(advice)"
  }
}
