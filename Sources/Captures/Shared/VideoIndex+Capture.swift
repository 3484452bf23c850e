import Codecs
import SystemPackage

extension VideoIndex {
  /// The index of a capture's video.
  ///
  /// - Parameter statedCounts: how many pictures side files speak of.
  static func ofCapture(
    _ path: FilePath, statedCounts: Set<Int> = []
  ) throws(CaptureError) -> VideoIndex {
    do throws(VideoError) {
      return try VideoIndex.read(path, statedCounts: statedCounts)
    } catch {
      throw CaptureError(
        file: error.file, byteOffset: error.byteOffset.map { Int($0) }, problem: error.what,
        remedy: error.remedy)
    }
  }
}
