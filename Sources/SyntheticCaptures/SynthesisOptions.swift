import SystemPackage

/// What to synthesize. Values that are `nil` are those of the family and generation.
public struct SynthesisOptions: Sendable {
  /// The folder that the capture's own folder is made in.
  public var output: FilePath
  /// Everything random comes from it: equal options give equal bytes.
  public var seed: UInt64 = 1
  public var generation: String?
  public var faults: [String] = []
  public var frames: Int?
  /// Frames per second.
  public var rate: Double?
  /// Size of the stored color pictures.
  public var width: Int?
  public var height: Int?
  /// Size of the depth frames, for families that leave it open.
  public var depthWidth: Int?
  public var depthHeight: Int?
  /// Scales the noise of all sensors: 1 = realistic, 0 = none.
  public var noise = 1.0
  /// How long the shutter is open, seconds; 0 = no motion blur.
  public var exposureSeconds = 1.0 / 60
  /// Constant rate factor of the video encoder: smaller is better and larger, 0…51.
  public var quality: Int?
  /// Only walls, nothing standing in the room: every point that is seen lies on one of six known planes.
  public var roomIsEmpty = false
  /// Writes the frame's number into the top eighth of each picture.
  public var showsFrameCode = false
  /// The capture's name; by default one made from the seed in the family's own form.
  public var id: String?
  /// For how many frames the truth gets pictures of exact depth, spread over the capture.
  public var truthPictures = 3
  /// Whether a capture of the same name is replaced.
  public var mayReplace = false

  public init(output: FilePath) {
    self.output = output
  }
}

/// A request that cannot be met: the reason, with what is possible instead.
public struct SynthesisError: Error, Sendable, CustomStringConvertible {
  public var description: String

  public init(_ description: String) {
    self.description = description
  }
}

/// A capture that was written.
public struct SyntheticCapture: Sendable {
  public var id: String
  public var family: String
  public var generation: String
  public var folder: FilePath
  public var truth: FilePath
  public var frames: Int
  /// Codes and counts that a reader must report.
  public var warnings: [ExpectedWarning]
}

/// A warning that a reader must report, its count summed over subjects.
public struct ExpectedWarning: Hashable, Sendable {
  public var code: String
  public var count: Int
}
