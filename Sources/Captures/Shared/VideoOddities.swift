import Codecs

/// What is odd about the pictures of a video, as every family reports it.
struct VideoOddities: Sendable {
  let pictures: Int
  /// Steps at which the container's time goes back.
  let backwardSteps: Int
  /// Pictures of another size than the first.
  let picturesOfOtherSize: Int
  /// The transfer, where it is one that an ordinary screen does not expect.
  let unusualTransfer: String?

  init(_ track: VideoTrack) {
    self.init(
      pictures: track.pictureCount, backwardSteps: track.backwardSteps,
      picturesOfOtherSize: track.picturesOfOtherSize,
      unusualTransfer: track.color.isUnusualTransfer ? track.color.transfer : nil)
  }

  init(
    pictures: Int, backwardSteps: Int, picturesOfOtherSize: Int, unusualTransfer: String? = nil
  ) {
    self.pictures = pictures
    self.backwardSteps = backwardSteps
    self.picturesOfOtherSize = picturesOfOtherSize
    self.unusualTransfer = unusualTransfer
  }

  /// - Parameter fit: what the app states of the size, if it states any. A size that changes within the
  ///   video counts the pictures concerned and stands for the difference from the stated one, too.
  func report(to warnings: WarningCollector, beside fit: ColorFit? = nil) {
    warnings.add(
      .timestampsUnordered, "color", count: backwardSteps, of: .size(pictures),
      "times in the video that go backward; pictures stay in the order in which they are decoded")
    warnings.add(
      .sizeMismatch, "color", count: picturesOfOtherSize,
      "the size changes within the video: pictures of another size than the first keep their own")
    if let unusualTransfer {
      warnings.add(
        .hdrVideo, "color",
        "the video's transfer is \(unusualTransfer): its pictures are written as the ffmpeg program gives "
          + "them, without conversion, and look washed out on an ordinary screen")
    }
    if picturesOfOtherSize == 0 { fit?.report(to: warnings) }
  }
}

/// Why a mirrored video leaves no camera whose pose could be told; `nil` for others.
func mirrorObstacle(_ track: VideoTrack?) -> String? {
  guard let track, track.orientation.isMirrored else { return nil }
  return mirrorReason
}

let mirrorReason = "the video's display matrix mirrors its pictures: no camera takes such pictures"
