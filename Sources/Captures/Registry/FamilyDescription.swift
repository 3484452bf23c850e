import Core

/// Facts about a family that other modules need. Only its reader states them.
public struct FamilyDescription: Hashable, Sendable {
  /// A layout of the app's files, as `capture.json` names it.
  public struct Generation: Hashable, Sendable {
    public var name: String
    /// How the layout is recognized, for people: one phrase, empty if there is only one layout.
    public var mark: String
    /// The world of the poses, where a capture does not have another one (`PoseStream.world`).
    var world: PoseWorld

    public init(_ name: String, mark: String = "", world: PoseWorld = .yUp) {
      self.name = name
      self.mark = mark
      self.world = world
    }
  }

  /// How often the app states its color camera.
  public enum CameraStatement: Hashable, Sendable {
    case perFrame
    /// Once, for all frames: nominal intrinsics.
    case once
    /// Per frame in captures with poses, once in others.
    case onceWithoutPoses
    /// Once; in captures without `alignment` the focal length alone, about the middle of the picture.
    case onceOrFocalLength
  }

  /// What the videos of a family are, in the order of what they need.
  public enum Video: Comparable, Sendable {
    case absent
    /// A stream without a container.
    case bare
    case container
  }

  public var family: CaptureFamily
  /// The name as people write it: `ARKit-Scanner`.
  public var title: String
  /// The known layouts, oldest first.
  public var generations: [Generation]
  /// How captures of the family are recognized, for people: a phrase without capital and period.
  public var recognition: String
  /// Steps between frames above this many median steps are gaps; infinite if frame times are not
  /// periodic.
  public var frameGapFactor = 1.5
  public var motionGaps = MotionGapRule.threeMedianSteps
  public var cameraStatement = CameraStatement.perFrame
  /// Whether the app states the arrangement of its depth and color cameras. If not, and depth is
  /// registered to color, that is an assumption.
  public var statesRegistration = false
  /// Whether depth is measured by projected patterns, whose distances a laboratory corrects by a table.
  public var hasStructuredLight = false
  /// What videos of color can be. Workers load what those need before they have their capture.
  public var video = Video.container
  /// The sensor's name in `.sens` files. Must not name a person or a device.
  public var sensorName: String
  /// The content of a capture's files, for people: by name, or by ending with the period if the
  /// files of a capture share a stem. `*.json` stands for any other name with that ending. Videos
  /// and pictures with a usual ending (`.mp4`, `.jpg`) need no entry.
  public var fileContents: [String: String] = [:]
  /// Whether the files of a capture share a stem, which is its id. Messages then name files by
  /// their ending.
  public var namesFilesByStem = false

  public init(
    _ family: CaptureFamily, title: String, generations: [Generation], recognition: String
  ) {
    self.family = family
    self.title = title
    self.generations = generations
    self.recognition = recognition
    sensorName = family.rawValue
  }

  /// A family of which only the name is known.
  init(unknown family: CaptureFamily) {
    self.init(family, title: family.rawValue, generations: [], recognition: "")
  }

  /// The world of the poses of a generation.
  public func world(_ generation: String) -> PoseWorld {
    generations.first { $0.name == generation }?.world ?? .yUp
  }
}

/// Decides which steps between samples of one sensor are gaps.
public enum MotionGapRule: Hashable, Sendable {
  /// Steps above three median steps and of at least 50 ms.
  case threeMedianSteps
  /// Steps above a fixed length: for apps whose sample times jitter.
  case above(nanoseconds: Int64)

  /// Threshold in nanoseconds; infinite if the median is needed but unknown.
  public func threshold(medianNanoseconds median: Double?) -> Double {
    switch self {
    case .threeMedianSteps: max(3 * (median ?? .infinity), 50e6)
    case .above(let nanoseconds): Double(nanoseconds)
    }
  }
}
