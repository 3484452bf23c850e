/// What a Record3D recording contains in addition to pictures.
struct RecordPlan: TrackedPlan {
  enum Metadata {
    case present
    case absent
    /// Only the first half is there.
    case cut
  }

  enum Times {
    case present
    case absent
    /// The stream has two items fewer than frames.
    case short
  }

  enum Intrinsics {
    case ofFrames
    /// `K` alone.
    case ofRecording
    /// `K` alone, row by row.
    case rowMajor
    case absent
  }

  enum Tracking {
    case present
    /// All poses are the identity, recorded with the front camera.
    case faceID
    /// All poses are the identity, recorded with the laser scanner.
    case lost
  }

  /// Where a copy of the archive ends.
  enum ArchiveEnd {
    case whole
    /// In the depth of the last frame but one.
    case inDepth
    /// In the metadata, which come last.
    case inMetadata
  }

  let form: Record3DFamily
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  /// Values lie in the files without compression.
  var isRaw = false
  /// A frame of depth with infinite and negative values.
  var nonFiniteFrame: Int?

  var metadata = Metadata.present
  var times = Times.present
  var intrinsics = Intrinsics.ofFrames
  var tracking = Tracking.present
  var statesDepthSize = true
  /// The frame whose rotation is all zeros.
  var zeroPoseFrame: Int?
  var damage = FrameDamage()

  var archiveEnd = ArchiveEnd.whole
  var hasHostileNames = false
  /// The frame whose color stands twice.
  var doubledFrame: Int?
  /// The frame whose depth has a wrong checksum.
  var wrongChecksumFrame: Int?

  init(form: Record3DFamily, frames: Int) {
    self.form = form
    self.frames = frames
    confidence.isAbsent = !form.hasConfidence
  }

  var fileEnding: String? { form == .r3d ? "r3d" : nil }

  /// Whether a reader finds the metadata.
  var isDescribed: Bool { metadata == .present && archiveEnd != .inMetadata }

  /// A picture of another size than stated stays a picture.
  func hasColor(_ frame: Int) -> Bool {
    color.isReadable(frame) || !color.isAbsent && color.edits[frame] == .otherSize
  }

  func hasDepth(_ frame: Int) -> Bool { depth.isReadable(frame) && frame != wrongChecksumFrame }
}
