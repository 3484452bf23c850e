import Core
import Media
import SystemPackage

/// Why a capture or one of its streams cannot be read: file, record, byte offset and, if there is
/// one, the remedy. Its text is one line, even if a file name contains line breaks.
public struct CaptureError: Error, Hashable, Codable, CustomStringConvertible {
  public var file: FilePath
  /// Zero-based index of the record concerned.
  public var record: Int?
  var byteOffset: Int?
  public var problem: String
  var remedy: String?
  /// What helps where another copy of the file does not, in place of `remedy`.
  public var correction: String?
  /// The system's error number, where the machine failed or permission was lacking, and nothing is known of the content.
  public var errorNumber: Errno?

  public init(
    file: FilePath, record: Int? = nil, byteOffset: Int? = nil, problem: String,
    remedy: String? = nil, correction: String? = nil, errorNumber: Errno? = nil
  ) {
    self.file = file
    self.record = record
    self.byteOffset = byteOffset
    self.problem = problem
    self.remedy = remedy
    self.correction = correction
    self.errorNumber = errorNumber
  }

  public var description: String {
    var text = file.shown.onOneLine
    if let record { text += ", record \(record)" }
    if let byteOffset { text += ", byte \(byteOffset)" }
    text += ": \(problem.onOneLine)"
    if let advice = correction ?? remedy { text += " (\(advice))" }
    return text
  }
}

extension CaptureError {
  /// An error for a file that cannot be opened or read.
  package init(_ error: FileError, of file: FilePath) {
    self.init(
      file: file, problem: error.problem, correction: error.remedy,
      errorNumber: error.leavesUnknown ? error.code : nil)
  }

  /// Gives the error's reason without naming the failed operation.
  init(reasonOf error: FileError, at file: FilePath) {
    self.init(error, of: file)
    problem = error.reason
  }

  /// What `read` gives; its error names `file`.
  static func naming<Value>(
    _ file: FilePath, _ read: @autoclosure () throws(FileError) -> Value
  ) throws(CaptureError) -> Value {
    do throws(FileError) {
      return try read()
    } catch {
      throw CaptureError(error, of: file)
    }
  }

  /// The files of a capture's folder, when it is opened.
  static func listing(_ folder: FilePath) throws(CaptureError) -> FolderListing {
    do throws(FileError) {
      return try FolderListing(of: folder)
    } catch {
      throw CaptureError(reasonOf: error, at: folder)
    }
  }

  /// An error for a video that cannot be indexed.
  init(_ error: VideoError) {
    self.init(
      file: error.file, byteOffset: error.byteOffset.flatMap { Int(exactly: $0) },
      problem: error.what, remedy: error.remedy, correction: error.correction,
      errorNumber: error.errorNumber)
  }

  /// An error for a picture that cannot be read.
  init(_ error: ImageError, of file: FilePath) {
    self.init(
      file: file, byteOffset: error.byteOffset, problem: error.what, remedy: error.remedy,
      errorNumber: error.errorNumber)
  }
}

extension CaptureError: ContentError {
  public var contentFile: FilePath? { file }
}

extension CalibrationError: ContentError {
  public var contentFile: FilePath? { nil }
}
