import Core

extension StrayScannerCapture {
  /// Warns of absent and damaged files.
  func reportFiles() {
    if case .absent(let why) = tables.color { warnings.add(.missingFile, "color", why) }
    if case .absent(let why) = tables.depth { warnings.add(.missingFile, "depth", why) }
    if case .absent(let why) = tables.confidence, tables.generation.writesConfidence {
      warnings.add(.missingFile, "confidence", why)
    }
    if case .absent(let why) = tables.motion { warnings.add(.imuMissing, "imu", why) }
    if case .absent(let why) = tables.odometry { warnings.add(.missingFile, "poses", why) }
    for (isCut, subject) in [(tables.isOdometryCut, "poses"), (tables.isMotionCut, "imu")] {
      warnings.add(
        .truncatedStream, subject, count: isCut ? 1 : 0,
        "the file ends inside a line; its last cell is unknown")
    }
    for (pictures, subject) in [
      (tables.files.depth.value, "depth"), (tables.files.confidence.value, "confidence"),
    ] {
      warnings.add(
        .pathOutsideCapture, subject, count: pictures?.outside ?? 0,
        "pictures that are links out of the capture's folder; not followed")
    }
    guard let odometry = tables.odometry.value else { return }
    warnings.add(
      .corruptRecord, "poses", count: odometry.corrupt,
      "rows that are broken, or whose time or number is far away from all others"
        + (odometry.firstCorruptLine > 0 ? ", the first in line \(odometry.firstCorruptLine)" : ""))
    reportUnknown(odometry.unknownColumns, in: "poses")
  }

  /// Warns of streams whose length differs from the number of frames with a row; without rows, from
  /// the greatest stream.
  func reportLengths() {
    let color = tables.color.value?.pictureCount
    let depth = tables.depth.value?.fileCount
    let confidence = tables.confidence.value?.fileCount
    let lengths = [("color", color), ("depth", depth), ("confidence", confidence)]
    let rows = tables.odometry.value?.rows.count
    let expected = rows ?? lengths.compactMap(\.1).max() ?? 0
    for (stream, length) in lengths {
      guard let length else { continue }
      let way = stream == "color" ? frames.pairing?.way ?? .number : .number
      let missing = stream == "color" ? picturesMissing : nil
      warnings.add(
        .frameCountMismatch, stream, count: abs(length - expected),
        "\(length) pictures, \(expected) \(rows == nil ? "frames" : "rows"): "
          + (missing.flatMap { LossWords.pictures($0, of: frames.frames.count) }
            .map { $0 + LossWords.startCut(frames.slack) }
            ?? "paired by \(way.rawValue)") + filesMissing(stream))
    }
    warnings.add(
      .pairingApproximate, "color", count: frames.doubt == nil ? 0 : color ?? 0, frames.doubt ?? "")
    guard let color, let depth else { return }
    warnings.add(
      .colorShorterThanDepth, "color", count: depth - color,
      "\(color) pictures, \(depth) depth files")
    warnings.add(
      .depthShorterThanColor, "depth", count: color - depth,
      "\(depth) depth files, \(color) pictures")
  }

  /// The rows' frames that lack a depth or confidence file.
  private func filesMissing(_ stream: String) -> String {
    let rows = tables.odometry.value?.rows.map(\.frame) ?? []
    switch stream {
    case "depth":
      return LossWords.without(rows.filter { !(tables.depth.value?.hasFile($0) ?? true) })
    case "confidence":
      return LossWords.without(rows.filter { !(tables.confidence.value?.hasFile($0) ?? true) })
    default: return ""
    }
  }

  /// Rows without picture, where the keys prove which; `nil` without rows or proof.
  private var picturesMissing: [Int]? {
    guard let rows = tables.odometry.value?.rows, let pairing = frames.pairing,
      pairing.way != .rank, !pairing.isDoubtful
    else { return nil }
    return frames.framesWithoutPicture(rows)
  }

  func reportTimes() {
    guard tables.odometry.error == nil else { return }
    guard let odometry = tables.odometry.value else {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no frame has a time without \(StrayScannerFiles.odometryName)")
      return
    }
    if tables.generation == .early {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no times are recorded: those of the frames are "
          + (frames.frameOfPicture.isEmpty ? "nominal, 60 per second" : "the video's"))
    } else {
      warnings.add(
        .timestampsMissing, "frames", count: frames.framesWithoutRow,
        "frames with a picture but without a row have no time")
    }
    warnings.add(
      .timestampsDuplicate, "frames", count: odometry.repeated,
      "rows of a frame that an earlier row already has; the first is kept")
    let steps = TimeSteps(odometry.rows.map(\.time))
    warnings.add(
      .timestampsDuplicate, "frames", count: steps.repeated, "neighboring frames with equal times")
    warnings.add(
      .timestampsUnordered, "frames", count: steps.backward, of: .size(odometry.rows.count),
      "times of frames that go back; frames stay in the order of their numbers")
    warnings.add(
      .frameGap, "frames",
      count: steps.gaps(above: StrayScannerReader.description.frameGapFactor),
      of: .size(frames.frames.count),
      "steps above 1.5 times the median: the device dropped camera frames, for all streams at once")
  }
}
