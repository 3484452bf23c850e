import Codecs
import Geometry
import SystemPackage

/// The color video, indexed: its pictures are counted and none is decoded.
struct MultiScanVideo: Sendable {
  var track: VideoTrack
  /// Further video tracks, which are not read.
  var otherVideoTracks: Int
  /// The file ends before its own index says.
  var endsEarly: Bool

  /// Of several video tracks the first one of the size that the metadata states (as
  /// stored, else upright), else the first.
  /// Tracks of other kinds do not count.
  init(_ path: FilePath, preferring resolution: MultiScanResolution) throws(CaptureError) {
    let index: VideoIndex
    do throws(VideoError) {
      index = try VideoIndex.read(path)
    } catch {
      throw CaptureError(
        file: error.file, byteOffset: error.byteOffset.flatMap { Int(exactly: $0) },
        problem: error.what, remedy: error.remedy)
    }
    let ofClaimedSize =
      index.tracks.first {
        resolution == .size(width: $0.storedWidth, height: $0.storedHeight)
      }
      ?? index.tracks.first {
        resolution == .size(width: $0.uprightWidth, height: $0.uprightHeight)
      }
    guard let track = ofClaimedSize ?? index.tracks.first else {
      throw CaptureError(file: path, problem: "it has no video track")
    }
    self.track = track
    otherVideoTracks = index.tracks.count - 1
    endsEarly = index.endsEarly
  }

  var pictures: Int { track.presentationTicks.count }

  /// Presentation times; with `start`, those of a recording whose first picture is shown then.
  /// `nil` for a time beyond ±292 years.
  func times(startingAt start: Timestamp?) -> [Timestamp?] {
    let first = start == nil ? 0 : track.presentationTicks.first ?? 0
    return track.presentationTicks.map { tick in
      let (difference, overflow) = tick.subtractingReportingOverflow(first)
      guard !overflow, let offset = track.timeBase.nanoseconds(ofTicks: difference) else {
        return nil
      }
      return (start ?? Timestamp(nanoseconds: 0)).advanced(byNanoseconds: offset)
    }
  }
}
