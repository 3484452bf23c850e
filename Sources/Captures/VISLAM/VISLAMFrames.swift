import Core
import Media
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

extension VISLAMFrames {
  /// The color stream. Rows whose size differs from that of the pictures are reported.
  func color(declaredFrames: Int?, _ warnings: WarningCollector) -> StreamState<ColorStream> {
    switch pictures {
    case .none: return .absent("no video and no stills")
    case .unreadable(let error): return .unreadable(error)
    case .video(let video):
      reportSizes(warnings, video.track.storedSize)
      VideoOddities(video.track).report(to: warnings)
      if video.otherTracks > 0 {
        warnings.add(
          .multipleStreams, "video", count: video.otherTracks,
          "further video tracks in \(video.name); not used")
      }
      if video.endsEarly {
        warnings.add(
          .truncatedStream, video.name,
          "the video ends before its own index says; what is there is used")
      }
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "video",
          "the rotation in the display matrix is not a multiple of 90°: pictures stay as stored")
      }
      var description = video.description(declaredFrames: declaredFrames)
      describeTimes(&description)
      return .present(
        video.stream(description, framesOfPictures: frames.frameOfPicture))
    case .named(let named): return color(named.compactMap { $0 }, declaredFrames, warnings)
    case .unnamed(let stills): return color(stills, declaredFrames, warnings)
    }
  }

  private func color(
    _ stills: [FilePath], _ declaredFrames: Int?, _ warnings: WarningCollector
  ) -> StreamState<ColorStream> {
    guard !stills.isEmpty else { return .absent("no still that a row names is there") }
    do throws(CaptureError) {
      // The size is that of the first readable still: a damaged one must not hide the others.
      let still = try CaptureStill(firstReadable: stills.prefix(16))
      reportSizes(warnings, still.stored)
      var description = StreamDescription(
        file: VISLAMFiles.stillsFolder, encoding: still.encoding, width: still.size.width,
        height: still.size.height, frames: stills.count, declaredFrames: declaredFrames)
      describeTimes(&description)
      return .present(
        ColorStream(
          source: .stills(stills), description: description,
          clockwiseQuarterTurns: still.clockwiseQuarterTurns,
          frameOfPicture: frames.frameOfPictureUnlessPlain))
    } catch {
      return .unreadable(error)
    }
  }

  private func describeTimes(_ description: inout StreamDescription) {
    let times = frames.frames.compactMap(\.colorTimestamp)
    description.firstTimestamp = times.first
    description.lastTimestamp = times.last
    description.rateHz = TimeSteps(frames.frames.compactMap(\.timestamp)).rateHz
    description.gaps = gaps
    description.pairing = pairing
    description.readoutSeconds =
      Median.upper(frames.rowOfFrame.compactMap { $0.flatMap { rows[$0].readoutSeconds } })
      ?? description.readoutSeconds
  }

  private var pairing: StreamPairing? {
    guard hasRows else { return nil }
    let pictures = frames.frameOfPicture.count
    let paired = pictures - frames.picturesWithoutRow
    if let match {
      return StreamPairing(
        match.way, with: "rows", paired: paired, of: pictures, isDoubtful: !match.isProved)
    }
    switch self.pictures {
    case .named: return StreamPairing(.number, with: "rows", paired: paired, of: pictures)
    case .unnamed:
      return StreamPairing(
        .rank, with: "rows", paired: paired, of: pictures, isDoubtful: pictures != rows.count)
    case .none, .unreadable, .video: return nil
    }
  }

  private func reportSizes(_ warnings: WarningCollector, _ size: PictureSize) {
    let others = rows.count {
      ($0.width ?? size.width) != size.width || ($0.height ?? size.height) != size.height
    }
    warnings.add(
      .sizeMismatch, VISLAMFiles.frameFile, count: others,
      "rows that state another picture size than \(size.width)x\(size.height)")
  }

  /// Exposure and sensitivity of the rows that have them.
  func cameraSettings(_ table: StreamState<VISLAMFrameTable>) -> StreamState<CameraSettingsStream> {
    table.then { table in
      guard table.hasCameraSettings else {
        return .absent("\(table.file) has no columns for exposure and ISO")
      }
      let settings = frames.rowOfFrame.enumerated().compactMap { frame, row -> CameraSettingsRow? in
        guard let row = row.map({ rows[$0] }), row.exposureSeconds != nil || row.iso != nil else {
          return nil
        }
        return CameraSettingsRow(
          frame: frame, exposureSeconds: row.exposureSeconds, iso: row.iso)
      }
      var description = StreamDescription(file: table.file, encoding: "csv", frames: settings.count)
      description.firstTimestamp = settings.first.flatMap { frames.frames[$0.frame].timestamp }
      description.lastTimestamp = settings.last.flatMap { frames.frames[$0.frame].timestamp }
      return .present(CameraSettingsStream(description: description, rows: settings))
    }
  }
}
