import Core

extension ThreeDScannerAppCapture {
  /// Warns of damaged frame files and of links.
  func reportFiles() {
    warnings.add(.emptyRecord, "poses", count: tables.emptyRows, "frame files of 0 bytes")
    warnings.add(
      .corruptRecord, "poses", count: tables.corruptRows,
      "frame files that are no JSON object, or whose number or time is far away from all others")
    warnings.add(
      .pairingApproximate, "frames",
      count: tables.rows.count { number, file in
        file.statedIndex.map { $0 != Double(number) } ?? false
      },
      "frame files whose frame_index is not the number of their name, which counts")
    let streams: [(ThreeDScannerAppFiles.Kind, String)] = [
      (.frame, "poses"), (.color, "color"), (.depth, "depth"), (.confidence, "confidence"),
    ]
    for (kind, subject) in streams {
      warnings.add(
        .pathOutsideCapture, subject, count: tables.files.outside[kind] ?? 0,
        "files that are links out of the capture's folder; not followed")
    }
  }

  /// Warns of streams whose length differs from the number of frame files. Color is sparse beside
  /// depth.
  func reportLengths() {
    let expected = tables.rowFileCount
    guard expected > 0 else {
      warnings.add(.missingFile, "poses", "no frame_*.json: frames have neither time nor pose")
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded")
      return
    }
    let lengths: [(stream: String, kind: ThreeDScannerAppFiles.Kind)] =
      switch tables.files.generation {
      case .lidar: [("depth", .depth), ("confidence", .confidence)]
      case .highResolution: [("color", .color)]
      }
    for (stream, kind) in lengths {
      let length = tables.files[kind].files.count
      warnings.add(
        .frameCountMismatch, stream, count: abs(length - expected),
        "\(length) pictures, \(expected) frame files: paired by number"
          + LossWords.without(tables.files[.frame].numbers(missingIn: tables.files[kind])))
    }
    if tables.files.generation == .lidar {
      let missing = tables.files[.color].numbersMissingInSteps(
        upTo: tables.files[.frame].numberCount - 1)
      warnings.add(
        .frameCountMismatch, "color", count: missing.count,
        "pictures are there for every frame of a fixed distance, but not for \(NumberWords.list(missing))"
      )
    }
    guard let declared = tables.info?.declaredFrames else { return }
    let (difference, overflow) = declared.subtractingReportingOverflow(expected)
    warnings.add(
      .frameCountMismatch, "poses", count: overflow ? .max : abs(difference),
      "\(expected) frame files, \(declared) declared by \(ThreeDScannerAppFiles.infoName)")
  }

  func reportTimes() {
    let times = frames.frames.compactMap(\.timestamp)
    guard tables.rowFileCount > 0 else {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frames.count,
        "no frame has a time without its frame file")
      return
    }
    guard !times.isEmpty else { return }
    warnings.add(
      .timestampsMissing, "frames", count: frames.picturesWithoutTime,
      "frames with a picture have no time: their frame file is absent, unreadable or states none")
    let steps = TimeSteps(times)
    warnings.add(
      .timestampsDuplicate, "frames", count: steps.repeated, "neighboring frames with equal times")
    warnings.add(
      .timestampsUnordered, "frames", count: steps.backward, of: .size(times.count),
      "times of frames that go back; frames stay in the order of their numbers")
  }
}
