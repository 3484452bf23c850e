import Processing
import Core
import SystemPackage

extension UnreadableStream: ContentError {
  var contentFile: FilePath? { nil }
}

extension AlignmentError: ContentError {
  public var contentFile: FilePath? { nil }
}
