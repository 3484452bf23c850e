import Media
import Core

/// Pairs keys, depth records and pictures by their numbers. Pictures that an edit list hides have
/// keys as well.
struct ARKitScannerFrames {
  /// Frame of each displayed picture, increasing.
  let framesOfPictures: [Int]
  /// How pictures were paired; `nil` without a video.
  let pairing: StreamPairing?
  /// Why another pairing of the pictures may be the right one.
  let doubt: String?
  /// The value of `CountedPictures.slack`.
  private(set) var slack = 0
  private let hasPicture: Set<Int>
  private let contents: ARKitScannerTables

  init(_ contents: ARKitScannerTables) {
    self.contents = contents
    let sidecars = contents.sidecars
    let depth = contents.depth.value?.recordCount ?? 0
    guard let video = contents.video.value else {
      (framesOfPictures, pairing, doubt, hasPicture) = ([], nil, nil, [])
      return
    }
    let keys = sidecars.isKilled ? 0 : sidecars.times.count
    let length = max(keys, depth)
    let counted = CountedPictures(
      arkitScanner: video, frames: length, count: keys > 0 ? sidecars.keyCount : length)
    var way = counted.way
    if video.track.hidden.before > 0 {
      // The movie was trimmed: its counter begins anew, and only its distances are known.
      let start = HiddenStart(
        video.track.hidden, pictures: video.pictureCount,
        times: sidecars.times.isEmpty ? [Timestamp?](repeating: nil, count: depth) : sidecars.times)
      let first = counted.way == .number ? counted.frames.first ?? 0 : 0
      framesOfPictures = counted.frames.map { $0 - first + start.firstRow }
      doubt = start.doubt
      if counted.way == .rank { way = .rank }
    } else {
      framesOfPictures = counted.frames
      doubt = counted.doubt
      slack = counted.slack
    }
    hasPicture = Set(framesOfPictures)
    pairing = StreamPairing(
      way, with: keys > 0 ? "keys of the side files" : "depth records",
      paired: framesOfPictures.count { $0 < length }, of: framesOfPictures.count,
      isDoubtful: doubt != nil)
  }

  /// Number of entries in the pose file; 0 when the app was killed before writing it.
  var keyCount: Int { contents.sidecars.keyCount }
  var depthCount: Int? { contents.depth.value?.recordCount }
  var pictureCount: Int? { contents.video.value?.pictureCount }
  var frameCount: Int {
    max(
      contents.sidecars.isKilled ? 0 : contents.sidecars.times.count, depthCount ?? 0,
      (framesOfPictures.last ?? -1) + 1)
  }

  /// How depth records were paired with keys.
  var recordPairing: StreamPairing? {
    guard let depthCount, keyCount > 0 else { return nil }
    guard let numbers = contents.sidecars.framesWithKey else {
      return .byRank(
        depthCount, with: "keys of the side files", keyCount, isDoubtful: depthCount != keyCount)
    }
    return StreamPairing(
      .number, with: "keys of the side files", paired: numbers.count { $0 < depthCount },
      of: depthCount)
  }

  /// How keys were paired with depth records and pictures.
  var keyPairing: StreamPairing? {
    let records = max(depthCount ?? 0, (framesOfPictures.last ?? -1) + 1)
    guard records > 0, keyCount > 0 else { return nil }
    let partners = depthCount == nil ? "pictures" : "depth records"
    guard let numbers = contents.sidecars.framesWithKey else {
      return .byRank(keyCount, with: partners, records, isDoubtful: keyCount != records)
    }
    return StreamPairing(
      .number, with: partners, paired: numbers.count { $0 < records }, of: keyCount)
  }

  /// Frames before the last one of keys and records that have no picture.
  var framesWithoutPicture: [Int] {
    (0..<frameCount).filter { !hasPicture.contains($0) }
  }

  func time(ofFrame frame: Int) -> Timestamp? {
    frame < contents.sidecars.times.count ? contents.sidecars.times[frame] : nil
  }

  /// The canonical frames.
  var frames: [CaptureFrame] {
    (0..<frameCount).map { frame in
      let time = time(ofFrame: frame)
      let hasDepth =
        frame < depthCount ?? 0 && !(contents.depth.value?.isEmpty(record: frame) ?? true)
      return CaptureFrame(
        timestamp: time, colorTimestamp: hasPicture.contains(frame) ? time : nil,
        depthTimestamp: hasDepth ? time : nil)
    }
  }
}
