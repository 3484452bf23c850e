import Captures
import Core
import Synchronization
import SystemPackage

/// One step of a pipeline: reads parts of a capture and artifacts of other stages, publishes one
/// folder.
///
/// A stage is a type without instances or state. Its parameter descriptions are the single source
/// of checks and help.
public protocol Stage: Sendable {
  /// The name after `uses:` in pipelines.
  static var name: String { get }
  /// Must be raised when the same inputs would give other bytes.
  static var version: Int { get }
  /// One sentence for `scanmill list stages`.
  static var sentence: String { get }
  static var ports: [Port] { get }
  static var parameters: [ParameterDescription] { get }
  /// What became of parameters that it once had: `is {stage}.count now`.
  static var goneParameters: [String: String] { get }
  /// Whether any artifact may be connected in addition to `ports`: at a port named in the pipeline,
  /// or named after the source stage.
  static var takesAnyArtifact: Bool { get }
  /// Whether its artifact names files of the artifacts at its ports. Such an artifact is made again
  /// whenever one of those is, even if a run is limited to other stages, and never gets an input
  /// that is removed after use.
  static var namesFilesOfInputs: Bool { get }

  /// The content of its artifact by default, which determines the ports of other stages to which it can
  /// be connected.
  static var content: ArtifactContent { get }
  /// The content with these parameters.
  static func content(_ parameters: ParameterValues) -> ArtifactContent
  /// The parts of the capture that it always reads; their files are part of the fingerprint.
  static var reads: Set<CapturePart> { get }
  /// The parts that it reads in addition with these parameters and connections.
  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart>
  /// Whether it reads the capture's folder itself; every file in it is then part of the
  /// fingerprint, by name and content.
  static func readsFolder(_ parameters: ParameterValues) -> Bool
  /// Files outside the capture that its parameters name, by parameter.
  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath]
  /// Versions of libraries that determine the bytes, by library; they are part of the fingerprint.
  static func libraries(_ parameters: ParameterValues, _ capture: CaptureSummary) -> [String:
    String]
  /// Whether a warning of the capture needs no attention with these parameters, because the stage does
  /// what it asks for.
  static func settles(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool
  /// Whether it has anything to do for this capture.
  static func applicability(_ parameters: ParameterValues, _ capture: CaptureSummary)
    -> Applicability
  /// Why the parameters leave it no frame of a capture that has some, as far as this is known before it runs; `nil`:
  /// frames are left.
  static func nothingLeft(_ stage: StageDefinition, _ capture: CaptureSummary) -> CaptureWarning?
  /// Whether it uses the artifact at `port` for this capture. If not, the connection is ignored, so
  /// that nothing is made for it.
  static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool
  /// A connection that its parameters ask for, which the pipeline need not name: to a stage that needs
  /// no other, at one of `ports`. `nil` if there is none.
  static func follows(_ parameters: ParameterValues) -> PortBinding?
  /// The bytes that it will write; `nil` when unknown or irrelevant.
  static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes?
  /// Whether it needs some frames only, so that inputs can be limited to them.
  static func isSubset(_ parameters: ParameterValues) -> Bool
  /// The inner stage that chooses the frames of a subset and makes the color pictures of these
  /// alone.
  ///
  /// - Parameter color: the stage of the pipeline that makes all pictures; `nil` if no pictures are
  ///   needed.
  /// - Returns: `nil` if color comes from a stage that cannot be replaced.
  static func frameChooser(
    _ parameters: ParameterValues, color: StageDefinition?
  ) -> (kind: any Stage.Type, parameters: ParameterValues)?
  /// The kind of stage that decodes depth of chosen frames in place of `stage`; `nil` if there is
  /// none.
  static func depthOfChosen(_ stage: StageDefinition) -> (any Stage.Type)?
  /// Why a stage as the pipeline defines it has nothing to do for any capture; `nil`: it may have something to do.
  static func nothingToDo(_ stage: StageDefinition) -> String?
  /// Problems of a stage as the pipeline defines it, beyond single parameters.
  static func problems(_ stage: StageDefinition) -> [StageProblem]
  /// Problems of the files and folders that parameters name, checked before anything starts.
  static func fileProblems(_ parameters: ParameterValues) -> [StageProblem]
  /// Runs the stage: writes only through `context.staging`, reports progress, checks for
  /// cancellation.
  static func run(_ context: StageContext) throws -> StageResult
}

extension Stage {
  public static var goneParameters: [String: String] { [:] }
  public static func content(_ parameters: ParameterValues) -> ArtifactContent { content }
  public static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [] }
  /// All parts of the capture that it reads.
  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { reads.union(alsoReads(parameters, connected: ports)) }
  public static func readsFolder(_ parameters: ParameterValues) -> Bool { false }
  public static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] { [:] }
  public static func libraries(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: String] { [:] }
  public static func settles(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool {
    false
  }
  public static var takesAnyArtifact: Bool { false }
  public static var namesFilesOfInputs: Bool { false }
  public static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? { nil }
  public static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool { true }
  public static func follows(_ parameters: ParameterValues) -> PortBinding? { nil }
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? { nil }
  public static func nothingToDo(_ stage: StageDefinition) -> String? { nil }
  public static func problems(_ stage: StageDefinition) -> [StageProblem] { [] }
  public static func isSubset(_ parameters: ParameterValues) -> Bool { false }
  public static func frameChooser(
    _ parameters: ParameterValues, color: StageDefinition?
  ) -> (kind: any Stage.Type, parameters: ParameterValues)? { nil }
  public static func depthOfChosen(_ stage: StageDefinition) -> (any Stage.Type)? { nil }
}

/// Something that a pipeline must not request of a stage.
public struct StageProblem: Hashable, Sendable {
  /// The parameter concerned; `nil` for the stage as a whole.
  var parameter: String?
  var message: String

  public init(parameter: String? = nil, _ message: String) {
    self.parameter = parameter
    self.message = message
  }
}

/// A violated invariant of the program. Ends a run with exit status 70.
public struct InternalError: Error, Hashable, CustomStringConvertible {
  public var description: String

  public init(_ contradiction: String) {
    description = "internal error, please report it: \(contradiction)"
  }
}

/// A failure of a stage, with a text for people.
public struct StageFailure: Error, Hashable, CustomStringConvertible {
  var failure: Failure

  public var description: String { failure.text }

  /// - Parameters:
  ///   - isTemporary: whether another attempt may succeed.
  ///   - detail: with cause `input` a parameter that does not fit, unless told otherwise.
  public init(
    _ description: String, isTemporary: Bool = false, cause: FailureCause = .program,
    detail: FailureDetail? = nil
  ) {
    failure = Failure(
      message: description, cause: cause,
      detail: detail ?? (cause == .input ? FailureDetail(.unsuitable) : nil))
    failure.mayPass = isTemporary
  }
}

/// Thrown by a stage that finds while running that there is nothing to do for this capture. It ends
/// as `not-possible` with this reason, and nothing is published.
public struct StageDoesNotApply: Error, Hashable, CustomStringConvertible {
  public var description: String
  /// Additional warnings, such as that all data were filtered out.
  public var warnings: [CaptureWarning]

  public init(_ reason: String, warnings: [CaptureWarning] = []) {
    description = reason
    self.warnings = warnings
  }

  /// The parameters leave it no frame.
  public init(_ nothingLeft: CaptureWarning) {
    self.init(nothingLeft.message, warnings: [nothingLeft])
  }

  /// Whether what is published stays: the capture has what the stage needs, and the parameters leave none of it.
  var keepsPublished: Bool { warnings.contains { $0.code == .nothingLeft } }
}

/// Whether a stage has anything to do for a capture.
public enum Applicability: Hashable, Sendable, Codable {
  case applies
  /// The capture lacks the stage's subject. Not a failure.
  case notApplicable(String)
  /// The capture has frames and the parameters leave none. What was made before stays and is read.
  case nothingLeft(CaptureWarning)
  /// The stream exists but cannot be read, or a file that a parameter names does not fit the
  /// capture. The stage fails with this text.
  case unreadable(String)

  /// From the state of the part that the stage needs.
  public init(_ state: CaptureSummary.PartState) {
    switch state {
    case .present: self = .applies
    case .absent(let why): self = .notApplicable(why)
    case .unreadable(let why): self = .unreadable(why)
    }
  }
}

extension StageDefinition {
  /// Whether the stage, as the pipeline defines it, has anything to do for a capture.
  public func applicability(_ capture: CaptureSummary) -> Applicability {
    let found = kind.applicability(parameters, capture)
    guard case .applies = found, let nothing = kind.nothingLeft(self, capture) else { return found }
    return .nothingLeft(nothing)
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
  /// A table with the quality of every frame.
  case qualityTables = "quality-tables"
  /// The measured time offset between camera and IMU, in its record.
  case timeOffset = "time-offset"
  case thumbnail
  case preview
  /// Color pictures as JPEG, whatever format color has.
  case jpegImages = "jpeg-images"
  /// Color pictures as 8-bit gray PNG.
  case grayImages = "gray-images"
  /// Which pixels of color pictures are to be used, 8-bit gray PNG.
  case maskImages = "mask-images"
  case pointCloud = "point-cloud"
  case files

  /// Whether it is another form of the pictures of `color`, or masks of them, which exports take over. These are not kept for stages that are
  /// not requested, because they are large and quick to make again.
  var isCopyOfColor: Bool { [.jpegImages, .grayImages, .maskImages].contains(self) }

  /// Whether it takes little beside pictures.
  var isOfTables: Bool {
    [.imuTables, .tables, .qualityTables, .timeOffset, .thumbnail].contains(self)
  }

  /// Names of files beside those that give the content its name. A port reads them only if it names them, so
  /// that one more of them, or one less, makes no artifact stale.
  public var sideFiles: Set<String> { self == .colorImages ? ["measures.csv"] : [] }

  /// Whether it is made only for the stages that read it: where none does, it is left out.
  var isForReaders: Bool { isCopyOfColor || self == .timeOffset }
}

/// An input of a stage, provided by another stage.
public struct Port: Hashable, Sendable {
  public var name: String
  public var accepts: ArtifactContent
  public var isRequired: Bool
  public var sentence: String
  /// The files of the artifact that it reads, by path; `nil`: all but the side files of the content.
  var files: Set<String>?

  public init(
    _ name: String, _ accepts: ArtifactContent, isRequired: Bool, files: Set<String>? = nil,
    _ sentence: String
  ) {
    self.name = name
    self.accepts = accepts
    self.isRequired = isRequired
    self.files = files
    self.sentence = sentence
  }

  /// The digest of those files of an artifact that are read here.
  ///
  /// Cost: where the artifact has others too, a digest over the list of its files.
  public func digest(of record: ArtifactRecord) -> Digest {
    let unread = accepts.sideFiles
    if files == nil, unread.isEmpty { return record.outputDigest }
    let read = record.outputs.filter { files?.contains($0.path) ?? !unread.contains($0.path) }
    return read.count == record.outputs.count ? record.outputDigest : read.digest
  }
}

/// The kinds of stages that pipelines may use.
public struct StageRegistry: Sendable {
  public let stages: [any Stage.Type]
  /// Definitions of the pipelines that were read with these kinds: one command reads the same texts several times.
  let definitions = DefinitionMemory()

  public init(_ stages: [any Stage.Type]) {
    self.stages = stages
  }

  public subscript(name: String) -> (any Stage.Type)? { stages.first { $0.name == name } }

  /// The names of those that make this content by default.
  public func names(making content: ArtifactContent) -> [String] {
    stages.filter { $0.content(ParameterValues(defaultsOf: $0.parameters)) == content }
      .map { $0.name }
  }
}

/// Definitions by the name and text of their files, for the life of the process. It keeps 32 and forgets all before
/// one more.
final class DefinitionMemory: Sendable {
  private let definitions = Mutex<[[String]: PipelineDefinition]>([:])

  subscript(file: String, text: String) -> PipelineDefinition? {
    get { definitions.withLock { $0[[file, text]] } }
    set {
      definitions.withLock {
        if $0.count >= 32 { $0 = [:] }
        $0[[file, text]] = newValue
      }
    }
  }
}
