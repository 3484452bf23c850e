/// What a Stray Scanner capture contains in addition to pictures and samples.
struct StrayPlan: TrackedPlan {
  enum Video {
    /// The first picture lies before the start of the movie, and an edit list hides it.
    case asRecorded
    /// A copy that a program made with its defaults: without the hidden picture, from time 0.
    case encodedAgain
    /// The app was killed: the index is not there, and neither is the camera matrix.
    case withoutIndex
    case absent
  }

  /// Damage to the row of one frame.
  enum RowEdit {
    case absent
    /// The row's time is no number.
    case broken
    /// The row stands twice, the second time with another position.
    case repeated
    case notFinite
    /// The row's intrinsics are empty.
    case withoutIntrinsics
  }

  enum Odometry {
    case present
    case absent
    /// Without the column `qy`.
    case withoutColumn
  }

  enum Motion {
    case present
    case absent
    case headerAlone
    /// Without the column `alpha_z`.
    case withoutColumn
  }

  let generation: StrayScannerFamily
  let frames: Int

  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  /// A frame that has a PNG beside its array.
  var doubledFrame: Int?

  var video = Video.asRecorded
  /// Pictures at the end without a row; negative: rows at the end without a picture.
  var surplusPictures = 0
  var hasBFrames = false

  var odometry = Odometry.present
  var rowEdits: [Int: RowEdit] = [:]
  var cutsLastRow = false
  var damage = FrameDamage()
  /// Rows at the start whose position is exactly zero.
  var untrackedRows = 0

  var motion = Motion.present
  /// Seconds from the first frame to the first sample.
  var motionDelay = 0.07
  var hasBrokenSample = false
  var hasNaNSample = false
  var cutsLastSample = false

  var hasMatrix = true

  init(generation: StrayScannerFamily, frames: Int) {
    self.generation = generation
    self.frames = frames
    confidence.isAbsent = !generation.hasConfidence
  }

  /// Frames that have a picture in the video, readable or not.
  var pictures: Range<Int> {
    switch video {
    case .absent: 0..<0
    case .encodedAgain: 1..<frames
    case .asRecorded, .withoutIndex: 0..<max(0, frames + surplusPictures)
    }
  }

  /// Frames whose picture a reader can decode.
  var readablePictures: Range<Int> { video == .withoutIndex ? 0..<0 : pictures }

  var canonicalFrames: Int { max(frames, readablePictures.upperBound) }

  /// Frames whose row a reader keeps.
  var rows: [Int] {
    guard odometry == .present else { return [] }
    return (0..<frames).filter {
      rowEdits[$0] != .absent && rowEdits[$0] != .broken && !(cutsLastRow && $0 == frames - 1)
    }
  }
}
