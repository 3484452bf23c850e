import Media
import Core
import Glibc

/// Times of all kernels as multiples of two loops that nobody of us wrote, measured in turn with them:
/// what can be compared between machines, as milliseconds cannot.
enum Baseline {
  private static let rounds = 15

  /// A table in Markdown, a row per kernel; `counts` adds instructions.
  static func table(_ kernels: [Kernel], counts: InstructionCounts?) throws -> String {
    var lines = [
      "| kernel | what one call does | time / copying 3.8 MB | time / zlib level 1 of 0.6 MB | instructions |",
      "| --- | --- | --- | --- | --- |",
    ]
    let copy = copyingReference()
    let deflate = try deflatingReference()
    for kernel in kernels {
      let call = try kernel.prepare()
      let (own, copying, deflating) = try fastest(call, copy, deflate)
      let instructions = counts?.kernels[kernel.name].map { "\(rounded(Double($0) / 1e6)) M" }
      lines.append(
        "| `\(kernel.name)` | \(kernel.about) | \(rounded(own / copying)) | \(rounded(own / deflating))"
          + " | \(instructions ?? "–") |")
    }
    return lines.joined(separator: "\n")
  }

  /// The fastest of some rounds of each, in seconds of this thread's CPU time; all in turn.
  private static func fastest(
    _ a: () throws -> Int, _ b: () throws -> Int, _ c: () throws -> Int
  ) throws -> (Double, Double, Double) {
    var times = (Double.infinity, Double.infinity, Double.infinity)
    for _ in 0...rounds {
      times.0 = min(times.0, try seconds(a))
      times.1 = min(times.1, try seconds(b))
      times.2 = min(times.2, try seconds(c))
    }
    return times
  }

  /// A whole picture from one place to another.
  private static func copyingReference() -> () throws -> Int {
    let bytes = Pictures.video().rgb
    var target = [UInt8](repeating: 0, count: bytes.count)
    return {
      target.withUnsafeMutableBytes { target in
        bytes.withUnsafeBytes { target.copyMemory(from: $0) }
      }
      return Int(target[target.count - 1])
    }
  }

  /// The C library's deflate over the values of a depth frame.
  private static func deflatingReference() throws -> () throws -> Int {
    let bytes = Pictures.depth().millimeters.withUnsafeBytes { Array($0) }
    return { try DeflateEncoder.compress(bytes, format: .zlib, level: 1).count }
  }

  private static func seconds(_ body: () throws -> Int) throws -> Double {
    let start = now()
    _ = try body()
    return now() - start
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
