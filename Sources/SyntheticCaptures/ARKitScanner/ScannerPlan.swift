/// What is written into an ARKit-Scanner capture besides pictures and samples.
struct ScannerPlan {
  /// How a depth record is spoiled.
  enum RecordEdit {
    /// Never written: later records move up.
    case absent
    case empty
    case noise
    /// Decodes to fewer pixels than a frame has.
    case short
    /// Apple's other LZ4 framing.
    case otherFraming
    /// Float meters in a file of millimeters.
    case otherEncoding
  }

  let generation: ScannerGeneration
  /// Entries of the side files.
  let frames: Int

  var recordEdits: [Int: RecordEdit] = [:]
  /// The last record, or the last frame of the one stream, breaks off.
  var endsInRecord = false
  var trailingBytes = 0
  /// The first record's length makes the file begin like an empty DEFLATE stream.
  var looksLikeDeflate = false
  /// A frame of float depth with values that are no distance.
  var nonFiniteFrame: Int?

  var surplusPictures = 0
  var hasVideo = true
  /// The app was killed: no side files, no index in the video, open exif file.
  var isKilled = false

  /// Camera frames dropped for all streams after a frame.
  var gap: (afterFrame: Int, frames: Int)?
  var poseJumpFrame: Int?
  var nanPoseFrame: Int?
  var hasMotion = true
  /// Frames whose exif entry is `{}`.
  var emptyExif: Set<Int> = []
  var declaredColorScale = 1
  var hasStrangeDepthSize = false

  init(generation: ScannerGeneration, frames: Int) {
    self.generation = generation
    self.frames = frames
  }

  var pictures: Int { hasVideo ? frames + surplusPictures : 0 }

  /// Frames whose depth is written whole, damaged ones included.
  var depthFrames: [Int] {
    (0..<(frames - (endsInRecord ? 1 : 0))).filter { recordEdits[$0] != .absent }
  }

  /// Entries of the side files that a reader finds.
  var keys: Int { isKilled ? 0 : frames }

  /// Pictures that a reader can decode.
  var readablePictures: Int { isKilled ? 0 : pictures }

  var canonicalFrames: Int { max(keys, depthFrames.count, readablePictures) }
}
