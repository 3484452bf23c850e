/// What others must know of a family. Its reader says it; nobody else tells families apart.
public struct FamilyDescription: Hashable, Sendable {
  /// A layout of the app's files, as `capture.json` names it.
  public struct Generation: Hashable, Sendable {
    public var name: String
    /// What it is told by, for people: one phrase, empty where there is nothing to tell apart.
    public var mark: String
    /// Whether the third axis of the world of its poses points up; of all others the second does.
    public var worldIsZUp: Bool

    public init(_ name: String, mark: String = "", worldIsZUp: Bool = false) {
      self.name = name
      self.mark = mark
      self.worldIsZUp = worldIsZUp
    }
  }

  /// How often the app states its color camera.
  public enum CameraStatement: Hashable, Sendable {
    case perFrame
    /// Once, before or after all frames: nominal numbers.
    case once
    /// Per frame in captures that have poses, once in the others.
    case onceWithoutPoses
  }

  public var family: CaptureFamily
  /// As people write it: `ARKit-Scanner`.
  public var title: String
  /// The layouts that are told apart, oldest first.
  public var generations: [Generation]
  /// How captures of the family are recognized, for people: a phrase without a capital and a period.
  public var recognition: String
  /// Steps between frames above this many median steps are gaps; infinite where the times of frames follow no
  /// period.
  public var frameGapFactor = 1.5
  public var motionGaps = MotionGapRule.threeMedianSteps
  public var cameraStatement = CameraStatement.perFrame
  /// Whether the app states how depth and color cameras lie; where it does not and depth belongs to the color
  /// camera, that is an assumption.
  public var statesRegistration = false
  /// The sensor's name in `.sens` files: never a name of a person or a device.
  public var sensorName: String
  /// What the files of a capture hold, for people, by their names, or by their endings with the period where the
  /// files of a capture share a stem; `*.json` is any other name with that ending. A video or picture with a usual
  /// ending (`.mp4`, `.jpg`) needs no entry.
  public var fileContents: [String: String] = [:]
  /// Whether the files of a capture share a stem, its id: people are told of a file by its ending.
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

  /// A family of which nothing is known but its name.
  public init(unknown family: CaptureFamily) {
    self.init(family, title: family.rawValue, generations: [], recognition: "")
  }

  /// Whether the third axis of the world of a generation points up.
  public func worldIsZUp(_ generation: String) -> Bool {
    generations.contains { $0.name == generation && $0.worldIsZUp }
  }
}
