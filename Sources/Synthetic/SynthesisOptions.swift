import SystemPackage

/// What to synthesize. `nil` means the default of the family and generation.
public struct SynthesisOptions: Sendable {
  /// The folder in which the capture's folder is created.
  public var output: FilePath
  /// Seed of everything random: equal options give equal bytes.
  public var seed: UInt64 = 1
  public var generation: String?
  public var faults: [String] = []
  public var frames: Int?
  /// Frames per second.
  public var rate: Double?
  /// Width of the stored color pictures.
  public var width: Int?
  public var height: Int?
  /// Width of the depth frames, for families with a variable size.
  public var depthWidth: Int?
  public var depthHeight: Int?
  /// Factor on the noise of all sensors: 1 = realistic, 0 = none.
  public var noise = 1.0
  /// How far the clock of the motion sensors is ahead of that of the pictures, in seconds: time of a
  /// sample = time of a picture + this. Times stay as they are, and the sensors feel another motion.
  public var imuOffsetSeconds = 0.0
  /// Exposure time in seconds; 0 = no motion blur.
  public var exposureSeconds = 1.0 / 60
  /// Constant rate factor of the video encoder, 0…51: a smaller value gives better quality and
  /// larger files.
  public var quality: Int?
  /// Whether the scene has walls only: every visible point is on one of six known planes.
  public var roomIsEmpty = false
  /// Whether the frame's number is drawn into the top eighth of each picture.
  public var showsFrameCode = false
  /// The capture's id; by default made from the seed in the family's own form.
  public var id: String?
  /// Number of frames for which the truth includes pictures of exact depth, spread over the
  /// capture.
  public var truthPictures = 3
  /// Whether a capture of the same name may be replaced.
  public var mayReplace = false
  /// Is told how many frames are rendered, and of how many, after each of them; on the caller's thread.
  public var progress: (@Sendable (_ done: Int, _ all: Int) -> Void)?

  public init(output: FilePath) {
    self.output = output
  }

  /// The exposure time that a device states.
  var shownExposureSeconds: Double { exposureSeconds > 0 ? exposureSeconds : 1.0 / 60 }
}

/// A request that cannot be met: the reason and what is possible instead.
public struct SynthesisError: Error, CustomStringConvertible {
  public var description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A capture that was written.
public struct SyntheticCapture: Sendable {
  public var id: String
  public var family: String
  var generation: String
  public var folder: FilePath
  public var truth: FilePath
  public var frames: Int
  /// Codes and counts that a reader must report.
  public var warnings: [ExpectedWarning]
}

/// A warning that a reader must report, with its count summed over subjects.
public struct ExpectedWarning: Hashable, Sendable {
  var code: String
  public var count: Int
}
