import Media
import Core

extension ARKitScannerCapture {
  /// Warns of files that are absent or damaged.
  func reportFiles() {
    for name in missingSideFiles {
      warnings.add(
        .missingFile, name,
        "\(name) \(contents.folder.lack(of: name)): the app writes it when recording stops")
    }
    if case .absent = contents.video {
      warnings.add(.missingFile, "color", "no video: color does not apply")
    }
    if case .absent = contents.depth {
      warnings.add(.missingFile, "depth", "no depth file: depth does not apply")
    }
    if contents.video.value?.track.orientation.isIgnored ?? false {
      warnings.add(
        .rotationIgnored, "color", "the video's display matrix is not a quarter turn: not applied")
    }
    if sidecars.exifIsOpen {
      warnings.add(
        .truncatedStream, "exif", "exif.json is not closed: its complete entries are used")
    }
    warnings.add(
      .corruptRecord, "exif", count: sidecars.exifBrokenLines,
      "lines of exif.json that are not entries, or that belong to another time, are left out")
    if let error = contents.metadata.error {
      warnings.add(.corruptRecord, "metadata.json", "\(error)")
    }
    for part in sidecars.cutParts.sorted(by: { $0.rawValue < $1.rawValue }) {
      let file = sidecars.files[part]?.first ?? part.rawValue
      warnings.add(
        .truncatedStream, part.rawValue, "\(file) breaks off: its complete entries are used")
    }
    for (part, count) in sidecars.farOff.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let file = sidecars.files[part]?.first ?? part.rawValue
      warnings.add(
        .corruptRecord, part.rawValue, count: count,
        "entries of \(file) more than an hour away from all others are left out")
    }
    for (file, count) in sidecars.unreadableKeys.sorted(by: { $0.key < $1.key }) {
      warnings.add(
        .unknownKey, file, count: count, "entries whose key is neither time nor frame number")
    }
  }

  /// Warns of streams whose length differs from the number of keys.
  func reportLengths() {
    let color = frames.pictureCount
    let depth = frames.depthCount
    let expected = frames.keyCount > 0 ? frames.keyCount : max(depth ?? 0, color ?? 0)
    if let color {
      warnings.add(
        .frameCountMismatch, "color", count: abs(color - expected),
        "\(color) pictures for \(expected) frames: "
          + pictures)
    }
    if let depth {
      warnings.add(
        .frameCountMismatch, "depth", count: abs(depth - expected),
        "\(depth) records for \(expected) frames: " + depthPairing(depth, expected))
    }
    guard let color, let depth else { return }
    warnings.add(
      .colorShorterThanDepth, "color", count: depth - color,
      "\(color) pictures, \(depth) depth records")
    warnings.add(
      .depthShorterThanColor, "depth", count: color - depth,
      "\(depth) depth records, \(color) pictures")
  }

  /// Words about pictures that are missing or have no key.
  private var pictures: String {
    guard let pairing = frames.pairing, pairing.way == .number, !pairing.isDoubtful else {
      return "paired by order"
    }
    let hasUnseenLosses =
      sidecars.framesWithKey == nil && frames.keyCount < frames.frameCount && frames.keyCount > 0
    return [
      LossWords.pictures(frames.framesWithoutPicture, of: frames.frameCount)
        .map { $0 + LossWords.startCut(frames.slack) },
      hasUnseenLosses ? unseenKeys : nil, keyless(frames.framesOfPictures),
    ].compactMap(\.self).joined(separator: "; ")
  }

  /// Says that some of the frames have no key; `nil` if all have one, or nothing has.
  private func keyless(_ numbers: some Sequence<Int>) -> String? {
    let withKey = sidecars.framesWithKey.map(Set.init)
    let without = numbers.filter { frame in
      withKey.map { !$0.contains(frame) } ?? (frame >= sidecars.times.count)
    }
    guard !without.isEmpty, frames.keyCount > 0 else { return nil }
    return "no side file has an entry for \(Plural.word(without.count, "frame")) "
      + NumberWords.list(without)
  }

  /// Keys that are times and in no file leave no hole.
  private var unseenKeys: String {
    "if entries of the side files are lost, the times and poses behind the first loss "
      + LossWords.shifted(frames.frameCount - frames.keyCount)
  }

  private func depthPairing(_ depth: Int, _ expected: Int) -> String {
    let isWholeFloatChain =
      if let file = contents.depth.value, case .framed(_, .deflate) = file.layout.kind {
        !file.isCut
      } else {
        false
      }
    guard depth < expected, isWholeFloatChain else {
      if depth > expected {
        return "paired by index from 0; "
          + (sidecars.framesWithKey == nil ? unseenKeys : keyless(0..<depth) ?? "")
      }
      let isEndLost = contents.depth.value?.isCut ?? false
      return isEndLost ? "paired by index from 0" : LossWords.unplaced(expected - depth)
    }
    return "the encoder failed and wrote nothing there, so later records belong to later frames; "
      + "where is not recorded, they are paired by index and \(LossWords.shifted(expected - depth))"
  }

  func reportTimes() {
    let known = sidecars.times.prefix(frames.frameCount).compactMap(\.self)
    if sidecars.isNominal {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frameCount,
        "no times were recorded: frame k is taken to be at k/60 s")
    } else if sidecars.isKilled {
      warnings.add(
        .timestampsMissing, "frames", count: frames.frameCount - known.count,
        "frames without a time: the app was killed before it wrote them")
      warnings.add(
        .pairingApproximate, "frames", count: known.count,
        "times are those of exif.json in order: the app was killed before it wrote the pose file")
    } else if sidecars.hasImplausibleKeys {
      warnings.add(
        .pairingApproximate, "frames", count: known.count,
        "the frame numbers of the side files are not plausible: entries are given to frames by their order"
      )
    } else if sidecars.lostKeysAreUnplaced {
      warnings.add(
        .pairingApproximate, "frames", count: known.count,
        "entries are lost, and which ones cannot be determined: pictures and depth may have a neighbor's time"
      )
    }
    warnings.add(
      .frameGap, "frames",
      count: TimeSteps(ofNeighbors: Array(sidecars.times.prefix(frames.frameCount)))
        .gaps(above: ARKitScannerReader.description.frameGapFactor),
      of: .size(frames.frameCount),
      "steps above 1.5 times the median: the device dropped camera frames, for all streams at once")
  }

  func reportSizes() {
    if let depth = contents.depth.value {
      let size = depth.layout.size
      let used = "\(size.width)x\(size.height) is used"
      switch contents.metadata.value?.depthSize {
      case .invalid(let text):
        warnings.add(
          .sizeMismatch, "depth", "the metadata says \(text), which is not a size: \(used)")
      case .valid(let stated) where depth.layout.sizeDiffers:
        warnings.add(
          .sizeMismatch, "depth",
          "the metadata says \(stated.width)x\(stated.height), which the data does not fit: \(used)"
        )
      case .valid, .absent, nil: break
      }
    }
    switch contents.metadata.value?.colorSize {
    case .invalid(let text):
      warnings.add(.sizeMismatch, "color", "the metadata says \(text), which is not a size")
    case .valid, .absent, nil: break
    }
  }
}
