extension MultiScanCapture {
  /// Compares counted lengths with what the app declared.
  ///
  /// A stream is compared with its declared count; without one, with the number of lines; without
  /// lines, with the largest stream. ARCore's own counts include copies and are not compared,
  /// except for color. An absent or unreadable stream has no length.
  func warnOfLengths() {
    let color = contents.color.value?.pictures
    let metadata = contents.metadata
    if contents.generation == .androidARCore {
      if let color, let declared = metadata?.color?.declaredFrames {
        compare(color, with: declared, subject: "color")
      }
      return
    }
    let depth = contents.depth.value?.survey.frames
    let confidence = contents.confidence.value?.survey.frames
    let lines = contents.linesInUse?.lines.count
    let counted: [(subject: String, count: Int?, declared: Int?)] = [
      ("color", color, metadata?.color?.declaredFrames),
      ("depth", depth, metadata?.first(.depth)?.declaredFrames),
      ("confidence", confidence, metadata?.first(.confidence)?.declaredFrames),
      ("poses", lines, metadata?.first(.cameraInfo)?.declaredFrames),
    ]
    let largest = counted.compactMap(\.count).max() ?? 0
    for (subject, count, declared) in counted {
      guard let count else { continue }
      let reference = declared ?? lines ?? largest
      compare(
        count, with: reference, subject: subject,
        places(of: subject, difference: count.subtractingReportingOverflow(reference).partialValue))
    }
    guard let color, let depth else { return }
    warnings.add(
      .colorShorterThanDepth, "color", count: depth - color,
      "the video has \(color) pictures, but depth has \(depth) frames")
    warnings.add(
      .depthShorterThanColor, "depth", count: color - depth,
      "depth has \(depth) frames, but the video has \(color) pictures")
  }

  /// Where items of a stream are missing, or that nothing says it.
  private func places(of subject: String, difference: Int) -> String? {
    let pictures = frames.pictures
    let unplaced = LossWords.unplaced(difference)
    switch subject {
    case "color" where pictures.way == .time && pictures.doubt == nil:
      let present = Set(pictures.frames)
      let missing = frames.frames.indices.filter { !present.contains($0) }
      return LossWords.pictures(missing, of: frames.frames.count)
    case "depth" where contents.depth.value?.survey.isCut == true: return nil
    case "confidence" where contents.confidence.value?.survey.isCut == true: return nil
    case "poses" where pictures.way == .time && pictures.doubt == nil && difference < 0: return nil
    default: return unplaced
    }
  }

  private func compare(
    _ count: Int, with reference: Int, subject: String, _ places: String? = nil
  ) {
    let (difference, overflow) = count.subtractingReportingOverflow(reference)
    warnings.add(
      .frameCountMismatch, subject, count: overflow ? .max : abs(difference),
      "\(count) found, \(reference) expected" + (places.map { ": " + $0 } ?? ""))
  }
}
