/// What an export of 3D Scanner App contains in addition to pictures.
struct ThreeDAppPlan {
  /// Damage to the JSON file of one frame.
  enum FrameFileEdit {
    case absent
    case empty
    /// Only the first half is there.
    case cut
    case withoutTime
    case withoutPose
    case notFinite
    /// The last element of the pose is 0.
    case zeroScale
    /// The file's own number is another one.
    case otherIndex
  }

  enum Position {
    case none
    /// One for the whole scan, in `info.json`.
    case ofScan
    /// Two frames have one of their own.
    case ofFrames
  }

  let generation: ThreeDAppGeneration
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  var frameFiles: [Int: FrameFileEdit] = [:]
  var hasFrameFiles = true
  var hasInfo = true
  /// Declared frames minus frames.
  var surplusDeclared = 0
  var position = Position.ofScan
  /// The frame whose time is exchanged with that of the next one.
  var swappedFrame: Int?
  /// The frame that has the time of the one before.
  var repeatedTimeFrame: Int?
  var poseJumpFrame: Int?

  init(generation: ThreeDAppGeneration, frames: Int) {
    self.generation = generation
    self.frames = frames
    depth.isAbsent = !generation.hasDepth
    confidence.isAbsent = !generation.hasDepth
  }

  /// Frames that the app wrote a color picture for.
  var colorFrames: [Int] { Array(stride(from: 0, to: frames, by: generation.colorStep)) }

  /// Whether the frame has a color picture that can be decoded.
  func hasColor(_ frame: Int) -> Bool {
    frame % generation.colorStep == 0 && color.isReadable(frame)
  }

  /// Number of `frame_<k>.json`.
  var rowCount: Int {
    hasFrameFiles ? frames - frameFiles.values.count { $0 == .absent } : 0
  }

  /// Frames whose JSON file can be read.
  func isRead(_ frame: Int) -> Bool {
    hasFrameFiles && ![.absent, .empty, .cut].contains(frameFiles[frame])
  }
}
