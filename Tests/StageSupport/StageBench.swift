import Captures
import Media
import Core
@testable import Engine
import SystemPackage
import TestSupport

/// Runs stages one by one on a capture, without planner and journal.
public struct StageBench {
  public let folder: TemporaryFolder
  public var capture: Capture

  public init(_ capture: Capture) throws {
    folder = try TemporaryFolder()
    self.capture = capture
  }

  /// What a stage published and said.
  public struct Output {
    /// Stays as long as somebody may look into it.
    public let folder: TemporaryFolder
    public var artifact: InputArtifact
    public var result: StageResult
    public var warnings: [CaptureWarning] = []

    public var names: [String] { artifact.record.outputs.map(\.path) }
    public func file(_ name: String) -> FilePath { artifact.folder.appending(name) }
  }

  /// `settings` are written as after `--set`.
  public func run(
    _ kind: any Stage.Type, as name: String? = nil, _ settings: [String: String] = [:],
    inputs: [String: InputArtifact] = [:], cores: Int = 2
  ) throws -> Output {
    let name = name ?? kind.name
    var parameters = ParameterValues(defaultsOf: kind.parameters)
    for (key, text) in settings {
      let description = kind.parameters.first { $0.name == key }
      parameters[key] = try description?.value(from: text)
    }
    let staging = try StagingFolder(at: folder.path.appending(name))
    let summary = CaptureSummary(capture, readerVersion: 1)
    let warnings = WarningCollector()
    let context = StageContext(
      capture: capture, stage: name, parameters: parameters, inputs: inputs,
      externalFiles: kind.externalFiles(parameters, summary), staging: staging,
      budget: CoreBudget(cores: cores), warnings: warnings, progress: StageProgress(),
      cancellation: Cancellation(), log: LogFile(folder.path.appending("\(name).log")))
    let result = try kind.run(context)
    let parametersAsRecorded = parameters.json
    return Output(
      folder: folder,
      artifact: try artifact(
        name, staging, parameters: parametersAsRecorded, recorded: result.recorded),
      result: result, warnings: warnings.warnings)
  }

  /// A frame store; `nil` is a hole.
  public func depth(_ frames: [DepthImage?], as name: String = "depth-frames") throws
    -> InputArtifact
  {
    let staging = try StagingFolder(at: folder.path.appending(name))
    let size = frames.compactMap { $0 }.first ?? DepthImage(width: 1, height: 1)
    let store = FrameStore(
      width: size.width, height: size.height, bytesPerElement: 2, frameCount: frames.count,
      framesPerChunk: 2, content: "millimeters",
      holes: frames.indices.filter { frames[$0] == nil })
    for chunk in 0..<store.chunkCount {
      let elements = store.frames(inChunk: chunk).flatMap { frame in
        frames[frame]?.millimeters ?? Array(repeating: 0, count: size.width * size.height)
      }
      try staging.write(elements: elements, as: FrameStore.chunkName(chunk))
    }
    try staging.write(JSONText.pretty(store), as: FrameStore.headerName)
    return try artifact(name, staging)
  }

  /// Color pictures by frame; `nil` is a hole. `recorded` is what their stage says of them.
  public func color(
    _ frames: [ColorImage?], as name: String = "color", recorded: [String: JSONValue] = [:]
  ) throws -> InputArtifact {
    var writer = PNGWriter()
    return try files(frames.map { try $0.map { try writer.encode($0) } }, as: name, recorded)
  }

  /// Depth pictures by frame, as PNG files; `nil` is a hole.
  public func depthPictures(
    _ frames: [DepthImage?], as name: String = "aligned", recorded: [String: JSONValue] = [:]
  ) throws -> InputArtifact {
    var writer = PNGWriter()
    return try files(frames.map { try $0.map { try writer.encode($0) } }, as: name, recorded)
  }

  /// A file per frame, whatever it holds; `nil` is a hole.
  public func files(
    _ files: [[UInt8]?], as name: String, _ recorded: [String: JSONValue] = [:]
  ) throws -> InputArtifact {
    let staging = try StagingFolder(at: folder.path.appending(name))
    for (frame, bytes) in files.enumerated() {
      if let bytes { try staging.write(bytes, as: FrameFileName.name(frame)) }
    }
    return try artifact(name, staging, recorded: recorded)
  }

  private func artifact(
    _ name: String, _ staging: StagingFolder, parameters: [String: JSONValue] = [:],
    recorded: [String: JSONValue] = [:]
  ) throws -> InputArtifact {
    let record = try ArtifactRecord(
      stage: name,
      ingredients: FingerprintInputs(
        uses: name, version: 1, parameters: parameters,
        inputs: ArtifactRecord.Inputs(artifacts: [:], capture: nil, external: [:])),
      recorded: recorded, outputs: staging.outputs, started: "", finished: "", seconds: 0,
      cpuSeconds: 0, peakMemoryBytes: 0, frames: 0, warnings: [])
    return InputArtifact(folder: staging.path, record: record)
  }
}
