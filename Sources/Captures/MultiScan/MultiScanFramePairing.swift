/// Assigns lines, depth frames and confidence frames to canonical frames.
struct MultiScanFramePairing: Equatable, Sendable {
  /// Number of lines that describe frames, without filler lines at the end.
  var lines: Int
  var depthFrames: Int
  var confidenceFrames: Int
  /// Canonical frame of the first depth and the first confidence frame.
  var firstDepthFrame = 0
  /// Number of depth frames at the end that are copies made at the stop.
  var filler = 0
  /// By how many frames depth and confidence may belong to others, as far as lengths and copies
  /// disagree about it.
  private(set) var uncertainty = 0

  /// One line, depth frame and confidence frame per canonical frame, all from 0.
  init(lines: Int, depthFrames: Int, confidenceFrames: Int) {
    self.lines = lines
    self.depthFrames = depthFrames
    self.confidenceFrames = confidenceFrames
  }

  /// ARCore writes a line before its depth exists, so depth starts some lines late. At the stop it
  /// repeats the last line, depth and confidence until depth has as many frames as the video.
  ///
  /// Confidence that is shorter than depth has lost its end, copies first. If there is more depth
  /// than lines, depth starts at frame 0.
  init(
    arCore info: MultiScanCameraInfo?, depth: MultiScanStreamSurvey?,
    confidence: MultiScanStreamSurvey?
  ) {
    let lineCount = info?.lines.count ?? 0
    let depthCount = depth?.frames ?? 0
    let confidenceCount = confidence?.frames ?? 0
    self.init(lines: lineCount, depthFrames: depthCount, confidenceFrames: confidenceCount)
    let late = lineCount - (depth == nil ? confidenceCount : depthCount)
    firstDepthFrame = max(late, 0)
    let copies = depth?.trailingRepeats ?? 0
    let repeats = info?.trailingRepeats ?? 0
    filler = min(repeats, copies)
    uncertainty = max(repeats, copies) - filler
    if depth != nil, confidence != nil { uncertainty += abs(depthCount - confidenceCount) }
    lines -= filler
    depthFrames -= filler
    if confidenceCount < depthCount {
      confidenceFrames = min(confidenceCount, depthFrames)
    } else {
      confidenceFrames -= filler
    }
  }

  /// Number of canonical frames, for a video of `pictures`.
  func canonicalFrames(pictures: Int) -> Int {
    max(pictures, lines, depthFrames > 0 ? firstDepthFrame + depthFrames : 0)
  }
}

extension MultiScanCameraInfo {
  /// Number of lines at the end whose transform equals that of the previous line.
  fileprivate var trailingRepeats: Int {
    var count = 0
    for (line, before) in zip(lines.reversed(), lines.reversed().dropFirst()) {
      guard let transform = line?.transform, transform == before?.transform else { break }
      count += 1
    }
    return count
  }
}
