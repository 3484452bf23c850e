import Engine
import Core

extension StageResult {
  /// Writes the table of picked frames into the artifact and records which they are and by what.
  mutating func record(
    _ table: PickTable, _ plan: PickPlan, _ staging: StagingFolder
  ) throws {
    try table.write(staging)
    let frames = table.frames
    recorded.merge(PickedFrames(frames, plan.facts(picked: frames.count)).recorded) { $1 }
  }
}
