import Core
import SystemPackage

/// A picture that cannot be read or written.
public struct ImageError: Error, Hashable, CustomStringConvertible {
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

/// A video that cannot be read or written.
public struct VideoError: Error, Hashable, CustomStringConvertible {
  public var file: FilePath
  /// What is wrong, as a clause: `no moov atom`.
  public var what: String
  /// Offset in the file, if known.
  public var byteOffset: Int64?
  /// What the user can do.
  public var remedy: String?
  /// What helps where another copy of the file does not, in place of `remedy`.
  public var correction: String?
  /// The system's error number, where the machine failed and nothing is known of the content.
  public var errorNumber: Errno?

  public var description: String {
    let place = byteOffset.map { " (byte \($0))" } ?? ""
    let advice = (correction ?? remedy).map { "; \($0)" } ?? ""
    return "\(file.string.onOneLine): \(what)\(place)\(advice)"
  }
}

extension VideoError: ContentError {
  public var contentFile: FilePath? { file.isEmpty ? nil : file }
}

extension ImageError: ContentError {
  public var contentFile: FilePath? { file }
}

extension StructureShiftDamage: ContentError {
  public var contentFile: FilePath? { nil }
}
