import Codecs
import SystemPackage

/// The color video, its pictures counted and none of them decoded.
struct ARKitScannerVideo: Sendable {
  let name: String
  let path: FilePath
  let track: VideoTrack
  /// The file ends before its own index says.
  let endsEarly: Bool

  var pictureCount: Int { track.pictureCount }
  /// Pixels of the picture as stored, which is what intrinsics belong to.
  var storedSize: ARKitScannerPictureSize {
    ARKitScannerPictureSize(width: track.storedWidth, height: track.storedHeight)
  }
  /// Pixels of the picture after the turn that a rotation flag asks for; the app writes none.
  var uprightSize: ARKitScannerPictureSize {
    ARKitScannerPictureSize(width: track.uprightWidth, height: track.uprightHeight)
  }

  /// The first video track: the app writes one, and no audio. The container is told by its content.
  ///
  /// - Parameter keys: entries of the pose file, if there are any.
  init(_ path: FilePath, name: String, keys: Int) throws(CaptureError) {
    do throws(VideoError) {
      let index = try VideoIndex.read(path, statedCounts: keys > 0 ? [keys] : [])
      guard let track = index.tracks.first, track.pictureCount > 0, track.storedWidth > 0,
        track.storedHeight > 0
      else {
        throw VideoError(
          file: path, what: "no pictures", remedy: "copy the file from the device again")
      }
      self.track = track
      endsEarly = index.endsEarly
    } catch {
      throw CaptureError(
        file: path, byteOffset: error.byteOffset.flatMap { Int(exactly: $0) },
        problem: error.what, remedy: error.remedy)
    }
    self.name = name
    self.path = path
  }
}
