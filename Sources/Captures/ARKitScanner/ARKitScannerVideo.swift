import Codecs
import SystemPackage

extension CaptureVideo {
  /// The first video track: the app writes one, and no audio. The container is told by its content.
  ///
  /// - Parameter keys: entries of the pose file, if there are any.
  init(arkitScanner path: FilePath, keys: Int) throws(CaptureError) {
    let video = try CaptureVideo(path, statedCounts: keys > 0 ? [keys] : [])
    guard let video, video.pictureCount > 0, video.track.storedWidth > 0,
      video.track.storedHeight > 0
    else {
      throw CaptureError(
        file: path, problem: "no pictures", remedy: "copy the file from the device again")
    }
    self = video
  }

  /// Pixels of the picture as stored, which is what intrinsics belong to.
  var storedSize: ARKitScannerPictureSize {
    ARKitScannerPictureSize(width: track.storedWidth, height: track.storedHeight)
  }

  /// Pixels of the picture after the turn that a rotation flag asks for; the app writes none.
  var uprightSize: ARKitScannerPictureSize {
    ARKitScannerPictureSize(width: track.uprightWidth, height: track.uprightHeight)
  }
}
