import Output
import Parallel
import Runner
import Storage
import Synchronization

/// How much there is to read of the captures of a run: found out beside it, by a thread of its own that only
/// asks for sizes. What is left of a run is estimated by them.
final class WorkSizes: Sendable {
  private let bytes = Mutex<[String: Double]>([:])

  /// Of one capture there is nothing to compare. Where no thread can be had nothing is known.
  init(of targets: [CaptureTarget]) {
    guard targets.count > 1 else { return }
    _ = JobThread.start { [self] in
      var sizes = CaptureSizes()
      for target in targets {
        // One byte more: nothing counts for nothing.
        let size = Double(sizes.bytes(of: target.recognition)) + 1
        bytes.withLock { $0[target.layout.name] = size }
      }
    }
  }

  /// `nil` while it is not known.
  subscript(capture: String) -> Double? { bytes.withLock { $0[capture] } }
}
