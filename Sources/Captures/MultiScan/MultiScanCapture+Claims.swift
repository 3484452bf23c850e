import Media

extension MultiScanCapture {
  /// Adds claims about stream lengths: those of the metadata, those in the headers of motion files,
  /// and those between streams that correspond by index.
  ///
  /// ARCore's own counts include copies, and its depth starts late. If depth alone is cut, its
  /// length follows from the lines.
  func claim(_ capture: inout Capture) {
    let metadata = contents.metadata
    let color = contents.color.value?.pictures
    let depth = contents.depth.value?.survey.frames
    let confidence = contents.confidence.value?.survey.frames
    let lines = contents.linesInUse?.lines.count
    let declares = "number_of_frames"
    capture.claims.add(
      "color", held: color, declared: metadata?.color?.declaredFrames, by: declares)
    capture.claims.add(
      "color", held: color, declared: contents.color.value?.track.listedPictures,
      by: "the index of the video")
    if contents.generation == .androidARCore {
      if contents.depth.value?.survey.isCut == true {
        capture.claims.add("depth", held: depth, declared: lines, by: "the lines")
      }
      capture.claims.add("confidence", held: confidence, declared: depth, by: "the depth frames")
    } else {
      capture.claims.add(
        "depth", held: depth, declared: metadata?.first(.depth)?.declaredFrames, by: declares)
      capture.claims.add(
        "confidence", held: confidence,
        declared: metadata?.first(.confidence)?.declaredFrames, by: declares)
      capture.claims.add(
        "poses", held: lines, declared: metadata?.first(.cameraInfo)?.declaredFrames, by: declares)
      capture.claims.addNumbered([
        ("poses", lines, lines, "the lines"), ("depth", depth, depth, "the depth frames"),
        ("confidence", confidence, confidence, "the confidence frames"),
        ("color", color, color.map { _ in frames.pictures.length }, "the pictures"),
      ])
    }
    capture.claims.add(
      "poses", held: contents.linesInUse?.lines.count { $0 != nil }, declared: lines,
      unit: "lines can be read", by: "its own records")
    claimMotion(&capture)
  }

  private func claimMotion(_ capture: inout Capture) {
    let files = MultiScanMotionKind.allCases.compactMap { kind in
      contents.motion[kind]?.value.map { (kind: kind, file: $0) }
    }
    let most = files.map(\.file.recordCount).max()
    for (kind, file) in files {
      capture.claims.add(
        "imu", held: file.recordCount, declared: file.header?.declaredRecords,
        unit: "records of .\(kind) are there", by: "its header")
      // The five files of iOS have the same times row by row; on Android each sensor has its own.
      if !contents.generation.isAndroid {
        capture.claims.add(
          "imu", held: file.recordCount, declared: most,
          unit: "records of .\(kind) are there", by: "the other motion files")
      }
    }
  }
}
