import Captures
import Storage
import SystemPackage

/// One step of a pipeline: reads parts of a capture and artifacts of other stages, publishes one folder.
///
/// A stage is its type; it has no state. Its parameter table is the one source of checks and help.
public protocol Stage: Sendable {
  /// As pipelines write it after `uses:`.
  static var name: String { get }
  /// Raised when equal inputs would give other bytes.
  static var version: Int { get }
  /// One sentence for `scanmill stages`.
  static var sentence: String { get }
  static var ports: [Port] { get }
  static var parameters: [ParameterDescription] { get }
  /// Whether, besides `ports`, any artifact may be connected: at a port that the pipeline names, or that
  /// has the name of the stage it comes from.
  static var takesAnyArtifact: Bool { get }
  /// Whether its artifact names files of the artifacts at its ports. Such an artifact is made again whenever one of
  /// those is, also where a run is limited to other stages, and is given no input that is removed after use.
  static var namesFilesOfInputs: Bool { get }

  /// What kind of artifact it publishes, for matching the ports of other stages.
  static func content(_ parameters: ParameterValues) -> ArtifactContent
  /// The parts of the capture it reads; their files count into the fingerprint.
  static func reads(_ parameters: ParameterValues, connected ports: Set<String>) -> Set<CapturePart>
  /// Whether it reads the capture's folder by itself: every file in it then counts into the fingerprint,
  /// by name and content.
  static func readsFolder(_ parameters: ParameterValues) -> Bool
  /// Files outside the capture that its parameters name, by parameter.
  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath]
  /// Versions of libraries that decide the bytes beside our own code, by library; they count into the
  /// fingerprint.
  static func libraries(_ parameters: ParameterValues, _ capture: CaptureSummary) -> [String:
    String]
  /// Whether it has anything to do for this capture.
  static func applicability(_ parameters: ParameterValues, _ capture: CaptureSummary)
    -> Applicability
  /// Whether it reads the artifact at `port` for this capture: a connection that it has no use for is as if
  /// the pipeline did not have it, so that nothing is made for it.
  static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool
  /// About how many bytes it will write, rather too few than too many; `nil` when it cannot be told or
  /// does not matter. A job that has not even these is not started.
  static func expectedBytes(_ parameters: ParameterValues, _ capture: Capture) -> Int64?
  /// Whether it is asked for some frames only, so that little has to be made for it.
  static func isSubset(_ parameters: ParameterValues) -> Bool
  /// The inner stage that chooses the frames of a subset and makes the color pictures of these alone.
  ///
  /// - Parameter color: the stage of the pipeline that makes all of them; `nil`: no pictures are needed.
  /// - Returns: `nil` where color comes from a stage that cannot be replaced.
  static func frameChooser(
    _ parameters: ParameterValues, color: StageDefinition?
  ) -> (kind: any Stage.Type, parameters: ParameterValues)?
  /// The kind of stage that decodes depth of chosen frames, in place of `stage`; `nil`: there is none.
  static func depthOfChosen(_ stage: StageDefinition) -> (any Stage.Type)?
  /// What is wrong with a stage of this kind as a pipeline defines it, beyond single parameters.
  static func problems(_ stage: StageDefinition) -> [StageProblem]
  /// What is wrong with the files and folders that parameters name, looked at before anything starts.
  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem]
  /// Does the work: writes only through `context.staging`, reports progress, checks cancellation.
  static func run(_ context: StageContext) throws -> StageResult
}

extension Stage {
  public static func readsFolder(_ parameters: ParameterValues) -> Bool { false }
  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { [:] }
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { [:] }
  public static var takesAnyArtifact: Bool { false }
  public static var namesFilesOfInputs: Bool { false }
  public static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool { true }
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: Capture
  ) -> Int64? { nil }
  public static func problems(_ stage: StageDefinition) -> [StageProblem] { [] }
  public static func isSubset(_ parameters: ParameterValues) -> Bool { false }
  public static func frameChooser(
    _ parameters: ParameterValues, color: StageDefinition?
  ) -> (kind: any Stage.Type, parameters: ParameterValues)? { nil }
  public static func depthOfChosen(_ stage: StageDefinition) -> (any Stage.Type)? { nil }
}

/// Something that a pipeline cannot ask of a stage.
public struct StageProblem: Hashable, Sendable {
  /// Where it stands; `nil`: the stage as a whole.
  public var parameter: String?
  public var message: String

  public init(parameter: String? = nil, _ message: String) {
    self.parameter = parameter
    self.message = message
  }
}

/// What must never be found: a contradiction in the program's own account. Ends a run with exit status 70.
public struct InternalError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String

  public init(_ contradiction: String) {
    description = "internal error, please report it: \(contradiction)"
  }
}

/// A stage that cannot do its work, with the text for people.
public struct StageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String
  /// Whether another attempt may succeed.
  public var isTemporary: Bool
  public var cause: FailureCause

  public init(
    _ description: String, isTemporary: Bool = false, cause: FailureCause = .program
  ) {
    self.description = description
    self.cause = cause
    self.isTemporary = isTemporary
  }
}

/// Thrown by a stage that found out at work that there is nothing to do for this capture: it ends as
/// `not-applicable` with this reason, and nothing is published.
public struct StageDoesNotApply: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String
  /// What is to be told besides: that everything was there, and was thrown away.
  public var warnings: [CaptureWarning]

  public init(_ reason: String, warnings: [CaptureWarning] = []) {
    description = reason
    self.warnings = warnings
  }
}

/// Whether a stage has anything to do for a capture.
public enum Applicability: Hashable, Sendable, Codable {
  case applies
  /// The capture lacks what the stage is about; never a failure.
  case notApplicable(String)
  /// The stream is there and cannot be read, or a file that a parameter names is of another capture: the
  /// stage fails with this text.
  case unreadable(String)

  /// From the state of the part that the stage is about.
  public init(_ state: CaptureSummary.PartState) {
    switch state {
    case .present: self = .applies
    case .absent(let why): self = .notApplicable(why)
    case .unreadable(let why): self = .unreadable(why)
    }
  }
}

/// The kind of an artifact's content.
public enum ArtifactContent: String, Hashable, Sendable, Codable {
  case colorImages = "color-images"
  case depthFrames = "depth-frames"
  case depthImages = "depth-images"
  case confidenceImages = "confidence-images"
  case alignedImages = "aligned-images"
  case imuTables = "imu-tables"
  case tables
  case thumbnail
  case preview
  /// Color pictures as JPEG, whatever format color has.
  case jpegImages = "jpeg-images"
  /// Color pictures as 8-bit gray PNG.
  case grayImages = "gray-images"
  case pointCloud = "point-cloud"
  case files
}

extension ArtifactContent {
  /// Pictures of `color` in another form: not kept for readers that nobody has asked for, since they take as
  /// much room as those and are quick to make again.
  public var isCopyOfColor: Bool { self == .jpegImages || self == .grayImages }
}

/// An input of a stage that another stage provides.
public struct Port: Hashable, Sendable {
  public var name: String
  public var accepts: ArtifactContent
  public var isRequired: Bool
  public var sentence: String

  public init(_ name: String, _ accepts: ArtifactContent, isRequired: Bool, _ sentence: String) {
    self.name = name
    self.accepts = accepts
    self.isRequired = isRequired
    self.sentence = sentence
  }
}

/// The stages that pipelines may use.
public struct StageRegistry: Sendable {
  public let stages: [any Stage.Type]

  public init(_ stages: [any Stage.Type]) {
    self.stages = stages
  }

  public subscript(name: String) -> (any Stage.Type)? { stages.first { $0.name == name } }
}
