extension MultiScanCapture {
  /// Compares what was counted with what the app declared.
  ///
  /// The reference of a stream is its declared count; where nothing is declared the number of lines;
  /// without lines the largest stream. ARCore's own counts include copies and are not compared, except
  /// for color. A stream that is absent or cannot be read has no length.
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
      compare(count, with: declared ?? lines ?? largest, subject: subject)
    }
    guard let color, let depth else { return }
    warnings.add(
      .colorShorterThanDepth, "color", count: depth - color,
      "the video has \(color) pictures, but depth has \(depth) frames")
    warnings.add(
      .depthShorterThanColor, "depth", count: color - depth,
      "depth has \(depth) frames, but the video has \(color) pictures")
  }

  private func compare(_ count: Int, with reference: Int, subject: String) {
    let (difference, overflow) = count.subtractingReportingOverflow(reference)
    warnings.add(
      .frameCountMismatch, subject, count: overflow ? .max : abs(difference),
      "\(count) found, \(reference) expected")
  }
}
