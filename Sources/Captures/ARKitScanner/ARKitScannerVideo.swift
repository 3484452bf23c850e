import Media
import SystemPackage

extension CaptureVideo {
  /// Opens the first video track; the app writes one, and no audio. The container is detected by
  /// content.
  ///
  /// - Parameter keys: number of entries in the pose file, if any.
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

  /// Size of the stored picture, to which intrinsics refer.
  var storedSize: ARKitScannerPictureSize {
    ARKitScannerPictureSize(width: track.storedWidth, height: track.storedHeight)
  }

  /// Size of the picture after the turn of a rotation flag, which the app itself never writes.
  var uprightSize: ARKitScannerPictureSize {
    ARKitScannerPictureSize(width: track.uprightWidth, height: track.uprightHeight)
  }
}

extension CountedPictures {
  /// The app writes frame number / 60 as the time of a picture.
  ///
  /// - Parameters:
  ///   - frames: number of frames that keys and depth records have.
  ///   - count: number of those that have a key.
  init(arkitScanner video: CaptureVideo, frames: Int, count: Int) {
    self.init(
      video.sixtieths(from: 0), count: video.pictureCount, isFromStart: video.isFromStart,
      divider: 1, Partners(length: frames, count: count, has: { $0 < frames }))
  }
}
