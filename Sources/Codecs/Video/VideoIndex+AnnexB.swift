extension VideoIndex {
  /// A bare H.264 stream: a slice (type 1 or 5) that begins with the first macroblock starts a picture.
  /// Coded fields count one by one.
  static func readAnnexB(_ input: MediaInput) throws(VideoError) -> VideoIndex {
    var pictures = 0
    var units = 0
    try AnnexBScanner.forEachUnit(input) { _, head, first in
      units += 1
      let type = head & 0x1f
      // The number of the first macroblock is 0 exactly if the first bit is 1 (Exp-Golomb code).
      if (type == 1 || type == 5) && first & 0x80 != 0 { pictures += 1 }
    }
    guard units > 0 else {
      throw VideoError(
        file: input.file, what: "no start code of an H.264 stream", byteOffset: 0,
        remedy: "check that it is a bare stream and not empty")
    }
    let size = try AnnexBReader(input).pictureSize()
    return VideoIndex(
      tracks: [
        VideoTrack(
          number: 0, encoding: "h264-annexb", storedWidth: size.width, storedHeight: size.height,
          orientation: .upright, timeBase: VideoTimeBase(denominator: 1),
          pictureCount: pictures, presentationTicks: [])
      ], endsEarly: false)
  }
}
