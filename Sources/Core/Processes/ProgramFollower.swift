import SystemPackage
import Glibc

/// Collects the output of a running program, and kills it after a time-out.
public struct ProgramFollower {
  public enum Outcome {
    case ended(ProcessEnd)
    case timedOut
    case tooMuch
  }

  /// How long to wait for a killed program. One that waits in the kernel for a dead disk does not
  /// end.
  private static let farewellSeconds = 5.0
  /// Longest interval between checks for the program's end. Another process may keep its pipes open
  /// after that.
  private static let waitMilliseconds = 50.0

  private let child: ChildProcess
  private var output: Taken
  private var errors: Taken

  /// - Parameter limits: in bytes. The program is killed when its standard output exceeds the
  ///   limit; standard error beyond its limit is discarded.
  public init(
    _ child: ChildProcess, output: FileDescriptor, errors: FileDescriptor,
    limits: (output: Int, errors: Int)
  ) {
    self.child = child
    self.output = Taken(output, limit: limits.output)
    self.errors = Taken(errors, limit: limits.errors)
  }

  public var outputText: String { String(decoding: output.bytes, as: UTF8.self) }
  public var errorText: String { String(decoding: errors.bytes, as: UTF8.self) }

  /// Waits for the end of the program, or for the deadline: seconds of `MonotonicClock`.
  public mutating func follow(until deadline: Double) -> Outcome {
    var pause = 0.5
    while true {
      let left = (deadline - MonotonicClock.seconds()) * 1000
      guard left > 0 else { return end(.timedOut) }
      if output.isAtEnd, errors.isAtEnd {
        // The pipes usually close because the program ends.
        if let end = child.look() { return .ended(end) }
        usleep(UInt32(min(pause, left) * 1000))
        pause = min(pause * 2, Self.waitMilliseconds)
        continue
      }
      take(withinMilliseconds: min(left, Self.waitMilliseconds))
      if output.hasMore { return end(.tooMuch) }
      if !(output.isAtEnd && errors.isAtEnd), let end = child.look() {
        // Another process may hold the pipes open forever, so only the available output is read.
        while take(withinMilliseconds: 0), !output.hasMore {}
        return output.hasMore ? .tooMuch : .ended(end)
      }
    }
  }

  private func end(_ outcome: Outcome) -> Outcome {
    child.kill()
    let deadline = MonotonicClock.seconds() + Self.farewellSeconds
    while child.look() == nil, MonotonicClock.seconds() < deadline { usleep(2000) }
    return outcome
  }

  /// Returns whether any bytes were read.
  @discardableResult
  private mutating func take(withinMilliseconds wait: Double) -> Bool {
    var both = [output.pollfd, errors.pollfd]
    guard poll(&both, 2, Int32(wait.rounded(.up))) > 0 else { return false }
    let before = output.count + errors.count
    if both[0].revents != 0 { output.take() }
    if both[1].revents != 0 { errors.take() }
    return output.count + errors.count > before
  }
}

/// The bytes read from one pipe.
private struct Taken {
  private let source: FileDescriptor
  private let limit: Int
  private(set) var bytes: [UInt8] = []
  /// Number of bytes read, including discarded ones.
  private(set) var count = 0
  private(set) var isAtEnd = false

  init(_ source: FileDescriptor, limit: Int) {
    self.source = source
    self.limit = limit
  }

  var hasMore: Bool { count > limit }

  /// `poll` ignores negative descriptors.
  var pollfd: pollfd {
    Glibc.pollfd(fd: isAtEnd ? -1 : source.rawValue, events: Int16(POLLIN), revents: 0)
  }

  /// Reads once. To be called when bytes are available or the pipe is closed; blocks otherwise.
  mutating func take() {
    var piece = [UInt8](repeating: 0, count: 65536)
    guard let read = try? piece.withUnsafeMutableBytes({ try source.read(into: $0) }), read > 0
    else {
      isAtEnd = true
      return
    }
    count += read
    bytes += piece[..<min(read, max(0, limit - bytes.count))]
  }
}

/// The clock of the machine that only goes forward: durations and limits are measured with it. It stands while the
/// machine sleeps, and its zero is the start of the machine.
public enum MonotonicClock {
  public static func nanoseconds() -> Int64 { Core.nanoseconds(of: CLOCK_MONOTONIC) }

  public static func seconds() -> Double { Double(nanoseconds()) / 1e9 }
}

/// The time of a clock of the system; 0 where the system has no such clock.
func nanoseconds(of clock: clockid_t) -> Int64 {
  var time = timespec()
  guard clock_gettime(clock, &time) == 0 else { return 0 }
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
