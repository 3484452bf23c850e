import Codecs
import SystemPackage

extension MultiScan.Assembly {
  /// The color stream. Pairing by index between separately written files is approximate and said so;
  /// a video that cannot be read causes no code: its error tells.
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
        .multipleStreams, "color", count: video.otherVideoTracks,
        "further video tracks of \(name) are not read")
      if let second = files.secondaryVideo, second != name {
        warnings.add(.multipleStreams, "color", "\(second) is not exported")
      }
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "color",
          "the rotation of \(name) is not a multiple of 90 degrees; it is not applied")
      }
      VideoOddities(video.track).report(to: warnings, beside: contents.colorFit)
      if pairsApproximately {
        warnings.add(
          .pairingApproximate, "color", count: video.pictures,
          "pictures are paired by index or by the start of the recording, not by a common clock")
      }
      return .present(
        ColorStream(
          source: .video(files.path(of: name), track: video.track.number),
          description: description(
            name, encoding: video.track.encoding, width: video.track.uprightWidth,
            height: video.track.uprightHeight,
            frames: video.pictures, declared: contents.metadata?.color?.declaredFrames,
            times: frames.map(\.colorTimestamp)),
          clockwiseQuarterTurns: video.track.orientation.clockwiseQuarterTurns,
          order: video.track.order, isMirrored: video.track.orientation.isMirrored))
    }
  }

  private var pairsApproximately: Bool {
    switch contents.generation {
    case .iosLidar, .iosLidar2020: false
    case .androidARCore, .iosStereo: true
    case .iosSingle, .iosDual, .androidPlain: contents.earliestMotion != nil
    }
  }
}
