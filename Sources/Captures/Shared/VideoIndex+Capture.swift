import Codecs
import SystemPackage

extension VideoIndex {
  /// The index of a capture's video.
  static func ofCapture(_ path: FilePath) throws(CaptureError) -> VideoIndex {
    do throws(VideoError) {
      return try VideoIndex.read(path)
    } catch {
      throw CaptureError(
        file: error.file, byteOffset: error.byteOffset.map { Int($0) }, problem: error.what,
        remedy: error.remedy)
    }
  }
}
