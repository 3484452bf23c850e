import Media
import Core
import SystemPackage

extension ScanNetCapture {
  /// - Parameter timedPictures: number of color times, if any.
  func color(timedPictures: Int?) -> StreamState<ScanNetColor.Facts> {
    guard let path = files.color else {
      tables.missing("h264", "there is no color")
      return .absent("\(files.stem).h264 is missing")
    }
    do {
      let stated = [metadata.count("numColorFrames"), timedPictures].compactMap(\.self)
      return .present(
        try ScanNetColor.facts(of: path, statedCounts: Set(stated.filter { $0 > 0 })))
    } catch {
      return .unreadable(error)
    }
  }

  func colorStream(
    _ color: StreamState<ScanNetColor.Facts>, times: ScanNetFrames
  ) -> StreamState<ColorStream> {
    switch color {
    case .absent(let reason): .absent(reason)
    case .unreadable(let error): .unreadable(error)
    case .present(let facts): .present(stream(of: facts, times: times))
    }
  }

  /// Describes the pictures and compares their size with the declared one.
  private func stream(of facts: ScanNetColor.Facts, times: ScanNetFrames) -> ColorStream {
    let path = files.color ?? files.folder
    let claimed = (metadata.pixels("colorWidth"), metadata.pixels("colorHeight"))
    facts.oddities.report(to: warnings, beside: colorFit(facts))
    var description = StreamDescription(
      file: path.shownName, encoding: VideoContainer.annexBEncoding,
      width: facts.width ?? claimed.0,
      height: facts.height ?? claimed.1, frames: facts.pictures,
      declaredFrames: metadata.count("numColorFrames"))
    description.color = facts.color
    let known = times.frames.prefix(facts.pictures).compactMap(\.colorTimestamp)
    description.firstTimestamp = known.first
    description.lastTimestamp = known.last
    description.rateHz = TimeSteps(known).rateHz
    return ColorStream(
      source: .video(path, track: 0), description: description,
      clockwiseQuarterTurns: facts.clockwiseQuarterTurns, order: facts.order)
  }

  /// Sets intrinsics and extrinsics, if there is a metadata file.
  func calibrate(
    _ capture: inout Capture, depth: ScanNetDepth, colorFacts: ScanNetColor.Facts?
  ) {
    guard tables.hasMetadata else {
      capture.intrinsics =
        tables.metadataProblem.map { .unreadable($0) } ?? .absent("\(files.stem).txt is missing")
      return
    }
    let fit = colorFit(colorFacts)
    let color = ScanNetCalibration.color(from: metadata, fit)
    if let obstacle = fit.obstacle {
      capture.intrinsics = .absent(obstacle)
    } else {
      let rows = color.map {
        ScanNetCalibration.intrinsicsRows($0, frames: capture.frames.count)
      }
      capture.intrinsics =
        rows.map { .present($0) } ?? .absent("\(files.stem).txt lacks color intrinsics")
    }
    if files.depth != nil {
      capture.alignment = ScanNetCalibration.calibration(
        from: metadata, depthSize: (depth.width, depth.height), color: color)
    }
  }

  /// How the intrinsics in the metadata relate to the pictures. A side that the metadata do not
  /// state is that of the pictures.
  private func colorFit(_ facts: ScanNetColor.Facts?) -> ColorFit {
    var stored: (width: Int, height: Int)?
    if let width = facts?.width, let height = facts?.height { stored = (width, height) }
    var stated: (width: Int, height: Int)?
    if let width = metadata.pixels("colorWidth") ?? stored?.width,
      let height = metadata.pixels("colorHeight") ?? stored?.height
    {
      stated = (width, height)
    }
    return ColorFit(stated: stated, stored: stored)
  }
}
