import CPlatform
import Synchronization

/// The threads that a decoder has created, and their CPU time.
struct DecoderThreads: Sendable {
  private let numbers: [Int32]

  /// No threads.
  init() { numbers = [] }

  /// Finds the threads that `open` creates by their name, which threads inherit from their creator.
  init<Result>(opening open: () -> Result, result: inout Result) {
    let name = "decode-\(Self.count.add(1, ordering: .relaxed).newValue % 1_000_000)"
    var previous = [CChar](repeating: 0, count: 16)
    previous.withUnsafeMutableBufferPointer { scanmill_name_thread(name, $0.baseAddress) }
    result = open()
    previous.withUnsafeBufferPointer { scanmill_name_thread($0.baseAddress, nil) }
    var numbers = [Int32](repeating: 0, count: Self.most)
    let found = numbers.withUnsafeMutableBufferPointer {
      scanmill_threads_named(name, $0.baseAddress, Int32($0.count))
    }
    self.numbers = Array(numbers.prefix(Int(found)))
  }

  var count: Int { numbers.count }

  /// User and system time of the threads that still exist.
  var cpuNanoseconds: Int64 {
    numbers.reduce(0) { $0 + max(0, scanmill_thread_cpu_nanoseconds($1)) }
  }

  private static let count = Atomic<Int>(0)
  /// More threads than FFmpeg ever creates for one decoder (16 by default, 64 on request).
  private static let most = 256
}
