@testable import Captures
import Core
import SystemPackage

/// What a capture that lies in no folder is made of.
extension Capture {
  /// Without streams, of ARKit-Scanner.
  public static func made(_ id: String, generation: String = "g6") -> Capture {
    Capture(
      id: id, family: .arkitScanner, generation: generation, folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
  }
}

extension StreamDescription {
  /// Of a stream whose file nothing asks for.
  public static let untold = StreamDescription(file: "", encoding: "")
}

extension StreamState where Value == ColorStream {
  /// Pictures of an upright size whose files nothing asks for: stages read those of artifacts.
  public static func stills(
    _ width: Int, _ height: Int, frames: Int? = nil, turns: Int = 0, isMirrored: Bool = false
  ) -> StreamState {
    let description = StreamDescription(
      file: "", encoding: "png", width: width, height: height, frames: frames)
    return .present(
      ColorStream(
        source: .stills([]), description: description, clockwiseQuarterTurns: turns,
        isMirrored: isMirrored))
  }
}

extension StreamState where Value == PoseStream {
  public static func poses(_ poses: [Int: Pose]) -> StreamState {
    let rows = poses.sorted { $0.key < $1.key }.map { PoseStream.Row(frame: $0, pose: $1) }
    return .present(PoseStream(description: .untold, rows: rows))
  }
}

extension StreamState {
  /// Depth or confidence whose records are all lost: stages read the pictures of artifacts.
  public static func lost<Pixel>(_ width: Int, _ height: Int, frames: Int) -> StreamState
  where Value == PictureStream<Pixel> {
    let description = StreamDescription(file: "", encoding: "test", frames: frames)
    return .present(
      PictureStream(
        description: description, width: width, height: height,
        access: .indexed(LostRecords<Pixel>(recordCount: frames))))
  }
}

private struct LostRecords<Pixel: BitwiseCopyable & Sendable>: IndexedFrameSource {
  var recordCount: Int

  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome {
    .hole(.corruptRecord, "no record is read")
  }
}
