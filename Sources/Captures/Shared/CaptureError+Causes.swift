import Codecs
import Storage
import SystemPackage

extension CaptureError {
  /// A file that cannot be opened or read.
  init(_ error: FileError, of file: FilePath) {
    self.init(file: file, problem: error.problem, remedy: error.remedy)
  }

  /// The same where what was tried goes without saying.
  init(reasonOf error: FileError, at file: FilePath) {
    self.init(file: file, problem: error.reason, remedy: error.remedy)
  }

  /// A video that cannot be indexed.
  init(_ error: VideoError) {
    self.init(
      file: error.file, byteOffset: error.byteOffset.flatMap { Int(exactly: $0) },
      problem: error.what, remedy: error.remedy)
  }

  /// A picture that cannot be read.
  init(_ error: ImageError, of file: FilePath) {
    self.init(file: file, byteOffset: error.byteOffset, problem: error.what, remedy: error.remedy)
  }
}
