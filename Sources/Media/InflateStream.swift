import CZlib
import Core

/// Inflates one DEFLATE stream inside a mapped file, piece by piece.
///
/// Memory is constant: zlib's state (about 44 KiB); pages of the file that were read are released.
/// Every byte before damage is returned; `state` then says what happened. Must not be used by two
/// threads at once.
public final class InflateStream {
  public enum State: Equatable, Sendable {
    /// More may follow.
    case open
    /// The end mark of the stream was read, and the checksum where the format has one.
    case ended
    /// The end mark was read, but the checksum or length after it does not match the output.
    case wrongChecksum
    /// The range ended before the stream did.
    case truncated
    /// zlib found an error, here its description; `inputOffset` is its position up to the bytes
    /// that zlib had buffered.
    case damaged(String)
  }

  public private(set) var state = State.open
  /// Offset in the file of the first byte that was not consumed. After `.ended` this is the first
  /// byte after the stream, where another stream may start.
  public private(set) var inputOffset: Int
  /// Number of bytes inflated so far.
  public private(set) var producedBytes = 0

  /// After `.wrongChecksum` in a gzip stream: whether the length field after the checksum has not
  /// been consumed.
  public private(set) var stopsBeforeLength = false

  private let file: MappedFile
  private let end: Int
  // On the heap: zlib keeps the address of this structure and compares it on every call.
  private let stream: UnsafeMutablePointer<z_stream>

  /// Number of input bytes that zlib is given at a time.
  private static let windowBytes = 1 << 20

  /// A stream that starts at the lower bound of `range`. It does not read beyond `range` or the end
  /// of the file.
  public init(_ file: MappedFile, range: Range<Int>, format: DeflateFormat) {
    let range = range.clamped(to: 0..<file.count)
    self.file = file
    inputOffset = range.lowerBound
    end = range.upperBound
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    if scanmill_inflateInit2(stream, format.windowBits) != Z_OK {
      state = .damaged("no memory for inflation")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Fills `output` with the next bytes. Returns how many; fewer than requested only when `state`
  /// is no longer `.open`.
  public func read(into output: inout MutableRawSpan) -> Int {
    output.withUnsafeMutableBytes { read(into: $0) }
  }

  /// Resizes `output` to `count` bytes if necessary and fills it as `read(into:)` does.
  public func read(into output: inout [UInt8], count: Int) -> Int {
    output.resize(to: count)
    return output.withUnsafeMutableBytes { read(into: $0) }
  }

  private func read(into output: UnsafeMutableRawBufferPointer) -> Int {
    var produced = 0
    while produced < output.count, state == .open {
      produced += step(into: UnsafeMutableRawBufferPointer(rebasing: output[produced...]))
    }
    producedBytes += produced
    return produced
  }

  /// Whether zlib stopped at the trailer after the end mark. Known by zlib's message, which it
  /// never changes.
  private var isAtChecksum: Bool {
    guard let message = stream.pointee.msg else { return false }
    return ["incorrect data check", "incorrect length check"].contains(String(cString: message))
  }

  /// Calls zlib once with at most one window of input. Returns the number of bytes produced.
  private func step(into output: UnsafeMutableRawBufferPointer) -> Int {
    let window = inputOffset..<min(end, inputOffset + Self.windowBytes)
    let capacity = min(output.count, Int(UInt32.max))
    let (status, consumed, produced) = file.withBytes(in: window) { input in
      input.withUnsafeBytes { input in
        // zlib does not write through next_in; the type merely lacks `const`.
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(capacity)
        let status = inflate(stream, Z_NO_FLUSH)
        let consumed = input.count - Int(stream.pointee.avail_in)
        return (status, consumed, capacity - Int(stream.pointee.avail_out))
      }
    }
    inputOffset += consumed
    file.didRead(bytes: consumed)
    switch status {
    case Z_OK where consumed > 0 || produced > 0: break
    case Z_OK, Z_BUF_ERROR: state = .truncated
    case Z_STREAM_END: state = .ended
    case Z_NEED_DICT: state = .damaged("asks for a preset dictionary")
    case Z_DATA_ERROR where isAtChecksum:
      stopsBeforeLength = stream.pointee.msg.map { String(cString: $0) } == "incorrect data check"
      state = .wrongChecksum
    default:
      state = .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
    }
    return produced
  }
}
