import Media

/// Unusual properties of a video's pictures, which every family reports the same way.
struct VideoOddities: Sendable {
  let pictures: Int
  /// Number of steps at which the container's time goes back.
  let backwardSteps: Int
  /// Number of pictures of another size than the first.
  let picturesOfOtherSize: Int
  /// The transfer function, if ordinary screens do not expect it.
  let unusualTransfer: String?
  /// The primaries, if the transfer is an ordinary one and they are wider than those of ordinary
  /// screens.
  let widePrimaries: String?

  init(_ track: VideoTrack) {
    self.init(
      pictures: track.pictureCount, backwardSteps: track.backwardSteps,
      picturesOfOtherSize: track.picturesOfOtherSize,
      unusualTransfer: track.color.isUnusualTransfer ? track.color.transfer : nil,
      widePrimaries: track.color.isUnusualTransfer || !track.color.hasWidePrimaries
        ? nil : track.color.primaries)
  }

  init(
    pictures: Int, backwardSteps: Int, picturesOfOtherSize: Int, unusualTransfer: String? = nil,
    widePrimaries: String? = nil
  ) {
    self.pictures = pictures
    self.backwardSteps = backwardSteps
    self.picturesOfOtherSize = picturesOfOtherSize
    self.unusualTransfer = unusualTransfer
    self.widePrimaries = widePrimaries
  }

  /// Adds warnings.
  /// - Parameter fit: the size that the app states, if any. If the size changes within the video,
  ///   its warning counts the pictures concerned and also covers a difference from the stated size.
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
    if let widePrimaries {
      warnings.add(
        .hdrVideo, "color",
        "the video's primaries are \(widePrimaries): its pictures are written as the ffmpeg program gives "
          + "them, without conversion, and look dull on an ordinary screen; color.hdr=sdr converts them"
      )
    }
    if picturesOfOtherSize == 0 { fit?.report(to: warnings) }
  }
}

/// Why the pose of a mirrored video's camera is undefined; `nil` for other videos.
func mirrorObstacle(_ track: VideoTrack?) -> String? {
  guard let track, track.orientation.isMirrored else { return nil }
  return mirrorReason
}

let mirrorReason = "the video's display matrix mirrors its pictures: no camera takes such pictures"
