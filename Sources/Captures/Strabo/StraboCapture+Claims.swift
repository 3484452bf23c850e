import Media
import Core

extension StraboCapture {
  /// Adds claims about stream lengths: the movie's index states the number of pictures, and the
  /// movie's duration that of a cut geo log.
  func claim(_ capture: inout Capture, _ media: StraboMedia?) {
    guard case .movie(let movie)? = media else { return }
    capture.claims.add(
      "color", held: movie.track.pictureCount, declared: movie.track.listedPictures,
      by: "the index of the movie")
    guard let geo = capture.geo.value, geo.isCut, let last = geo.description.lastTimestamp else {
      return
    }
    capture.claims.add(
      "geo", held: movie.times.count { $0 <= last }, declared: movie.times.count,
      unit: "frames lie before the last point", by: "the movie")
  }
}
