import Media
import Core
import SystemPackage

extension CaptureVideo {
  /// Opens, of several video tracks, the first one with the size in the metadata (stored, else
  /// upright), else the first. Tracks other than video do not count.
  init(
    multiScan path: FilePath, preferring resolution: MultiScanResolution
  ) throws(CaptureError) {
    let video = try CaptureVideo(path) { tracks in
      let ofClaimedSize =
        tracks.first { resolution == .size(width: $0.storedWidth, height: $0.storedHeight) }
        ?? tracks.first { resolution == .size(width: $0.uprightWidth, height: $0.uprightHeight) }
      return ofClaimedSize ?? tracks.first
    }
    guard let video else { throw CaptureError(file: path, problem: "it has no video track") }
    self = video
  }

  /// Number of pictures with a time; 0 for a bare stream.
  var pictures: Int { track.presentationTicks.count }

  /// Presentation times; with `start`, shifted so that the first picture is displayed at that time.
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
