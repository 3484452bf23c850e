import CPlatform
import Synchronization

/// The threads that a decoder has made for itself, and the CPU time that they have used.
struct DecoderThreads: Sendable {
  private let numbers: [Int32]

  /// None.
  init() { numbers = [] }

  /// Those that `open` makes: a thread's name goes on to those that it starts.
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

  /// User and system time of all of them so far; of one that has ended, nothing.
  var cpuNanoseconds: Int64 {
    numbers.reduce(0) { $0 + max(0, scanmill_thread_cpu_nanoseconds($1)) }
  }

  private static let count = Atomic<Int>(0)
  /// More than FFmpeg ever makes for one decoder (16 by itself, 64 when asked).
  private static let most = 256
}
