import Codecs
import Geometry

/// The canonical frames: line, depth frame, confidence frame, picture and time of each.
struct MultiScanFrames {
  let pairing: MultiScanFramePairing
  /// The frame of the first displayed picture.
  let start: HiddenStart
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
    start = Self.start(contents, pairing: pairing)
    frames = Self.frames(contents, pairing: pairing, firstPicture: start.firstRow)
  }

  /// The frame of the first displayed picture: rows are lines, or else depth frames, which are
  /// paired with pictures by index.
  private static func start(
    _ contents: MultiScanTables, pairing: MultiScanFramePairing
  ) -> HiddenStart {
    let lines = contents.linesInUse?.lines.prefix(pairing.lines).map { $0?.timestamp } ?? []
    return HiddenStart(
      contents.color.value?.track.hidden ?? HiddenPictures(),
      pictures: contents.color.value?.pictures ?? 0,
      times: lines.isEmpty
        ? [Timestamp?](repeating: nil, count: pairing.depthFrames) : Array(lines))
  }

  /// The canonical frames. With camera info, a frame's time is its line's. Without, it is the
  /// picture's time in the video, relative to the start of the motion files if there are any.
  private static func frames(
    _ contents: MultiScanTables, pairing: MultiScanFramePairing, firstPicture: Int
  ) -> [CaptureFrame] {
    let video = contents.color.value
    let pictures = firstPicture..<firstPicture + (video?.pictures ?? 0)
    let times =
      contents.generation.writesCameraInfo
      ? (contents.linesInUse?.lines.prefix(pairing.lines).map { $0?.timestamp } ?? [])
      : [Timestamp?](repeating: nil, count: firstPicture)
        + (video?.times(
          startingAt: contents.earliestMotion.map {
            firstPicture > 0
              ? $0.advanced(byNanoseconds: video?.track.hidden.nanoseconds ?? 0) : $0
          }) ?? [])
    let depth = pairing.firstDepthFrame..<pairing.firstDepthFrame + pairing.depthFrames
    return (0..<pairing.canonicalFrames(pictures: pictures.upperBound)).map { index in
      let time = index < times.count ? times[index] : nil
      return CaptureFrame(
        timestamp: time, colorTimestamp: pictures.contains(index) ? time : nil,
        depthTimestamp: depth.contains(index) ? time : nil)
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
