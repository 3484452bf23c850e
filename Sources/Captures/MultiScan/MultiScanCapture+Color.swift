import Media
import SystemPackage

extension MultiScanCapture {
  /// Builds the color stream. Pairing separately written files by index is approximate and causes a
  /// warning; an unreadable video causes none, because its error is reported.
  func makeColor() -> StreamState<ColorStream> {
    switch contents.color {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let video):
      let files = contents.files
      guard let name = files.colorVideo(in: contents.generation) else {
        return .absent("no video (.mp4)")
      }
      warnings.add(
        .multipleStreams, "color", count: video.otherTracks,
        "further video tracks of \(name) are not read")
      if let second = files.secondaryVideo, second != name {
        warnings.add(.multipleStreams, "color", "\(second) is not exported")
      }
      if video.endsEarly {
        warnings.add(
          .truncatedStream, "color",
          "\(name) ends before its own index says; what is there is used")
      }
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "color",
          "the rotation of \(name) is not a multiple of 90 degrees; it is not applied")
      }
      VideoOddities(video.track).report(to: warnings, beside: contents.colorFit)
      let hiddenDoubt = frames.pictures.doubt ?? hiddenTime(video)
      if pairsApproximately {
        warnings.add(
          .pairingApproximate, "color", count: video.pictures,
          "pictures are paired by index or by the start of the recording, not by a common clock"
            + (lengthDifference > 0 ? "; they \(LossWords.shifted(lengthDifference))" : "")
            + (hiddenDoubt.map { "; " + $0 } ?? ""))
      } else if let hiddenDoubt {
        warnings.add(.pairingApproximate, "color", count: video.pictures, hiddenDoubt)
      }
      var stream = description(
        name, encoding: video.track.encoding, width: video.track.uprightWidth,
        height: video.track.uprightHeight,
        frames: video.pictures, declared: contents.metadata?.color?.declaredFrames,
        times: frames.frames.map(\.colorTimestamp))
      stream.color = video.track.color
      stream.pairing = StreamPairing(
        frames.pictures.way, with: contents.linesInUse == nil ? "depth frames" : "lines",
        paired: frames.pictures.paired, of: video.pictures,
        isDoubtful: pairsApproximately || hiddenDoubt != nil)
      return .present(video.stream(stream, framesOfPictures: frames.pictures.frames))
    }
  }

  /// A message if pictures are timed from the start of the motion files and an edit list may hide
  /// that start.
  private func hiddenTime(_ video: CaptureVideo) -> String? {
    let hidden = video.track.hidden
    guard hidden.before > 0, contents.linesInUse == nil, contents.earliestMotion != nil else {
      return nil
    }
    return
      "the movie's edit list hides its first \(hidden.before) pictures: if motion was recorded from the first "
      + "of them on, times are \(HiddenStart.milliseconds(hidden.nanoseconds)) ms too early"
  }

  /// Between the lengths of pictures, lines and depth.
  private var lengthDifference: Int {
    let depth = frames.pairing.firstDepthFrame + frames.pairing.depthFrames
    let lengths = [frames.pictures.length, frames.pairing.lines, depth].filter { $0 > 0 }
    return (lengths.max() ?? 0) - (lengths.min() ?? 0) + frames.pairing.uncertainty
  }

  private var pairsApproximately: Bool {
    switch contents.generation {
    case .iosLidar, .iosLidar2020: false
    case .androidARCore, .iosStereo: true
    case .iosSingle, .iosDual, .androidPlain: contents.earliestMotion != nil
    }
  }
}
