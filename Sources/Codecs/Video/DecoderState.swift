import SystemPackage

/// Decodes with several threads as long as the video is whole, with one from the first damage on.
struct DecoderState {
  let timeBase: VideoTimeBase
  var counts: VideoDecoder.Counts { pass.counts }

  private let file: FilePath
  private let container: VideoContainer
  private let track: Int?
  private let order: PictureOrder
  private var pass: DecodePass
  private var delivered = 0

  init(
    _ file: FilePath, container: VideoContainer, track: Int?, order: PictureOrder, threads: Int
  ) throws(VideoError) {
    self.file = file
    self.container = container
    self.track = track
    self.order = order
    pass = try DecodePass(
      file, container: container, track: track, order: order, threads: threads)
    timeBase = pass.timeBase
  }

  mutating func next() throws(VideoError) -> DecodedPicture? {
    var picture = try pass.next()
    if pass.isThreaded && pass.isDamaged {
      try startAgain()
      picture = try pass.next()
    }
    if picture != nil { delivered += 1 }
    guard delivered > 0 else {
      throw VideoError(
        file: file, what: "no picture could be decoded", byteOffset: 0,
        remedy: "check with a player whether the file is whole")
    }
    return picture
  }

  /// Back to where we are, with one thread.
  private mutating func startAgain() throws(VideoError) {
    pass = try DecodePass(file, container: container, track: track, order: order, threads: 1)
    for _ in 0..<delivered {
      if try pass.next() == nil { break }
    }
  }
}
