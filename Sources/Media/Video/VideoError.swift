import Core
import SystemPackage

/// A video that cannot be read or written.
public struct VideoError: Error, Hashable, Sendable, CustomStringConvertible {
  public var file: FilePath
  /// What is wrong, as a clause: `no moov atom`.
  public var what: String
  /// Offset in the file, if known.
  public var byteOffset: Int64?
  /// What the user can do.
  public var remedy: String?
  /// The system's error number, where the machine failed and nothing is known of the content.
  public var errorNumber: Errno?

  public var description: String {
    let place = byteOffset.map { " (byte \($0))" } ?? ""
    let advice = remedy.map { "; \($0)" } ?? ""
    return "\(file.string.onOneLine): \(what)\(place)\(advice)"
  }
}
