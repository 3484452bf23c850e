import Media
import Core

/// The canonical frames: line, depth frame, confidence frame, picture and time of each.
struct MultiScanFrames {
  let pairing: MultiScanFramePairing
  let pictures: MultiScanPictures
  let frames: [CaptureFrame]

  /// Clears time and pose of lines whose time is far from all others.
  init(_ contents: inout MultiScanTables) {
    let depth = contents.depth.value?.survey
    let confidence = contents.confidence.value?.survey
    let lines = contents.linesInUse
    pairing =
      contents.generation == .androidARCore
      ? MultiScanFramePairing(arCore: lines, depth: depth, confidence: confidence)
      : MultiScanFramePairing(
        lines: lines?.lines.count ?? 0, depthFrames: depth?.frames ?? 0,
        confidenceFrames: confidence?.frames ?? 0)
    contents.dropFarOffLines(ofFirst: pairing.lines)
    pictures = MultiScanPictures(contents, pairing)
    frames = Self.frames(contents, pairing: pairing, pictures)
  }

  /// The canonical frames. With camera info, a frame's time is its line's. Without, it is the
  /// picture's time in the video, relative to the start of the motion files if there are any.
  private static func frames(
    _ contents: MultiScanTables, pairing: MultiScanFramePairing, _ pictures: MultiScanPictures
  ) -> [CaptureFrame] {
    let video = contents.color.value
    let depth = pairing.firstDepthFrame..<pairing.firstDepthFrame + pairing.depthFrames
    let lines = contents.linesInUse?.lines.prefix(pairing.lines) ?? []
    let count = max(
      pairing.canonicalFrames(pictures: pictures.length),
      pictures.frame(ofLine: lines.count - 1) + 1)
    var frames = [CaptureFrame](repeating: CaptureFrame(), count: count)
    if contents.generation.writesCameraInfo {
      for (index, line) in lines.enumerated() {
        frames[pictures.frame(ofLine: index)].timestamp = line?.timestamp
      }
    } else {
      let times = video?.times(
        startingAt: contents.earliestMotion.map {
          $0.advanced(byNanoseconds: pictures.hiddenNanoseconds)
        })
      for (frame, time) in zip(pictures.frames, times ?? []) { frames[frame].timestamp = time }
    }
    for frame in pictures.frames { frames[frame].colorTimestamp = frames[frame].timestamp }
    for frame in depth { frames[frame].depthTimestamp = frames[frame].timestamp }
    return frames
  }
}

/// Which frame each picture of the video belongs to.
///
/// On iOS with LiDAR the video's times are real and run with those of the lines. In all other modes
/// pictures have the order of the frames.
struct MultiScanPictures {
  private(set) var frames: [Int]
  private(set) var way = StreamPairing.Way.rank
  /// Why another pairing may be the right one; `nil` if there is no doubt.
  private(set) var doubt: String?
  /// Time of the pictures before the first one, if an edit list hides them and they have frames.
  private(set) var hiddenNanoseconds: Int64 = 0
  /// Number of pictures with a line or, without lines, with a depth frame.
  private(set) var paired = 0
  private var frameOfLine: [Int]?

  init(_ contents: MultiScanTables, _ pairing: MultiScanFramePairing) {
    let video = contents.color.value
    let count = video?.pictures ?? 0
    frames = Array(0..<count)
    guard let video, count > 0 else { return }
    let lines = contents.linesInUse?.lines.prefix(pairing.lines).map { $0?.timestamp } ?? []
    if contents.generation.isLidar, !lines.isEmpty {
      match(video, lines, depth: contents.depth.value?.survey)
    } else {
      let start = HiddenStart(
        video.track.hidden, pictures: count,
        times: lines.isEmpty
          ? [Timestamp?](repeating: nil, count: pairing.depthFrames) : lines)
      if start.firstRow > 0 { hiddenNanoseconds = video.track.hidden.nanoseconds }
      frames = frames.map { $0 + start.firstRow }
      doubt = start.doubt
      let partners = lines.isEmpty ? pairing.depthFrames : lines.count
      paired = frames.count { $0 < partners }
    }
  }

  /// One more than the greatest frame with a picture.
  var length: Int { (frames.max() ?? -1) + 1 }

  func frame(ofLine line: Int) -> Int {
    guard let frameOfLine, frameOfLine.indices.contains(line) else { return line }
    return frameOfLine[line]
  }

  private mutating func match(
    _ video: CaptureVideo, _ lines: [Timestamp?], depth: MultiScanStreamSurvey?
  ) {
    let times = video.pictureNanoseconds
    let rows = StreamKeys(rows: lines)
    let match = StreamMatch(
      .times(times, tickNanoseconds: video.tickNanoseconds), with: rows,
      nouns: ("picture", "line"), hidden: video.track.hidden)
    paired = match.pairCount
    // As many pictures as lines are one each unless the times prove something else.
    guard match.isProved || times.count != lines.count else { return }
    // Where depth breaks off, too, the recording was stopped before its end was written.
    let isCut = depth?.isCut ?? false && times.count < lines.count
    doubt = isCut && match.way == .time ? nil : match.doubt
    way = match.way
    guard case .times(let filled, _) = rows else { return }
    let joined = JoinedFrames(
      rows: filled.map(Timestamp.init(nanoseconds:)), pictures: times, match: match)
    guard joined.picturesWithoutRow > 0 else {
      frames = joined.frameOfPicture
      return
    }
    if let depth, depth.frames == lines.count {
      // Neither line nor depth was written for these pictures: they have frames behind all others.
      var next = lines.count
      frames = match.rows.map { row in
        if let row { return row }
        next += 1
        return next - 1
      }
    } else {
      frames = joined.frameOfPicture
      var frameOfLine = [Int](repeating: 0, count: lines.count)
      for (frame, row) in joined.rowOfFrame.enumerated() {
        if let row { frameOfLine[row] = frame }
      }
      self.frameOfLine = frameOfLine
    }
  }
}

extension MultiScanTables {
  fileprivate mutating func dropFarOffLines(ofFirst count: Int) {
    guard case .present(var info) = cameraInfo else { return }
    info.dropFarOffLines(ofFirst: count)
    cameraInfo = .present(info)
  }

  /// The camera info, if the mode has one and it can be read.
  var linesInUse: MultiScanCameraInfo? {
    generation.writesCameraInfo ? cameraInfo.value : nil
  }

  /// The earliest time in any motion file.
  var earliestMotion: Timestamp? {
    motion.values.lazy.compactMap { $0.value?.records.lazy.map(\.timestamp).min() }.min()
  }
}
