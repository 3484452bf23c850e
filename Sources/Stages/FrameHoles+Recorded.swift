import Captures
import Engine

extension StageResult {
  /// Records the frames of `stream` that could not be decoded; records nothing if there are none.
  ///
  /// - Parameters:
  ///   - lost: number of `frames` without a picture.
  mutating func record(holes lost: Int, of frames: Int, in stream: String) {
    guard lost > 0 else { return }
    recorded[FrameHoles.recordedName] = .object([
      stream: .object(["lost": .integer(Int64(lost)), "frames": .integer(Int64(frames))])
    ])
  }
}
