import Captures
import Pipeline

extension StageResult {
  /// Records frames of `stream` that could not be decoded; nothing where all could.
  ///
  /// - Parameters:
  ///   - lost: of `frames` those without a picture.
  mutating func record(holes lost: Int, of frames: Int, in stream: String) {
    guard lost > 0 else { return }
    recorded[FrameHoles.recordedName] = .object([
      stream: .object(["lost": .integer(Int64(lost)), "frames": .integer(Int64(frames))])
    ])
  }
}
