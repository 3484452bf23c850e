import Captures
import Engine

/// A stage that only has a face: for reading pipelines, planning, scheduling and descriptions. It applies to every
/// capture, reads nothing of it, and makes nothing.
public protocol FakeStage: Stage {}

extension FakeStage {
  public static var version: Int { 1 }
  public static var sentence: String { "Pretends." }
  public static var ports: [Port] { [] }
  public static var parameters: [ParameterDescription] { [] }

  public static var reads: Set<CapturePart> { [] }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability { .applies }

  public static func run(_ context: StageContext) throws -> StageResult { StageResult(frames: 0) }
}
