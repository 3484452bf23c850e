/// What a VI-SLAM session contains in addition to pictures and samples.
struct SessionPlan {
  let form: SessionForm
  /// Number of rows in the frame table.
  let frames: Int

  /// Rows whose picture is missing.
  var lostPictures: Set<Int> = []
  /// The frame after which the camera loses half a period.
  var gapAfterFrame: Int?
  var firstNumber = 0
  /// Two neighboring rows of the frame table are exchanged.
  var swapsFrameRows = false
  /// Number of rows that state another picture size.
  var wrongSizeRows = 0

  var hasVideo = true
  var hasSecondVideo = false
  var hasFrameTable = true
  var hasInertialTable = true

  /// Seconds by which the sensors start before the first frame and end after the last; negative =
  /// inside.
  var inertialLead = 0.1
  var inertialTail = 0.1
  var inertialGapSeconds = 0.0
  var swapsGyroscope = false
  var repeatsGyroscope = false
  var hasNaNRow = false
  var hasShortRow = false
  var unknownRows = 0
  var lacksZ = false
  var hasForeignText = false
  var cutsLastLine = false

  var pictures: Int { hasVideo ? frames - lostPictures.count : 0 }
}
