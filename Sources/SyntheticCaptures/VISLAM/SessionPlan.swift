/// What is written into a VI-SLAM session besides pictures and samples.
struct SessionPlan {
  let form: SessionForm
  /// Rows of the frame table.
  let frames: Int

  /// Rows whose picture was never written.
  var lostPictures: Set<Int> = []
  /// The camera misses half a period after this frame.
  var gapAfterFrame: Int?
  var firstNumber = 0
  /// Two neighboring rows of the frame table are exchanged.
  var swapsFrameRows = false
  /// Rows that state another picture size.
  var wrongSizeRows = 0

  var hasVideo = true
  var hasSecondVideo = false
  var hasFrameTable = true
  var hasInertialTable = true

  /// Seconds that the sensors start before the first frame and end after the last; negative = inside.
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

  init(form: SessionForm, frames: Int) {
    self.form = form
    self.frames = frames
  }

  var pictures: Int { hasVideo ? frames - lostPictures.count : 0 }
}
