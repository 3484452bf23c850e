import SystemPackage

/// Decodes with several threads while the video is intact, and with one from the first damage on.
struct DecoderState {
  let timeBase: VideoTimeBase
  var counts: VideoDecoder.Counts { pass.counts }

  private let file: FilePath
  private let container: VideoContainer
  private let track: Int?
  private let order: PictureOrder
  private let orientation: VideoOrientation
  private var pass: DecodePass
  private var delivered = 0
  /// CPU time of earlier passes.
  private var earlierThreadCPUNanoseconds: Int64 = 0

  /// CPU time of the decoder's own threads, without that of the caller.
  var threadCPUNanoseconds: Int64 { earlierThreadCPUNanoseconds + pass.threadCPUNanoseconds }

  init(
    _ file: FilePath, container: VideoContainer, track: Int?, order: PictureOrder,
    orientation: VideoOrientation, threads: Int
  ) throws(VideoError) {
    self.file = file
    self.container = container
    self.track = track
    self.order = order
    self.orientation = orientation
    pass = try DecodePass(
      file, container: container, track: track, order: order, orientation: orientation,
      threads: threads)
    timeBase = pass.timeBase
  }

  mutating func next() throws(VideoError) -> DecodedPicture? {
    var picture = try pass.next()
    if pass.isThreaded && pass.isDamaged {
      try restart(threads: 1)
      picture = try pass.next()
    }
    if picture != nil { delivered += 1 }
    guard delivered > 0 else {
      throw VideoError(
        file: file, what: "no picture could be decoded", byteOffset: 0,
        remedy: "check with a video player whether the file is complete")
    }
    return picture
  }

  var mayUseThreads: Bool { pass.mayUseThreads }

  /// Continues with another number of threads. No effect once damage was found.
  mutating func use(threads: Int) throws(VideoError) {
    if mayUseThreads, !pass.isDamaged { try restart(threads: threads) }
  }

  /// Restarts and decodes up to the current position.
  private mutating func restart(threads: Int) throws(VideoError) {
    earlierThreadCPUNanoseconds += pass.threadCPUNanoseconds
    pass = try DecodePass(
      file, container: container, track: track, order: order, orientation: orientation,
      threads: threads)
    for _ in 0..<delivered {
      if try pass.next() == nil { break }
      // Decodes everything again, with one thread.
      if pass.isThreaded && pass.isDamaged { return try restart(threads: 1) }
    }
  }
}
