import Media
import Core
import SystemPackage

extension StraboCapture {
  /// Builds the color stream and warns of its unusual properties.
  func color(_ media: StreamState<StraboMedia>) -> StreamState<ColorStream> {
    switch media {
    case .absent(let why): .absent(why)
    case .unreadable(let error): .unreadable(error)
    case .present(.movie(let movie)): .present(color(movie))
    case .present(.still(let still)): .present(color(still))
    }
  }

  private func color(_ movie: StraboMovie) -> ColorStream {
    let track = movie.track
    let file = movie.video.name
    warnings.add(
      .multipleStreams, "color", count: movie.video.otherTracks,
      "further video tracks in \(file); not used")
    if track.orientation.isIgnored {
      warnings.add(
        .rotationIgnored, "color",
        "the rotation in the display matrix is not a multiple of 90°: pictures stay as stored")
    }
    if movie.video.endsEarly {
      warnings.add(
        .truncatedStream, file, "the movie ends before its own index says; what is there is used")
    }
    VideoOddities(track).report(to: warnings)
    var description = movie.video.description()
    description.firstTimestamp = movie.times.first
    description.lastTimestamp = movie.times.last
    description.rateHz = TimeSteps(movie.times).rateHz
    return movie.video.stream(description)
  }

  private func color(_ still: CaptureStill) -> ColorStream {
    var description = StreamDescription(
      file: still.path.shownName, encoding: still.encoding,
      width: still.width, height: still.height, frames: 1)
    description.firstTimestamp = Timestamp(nanoseconds: 0)
    description.lastTimestamp = Timestamp(nanoseconds: 0)
    return ColorStream(
      source: .stills([still.path]), description: description,
      clockwiseQuarterTurns: still.clockwiseQuarterTurns)
  }
}
