import Media
import Core
import SystemPackage

extension CaptureError {
  /// An error for a file that cannot be opened or read.
  package init(_ error: FileError, of file: FilePath) {
    self.init(
      file: file, problem: error.problem, remedy: error.remedy,
      errorNumber: error.isOfMachine ? error.code : nil)
  }

  /// Gives the error's reason without naming the failed operation.
  init(reasonOf error: FileError, at file: FilePath) {
    self.init(error, of: file)
    problem = error.reason
  }

  /// An error for a video that cannot be indexed.
  init(_ error: VideoError) {
    self.init(
      file: error.file, byteOffset: error.byteOffset.flatMap { Int(exactly: $0) },
      problem: error.what, remedy: error.remedy, errorNumber: error.errorNumber)
  }

  /// An error for a picture that cannot be read.
  init(_ error: ImageError, of file: FilePath) {
    self.init(
      file: file, byteOffset: error.byteOffset, problem: error.what, remedy: error.remedy,
      errorNumber: error.errorNumber)
  }
}
