import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Copies a program's output into a log of limited size: the beginning at once, the end when the
/// program has ended, and between them the number of bytes left out.
struct ProgramOutput {
  /// Number of bytes kept of each end.
  static let bytesKept = 1 << 20

  private let source: FileDescriptor
  private let log: LogFile
  private let kept: Int
  private var head = 0
  /// The latest bytes; a ring buffer once it is full.
  private var tail: [UInt8] = []
  private var tailStart = 0
  private var leftOut = 0
  private var isAtEnd = false

  init(_ source: FileDescriptor, _ log: LogFile, keeping kept: Int = bytesKept) {
    self.source = source
    self.log = log
    self.kept = kept
  }

  /// Waits for output and reads it. Returns whether there was any.
  mutating func take(withinMilliseconds wait: Int32) -> Bool {
    guard !isAtEnd else {
      usleep(UInt32(max(0, wait)) * 1000)
      return false
    }
    var one = pollfd(fd: source.rawValue, events: Int16(POLLIN), revents: 0)
    guard poll(&one, 1, wait) > 0 else { return false }
    var piece = [UInt8](repeating: 0, count: 65536)
    guard let count = try? piece.withUnsafeMutableBytes({ try source.read(into: $0) }), count > 0
    else {
      isAtEnd = true
      return false
    }
    add(piece[..<count])
    return true
  }

  /// Reads what is left in the pipe, without waiting for processes that still hold it, and writes
  /// the end.
  mutating func finish() {
    while take(withinMilliseconds: 0) {}
    if leftOut > 0 {
      log.write(bytes: Array("\n[... \(leftOut) bytes of output left out here ...]\n".utf8))
    }
    log.write(bytes: Array(tail[tailStart...] + tail[..<tailStart]))
  }

  private mutating func add(_ piece: ArraySlice<UInt8>) {
    let first = piece.prefix(max(0, kept - head))
    if !first.isEmpty {
      log.write(bytes: Array(first))
      head += first.count
    }
    for byte in piece.dropFirst(first.count) {
      if tail.count < kept {
        tail.append(byte)
      } else {
        tail[tailStart] = byte
        tailStart = tailStart + 1 == kept ? 0 : tailStart + 1
        leftOut += 1
      }
    }
  }
}
