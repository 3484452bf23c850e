import Codecs
import Geometry
import SystemPackage

/// Pictures and rows joined to canonical frames.
struct VISLAMFrames {
  let frames: VISLAMFrameList
  /// Whether frame times are those of rows, which use the IMU's clock.
  let hasRows: Bool
  let pictures: VISLAMPictures
  let rows: [VISLAMFrameTable.Row]
  /// Number of gaps between rows.
  let gaps: Int

  /// Joins pictures and rows, and reports those without a counterpart.
  init(
    _ pictures: VISLAMPictures, _ table: StreamState<VISLAMFrameTable>, _ warnings: WarningCollector
  ) {
    self.pictures = pictures
    rows = table.value?.rows ?? []
    gaps = table.value?.gaps ?? 0
    hasRows = !rows.isEmpty
    let times = rows.map(\.timestamp)
    switch pictures {
    case .none, .unreadable:
      frames = VISLAMFrameList(rows: times) { _ in false }
    case .named(let stills):
      frames = VISLAMFrameList(rows: times) { stills[$0] != nil }
    case .unnamed(let stills):
      frames = VISLAMFrameList(
        rows: times, hasPicture: { $0 < stills.count }, untimedPictures: stills.count - times.count)
    case .video(let video):
      frames = Self.frames(of: video, times, rowsHaveGaps: gaps > 0, warnings)
    }
    if table.error == nil { report(to: warnings) }
  }

  var usesStills: Bool {
    switch pictures {
    case .none, .unreadable, .video: false
    case .named, .unnamed: true
    }
  }

  private static func frames(
    of video: CaptureVideo, _ rows: [Timestamp], rowsHaveGaps: Bool, _ warnings: WarningCollector
  ) -> VISLAMFrameList {
    let times = video.pictureNanoseconds
    guard !rows.isEmpty else { return VISLAMFrameList(pictures: times) }
    let pairing = VISLAMPairing(
      rows: rows, pictures: times, tickNanoseconds: video.tickNanoseconds,
      rowsHaveGaps: rowsHaveGaps, hidden: video.track.hidden)
    warnings.add(
      .pairingApproximate, "video", count: pairing.isApproximate ? times.count : 0,
      "the times of video and frame table do not prove which picture belongs to which row"
        + (pairing.mostOffNanoseconds.map {
          ": the movie's edit list hides its first \(video.track.hidden.before) pictures, times may be off by "
            + "\(HiddenStart.milliseconds($0)) ms"
        } ?? ""))
    return VISLAMFrameList(rows: rows, pictures: times, pairing: pairing)
  }

  private func report(to warnings: WarningCollector) {
    warnings.add(
      .timestampsMissing, hasRows ? "video" : VISLAMFiles.frameFile,
      count: frames.picturesWithoutRow,
      "pictures without a row of the frame table; their time is the video's")
    guard hasRows else { return }
    switch pictures {
    case .none, .unreadable: break
    case .named:
      // Names without a file were reported already.
      break
    case .unnamed(let stills):
      let difference = abs(stills.count - rows.count)
      warnings.add(
        .frameCountMismatch, "video", count: difference,
        "rows without a still, or stills without a row")
      warnings.add(
        .pairingApproximate, "video", count: difference > 0 ? stills.count : 0,
        "stills were given to rows by their order alone")
    case .video:
      warnings.add(
        .frameCountMismatch, "video",
        count: frames.rowsWithoutPicture + frames.picturesWithoutRow,
        "rows without a picture, or pictures without a row")
    }
  }
}
