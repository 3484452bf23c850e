import Core
import SystemPackage

/// Why a capture or one of its streams cannot be read: file, record, byte offset and, if there is
/// one, the remedy. Its text is one line, even if a file name contains line breaks.
public struct CaptureError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  public var file: FilePath
  /// Zero-based index of the record concerned.
  public var record: Int?
  var byteOffset: Int?
  public var problem: String
  var remedy: String?
  /// The system's error number, where the machine failed and nothing is known of the content.
  var errorNumber: Errno?

  public init(
    file: FilePath, record: Int? = nil, byteOffset: Int? = nil, problem: String,
    remedy: String? = nil, errorNumber: Errno? = nil
  ) {
    self.file = file
    self.record = record
    self.byteOffset = byteOffset
    self.problem = problem
    self.remedy = remedy
    self.errorNumber = errorNumber
  }

  public var description: String {
    var text = file.shown.onOneLine
    if let record { text += ", record \(record)" }
    if let byteOffset { text += ", byte \(byteOffset)" }
    text += ": \(problem.onOneLine)"
    if let remedy { text += " (\(remedy))" }
    return text
  }
}
