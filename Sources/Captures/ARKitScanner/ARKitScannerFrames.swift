import Codecs
import Geometry

/// Pairs keys, depth records and pictures by index, except for pictures that an edit list hides.
struct ARKitScannerFrames {
  /// The frame of the first displayed picture.
  let start: HiddenStart
  private let contents: ARKitScannerTables

  init(_ contents: ARKitScannerTables) {
    self.contents = contents
    let times = contents.sidecars.times
    let depth = contents.depth.value?.recordCount ?? 0
    start = HiddenStart(
      contents.video.value?.track.hidden ?? HiddenPictures(),
      pictures: contents.video.value?.pictureCount ?? 0,
      times: times.isEmpty ? [Timestamp?](repeating: nil, count: depth) : times)
  }

  /// Number of entries in the pose file; 0 when the app was killed before writing it.
  var keyCount: Int { contents.sidecars.isKilled ? 0 : contents.sidecars.times.count }
  var depthCount: Int? { contents.depth.value?.recordCount }
  var pictureCount: Int? { contents.video.value?.pictureCount }
  var frameCount: Int { max(keyCount, depthCount ?? 0, framesOfPictures.upperBound) }
  /// The frames that have a picture.
  var framesOfPictures: Range<Int> {
    pictureCount.map { start.firstRow..<start.firstRow + $0 } ?? 0..<0
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
        timestamp: time, colorTimestamp: framesOfPictures.contains(frame) ? time : nil,
        depthTimestamp: hasDepth ? time : nil)
    }
  }
}
