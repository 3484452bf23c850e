import Core
import Media
import SystemPackage

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

  /// Whether picture k and line k belong to frame k.
  var arePlain: Bool { frameOfLine == nil && frames.elementsEqual(frames.indices) }

  /// One more than the greatest frame with a picture.
  var length: Int { (frames.max() ?? -1) + 1 }

  func frame(ofLine line: Int) -> Int {
    guard let frameOfLine, frameOfLine.indices.contains(line) else { return line }
    return frameOfLine[line]
  }

  /// Whether as many pictures as lines cannot belong to them by their order: between two neighboring lines that
  /// have a time, the difference between both times changes by more than half a step.
  private static func contradict(_ lines: [Timestamp?], _ pictures: [Int64]) -> Bool {
    let differences = zip(lines, pictures).compactMap { line, picture in
      line.map { $0.nanoseconds.subtractingReportingOverflow(picture).partialValue }
    }
    guard let step = TimeSteps(ofNeighbors: lines).medianNanoseconds else { return false }
    return zip(differences.dropFirst(), differences).contains {
      $0.subtractingReportingOverflow($1).partialValue.magnitude > step.magnitude / 2
    }
  }

  private mutating func match(
    _ video: CaptureVideo, _ lines: [Timestamp?], depth: MultiScanStreamSurvey?
  ) {
    let times = video.pictureNanoseconds
    let rows = StreamKeys(rows: lines)
    var match = StreamMatch(
      .times(times, tickNanoseconds: video.tickNanoseconds), with: rows,
      nouns: ("picture", "line"), hidden: video.track.hidden,
      endTogether: lines.count >= depth?.frames ?? 0)
    if case .times(let taken, _) = rows {
      match.pairUntimed(lines, taken: taken, items: times)
    }
    paired = match.pairCount
    // As many pictures as lines are one each unless the times prove something else, or contradict their order.
    guard match.isProved || times.count != lines.count || Self.contradict(lines, times) else {
      return
    }
    // Where depth breaks off, too, the recording was stopped before its end was written.
    let isCut = depth?.isCut ?? false && times.count < lines.count
    doubt = isCut && match.way == .time ? nil : match.doubt
    // Depth that has more frames than both lacks none of theirs.
    doubt =
      doubt
      ?? StreamKeys.times(times, tickNanoseconds: video.tickNanoseconds)
      .doubt(beside: lines.count, length: depth?.frames ?? 0)
    way = match.way
    guard case .times(let filled, _) = rows else { return }
    let joined = JoinedFrames(
      rows: filled.map(Timestamp.init(nanoseconds:)), pictures: times, match: match)
    // In any other way there would be more frames than depth has.
    if match.isBest, let depth, !depth.isCut, depth.frames == joined.frames.count { doubt = nil }
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

extension CaptureVideo {
  /// Opens, of several video tracks, the first one with the size in the metadata (stored, else
  /// upright), else the first. Tracks other than video do not count.
  init(
    multiScan path: FilePath, preferring resolution: MultiScanResolution
  ) throws(CaptureError) {
    let video = try CaptureVideo(path) { tracks in
      let ofClaimedSize =
        tracks.first { resolution == .size($0.storedSize) }
        ?? tracks.first { resolution == .size($0.uprightSize) }
      return ofClaimedSize ?? tracks.first
    }
    guard let video else { throw CaptureError(file: path, problem: "it has no video track") }
    self = video
  }

  /// Number of pictures with a time; 0 for a bare stream.
  var pictures: Int { track.presentationTicks.count }

  /// Presentation times; with `start`, shifted so that the first picture is displayed at that time.
  /// `nil` for a time beyond ±292 years.
  func times(startingAt start: Timestamp?) -> [Timestamp?] {
    let first = start == nil ? 0 : track.presentationTicks.first ?? 0
    return track.presentationTicks.map { tick in
      let (difference, overflow) = tick.subtractingReportingOverflow(first)
      guard !overflow, let offset = track.timeBase.nanoseconds(ofTicks: difference) else {
        return nil
      }
      return (start ?? Timestamp(nanoseconds: 0)).advanced(byNanoseconds: offset)
    }
  }
}

/// Assigns lines, depth frames and confidence frames to canonical frames: by default one of each per frame, all
/// from 0.
struct MultiScanFramePairing: Equatable {
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

  /// Number of canonical frames, for a video of `pictures`.
  func canonicalFrames(pictures: Int) -> Int {
    max(pictures, lines, depthFrames > 0 ? firstDepthFrame + depthFrames : 0)
  }
}

extension MultiScanFramePairing {
  /// ARCore writes a line before its depth exists, so depth starts some lines late. At the stop it
  /// repeats the last line, depth and confidence until depth has as many frames as the video.
  ///
  /// Confidence that is shorter than depth has lost its end, copies first; so has depth that is cut beside
  /// longer confidence that is not. If there is more depth than lines, depth starts at frame 0; so it does if
  /// what there is of both is cut, since the frames that are missing at the end say nothing of the start.
  init(
    arCore info: MultiScanCameraInfo?, depth: MultiScanStreamSurvey?,
    confidence: MultiScanStreamSurvey?
  ) {
    let lineCount = info?.lines.count ?? 0
    let depthCount = depth?.frames ?? 0
    let confidenceCount = confidence?.frames ?? 0
    self.init(lines: lineCount, depthFrames: depthCount, confidenceFrames: confidenceCount)
    let isDepthShort =
      depth?.isCut == true && confidence?.isCut == false && depthCount < confidenceCount
    let late = lineCount - (depth == nil || isDepthShort ? confidenceCount : depthCount)
    let hasWhole = [depth, confidence].contains { $0.map { !$0.isCut } ?? false }
    firstDepthFrame = hasWhole ? max(late, 0) : 0
    let repeats = info?.trailingRepeats ?? 0
    let copies = isDepthShort ? min(repeats, confidenceCount) : depth?.trailingRepeats ?? 0
    filler = min(repeats, copies)
    uncertainty = max(repeats, copies) - filler
    if depth != nil, confidence != nil, !isDepthShort {
      uncertainty += abs(depthCount - confidenceCount)
    }
    lines -= filler
    depthFrames = isDepthShort ? min(depthCount, confidenceCount - filler) : depthFrames - filler
    if confidenceCount < depthCount {
      confidenceFrames = min(confidenceCount, depthFrames)
    } else {
      confidenceFrames -= filler
    }
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

/// What a depth or confidence file contains, counted by inflating it once.
///
/// These files have no index, header or size, so that counting is the only way. Constant memory
/// (one frame, two if repeats are searched); time of one inflation.
struct MultiScanStreamSurvey {
  var format: DeflateFormat
  /// Number of whole frames.
  var frames = 0
  /// Number of consecutive streams.
  var streams: Int
  /// Whether the last stream has no end mark.
  var isCut: Bool
  /// Whether all streams are complete but bytes of an incomplete frame are left.
  var hasTrailingData: Bool
  /// Number of frames at the end that equal the previous one, which ARCore's depth has.
  var trailingRepeats = 0
  /// Number of streams whose checksum does not match their content.
  var wrongChecksums: Int
  /// Number of inflated bytes.
  var bytes = 0
  var framesWithStereoDefect = 0

  /// - Parameter depthOf: the mode of a depth file; `nil` for confidence.
  init(_ file: MappedFile, frameBytes: Int, depthOf mode: MultiScanGeneration?) {
    let inflated = MultiScanInflatedFile(file, frameBytes: frameBytes)
    var rest = 0
    if frameBytes <= Self.mostBytes(inflatedFrom: file.count) {
      var frame = [UInt8](repeating: 0, count: frameBytes)
      var previous: [UInt8] = []
      while true {
        rest = inflated.read(into: &frame)
        if rest < frameBytes { break }
        if mode == .iosStereo, MultiScanInflatedFile.hasStereoDefect(frame) {
          framesWithStereoDefect += 1
        }
        if mode == .androidARCore {
          trailingRepeats = frames > 0 && frame == previous ? trailingRepeats + 1 : 0
          if previous.isEmpty { previous = frame } else { swap(&frame, &previous) }
        }
        frames += 1
      }
    } else {
      // No frame fits so few bytes: no buffer of that size is allocated.
      var scratch = [UInt8](repeating: 0, count: 65_536)
      var count = 0
      repeat {
        count = inflated.read(into: &scratch)
        rest += count
      } while count == scratch.count
    }
    format = inflated.format
    streams = inflated.streams
    isCut = inflated.isCut
    wrongChecksums = inflated.wrongChecksums
    bytes = frames * frameBytes + rest
    hasTrailingData = !isCut && (rest > 0 || inflated.hasStrayBytes)
  }

  /// DEFLATE gives at most 258 bytes for two bits; 1032 : 1 is zlib's own figure for the limit.
  private static func mostBytes(inflatedFrom bytes: Int) -> Int {
    bytes.multipliedReportingOverflow(by: 1032).overflow ? .max : bytes * 1032
  }
}
