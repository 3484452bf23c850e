import Engine
import Core
import Synchronization

/// Input sizes of the captures of a run, to estimate the remaining time. A separate thread
/// determines them in the background; it reads only metadata.
final class WorkSizes: Sendable {
  private let bytes = Mutex<[String: Double]>([:])

  /// Does nothing for a single capture, which needs no comparison. If the thread cannot be started,
  /// all sizes remain unknown.
  init(of targets: [CaptureTarget]) {
    guard targets.count > 1 else { return }
    _ = JobThread.start { [self] in
      var sizes = CaptureSizes()
      for target in targets {
        // Adds one byte, because a size of 0 would have no weight.
        let size = Double(sizes.bytes(of: target.recognition)) + 1
        bytes.withLock { $0[target.layout.name] = size }
      }
    }
  }

  /// The size in bytes; `nil` if not known yet.
  subscript(capture: String) -> Double? { bytes.withLock { $0[capture] } }
}
