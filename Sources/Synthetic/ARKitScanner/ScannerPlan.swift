/// What an ARKit-Scanner capture contains in addition to pictures and samples.
struct ScannerPlan {
  /// How a depth record is damaged.
  enum RecordEdit {
    /// The record is not written: later records move up.
    case absent
    case empty
    case noise
    /// Decodes to fewer pixels than a frame.
    case short
    /// Apple's other LZ4 framing.
    case otherFraming
    /// Float meters in a file of millimeters.
    case otherEncoding
  }

  let generation: ScannerGeneration
  /// Number of entries in the side files.
  let frames: Int

  var recordEdits: [Int: RecordEdit] = [:]
  /// The last record, or the last frame of the single stream, is cut.
  var endsInRecord = false
  var trailingBytes = 0
  /// The length of the first record makes the file begin like an empty DEFLATE stream.
  var looksLikeDeflate = false
  /// A frame of float depth with non-finite values.
  var nonFiniteFrame: Int?

  var surplusPictures = 0
  var hasVideo = true
  /// The app was killed: no side files, no video index, an exif file that is not closed.
  var isKilled = false

  /// Number of camera frames that are missing in all streams after a frame.
  var gap: (afterFrame: Int, frames: Int)?
  var poseJumpFrame: Int?
  var nanPoseFrame: Int?
  var hasMotion = true
  /// Frames whose exif entry is `{}`.
  var emptyExif: Set<Int> = []
  var declaredColorScale = 1
  var hasStrangeDepthSize = false

  var pictures: Int { hasVideo ? frames + surplusPictures : 0 }

  /// Frames whose depth record is written, including damaged ones.
  var depthFrames: [Int] {
    (0..<(frames - (endsInRecord ? 1 : 0))).filter { recordEdits[$0] != .absent }
  }

  /// Number of side file entries that a reader finds.
  var keys: Int { isKilled ? 0 : frames }

  /// Number of pictures that a reader can decode.
  var readablePictures: Int { isKilled ? 0 : pictures }

  var canonicalFrames: Int { max(keys, depthFrames.count, readablePictures) }
}
