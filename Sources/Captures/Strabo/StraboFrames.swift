import Core

/// The canonical frames: the pictures of a movie, or the one of a still.
struct StraboFrames {
  let frames: [CaptureFrame]

  init(_ media: StraboMedia?) {
    frames = Self.frames(media)
  }

  private static func frames(_ media: StraboMedia?) -> [CaptureFrame] {
    switch media {
    case nil: []
    case .still:
      [
        CaptureFrame(
          timestamp: Timestamp(nanoseconds: 0), colorTimestamp: Timestamp(nanoseconds: 0))
      ]
    case .movie(let movie): movie.times.map { CaptureFrame(timestamp: $0, colorTimestamp: $0) }
    }
  }
}
