import Media
import Core
import SystemPackage

/// Pictures and rows joined to canonical frames.
struct VISLAMFrames {
  let frames: JoinedFrames
  /// Whether frame times are those of rows, which use the IMU's clock.
  let hasRows: Bool
  let pictures: VISLAMPictures
  let rows: [VISLAMFrameTable.Row]
  /// Number of gaps between rows.
  let gaps: Int
  /// Which row each picture of a video belongs to; `nil` without a video or rows.
  private(set) var match: StreamMatch?

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
      frames = JoinedFrames(rows: times) { _ in false }
    case .named(let stills):
      frames = JoinedFrames(rows: times) { stills[$0] != nil }
    case .unnamed(let stills):
      frames = JoinedFrames(
        rows: times, hasPicture: { $0 < stills.count }, untimedPictures: stills.count - times.count)
    case .video(let video):
      guard hasRows else {
        frames = JoinedFrames(pictures: video.pictureNanoseconds)
        break
      }
      let match = StreamMatch(
        .times(video.pictureNanoseconds, tickNanoseconds: video.tickNanoseconds),
        with: .times(times.map(\.nanoseconds), tickNanoseconds: 1),
        nouns: ("picture", "row"), hidden: video.track.hidden)
      frames = JoinedFrames(rows: times, pictures: video.pictureNanoseconds, match: match)
      self.match = match
      warnings.add(
        .pairingApproximate, "video", count: match.isProved ? 0 : video.pictureCount,
        match.doubt ?? "")
    }
    if table.error == nil { report(to: warnings) }
  }

  var usesStills: Bool {
    switch pictures {
    case .none, .unreadable, .video: false
    case .named, .unnamed: true
    }
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
        "stills were given to rows by their order alone and \(LossWords.shifted(difference))")
    case .video:
      warnings.add(
        .frameCountMismatch, "video",
        count: frames.rowsWithoutPicture + frames.picturesWithoutRow, lengths)
    }
  }

  /// Which pictures and rows lack the other, where the times prove it.
  private var lengths: String {
    let missing = frames.frames.indices.filter { frames.frames[$0].colorTimestamp == nil }
    let surplus = frames.rowOfFrame.indices.filter { frames.rowOfFrame[$0] == nil }
    let counts = "\(frames.frameOfPicture.count) pictures, \(rows.count) rows: "
    guard match?.isProved ?? false else {
      return counts + "the times do not prove which of them are missing"
    }
    return counts
      + [
        LossWords.pictures(missing, of: frames.frames.count),
        surplus.isEmpty
          ? nil
          : "no row has the time of \(Plural.word(surplus.count, "frame")) "
            + NumberWords.list(surplus),
      ].compactMap(\.self).joined(separator: "; ")
  }
}
