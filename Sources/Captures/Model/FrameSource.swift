import Synchronization

/// The outcome of decoding one record of a frame stream.
public struct RecordOutcome: Sendable {
  /// Whether the buffer contains a picture; otherwise the stream has a hole at that index.
  public var hasPicture: Bool
  /// Damage in this record (`corrupt-record`, `empty-record`, `non-finite-value`…).
  public var issue: FrameIssue?
  /// The payload kind, for streams that may mix several (`lz4-u16`, `deflate-f32`).
  public var encoding: String?
  /// Depth values above 100 m, which are 0 in the picture: 16 bits of millimeters end at 65.535 m.
  var tooFar = 0

  public init(
    hasPicture: Bool, issue: FrameIssue? = nil, encoding: String? = nil, tooFar: Int = 0
  ) {
    self.hasPicture = hasPicture
    self.issue = issue
    self.encoding = encoding
    self.tooFar = tooFar
  }

  public static let picture = RecordOutcome(hasPicture: true)

  /// An outcome without picture. `message` names record and byte offset.
  public static func hole(_ code: WarningCode, _ message: String) -> RecordOutcome {
    RecordOutcome(hasPicture: false, issue: FrameIssue(code: code, message: message))
  }
}

/// Damage in one record.
public struct FrameIssue: Sendable, Hashable {
  var code: WarningCode
  public var message: String

  public init(code: WarningCode, message: String) {
    self.code = code
    self.message = message
  }
}

/// Frames that can be decoded independently, by several threads at once.
public protocol IndexedFrameSource<Pixel>: Sendable {
  associatedtype Pixel: BitwiseCopyable & Sendable
  var recordCount: Int { get }
  /// Decodes record `record` into `pixels`, which is resized to width × height and reused between
  /// calls. Damaged bytes never trap: they give an outcome without picture.
  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome
}

/// Frames that are stored as one picture file each. The samples of a gray PNG file of the stream's
/// depth are the decoded values.
public protocol StoredFrameSource<Pixel>: IndexedFrameSource {
  /// The bytes of the record's file, not checked; `nil` for a record without file. Throws if a file
  /// that exists cannot be read.
  func storedFile(record: Int) throws -> [UInt8]?
  /// As `decode(record:into:)`, from the bytes that `storedFile(record:)` returned.
  func decode(_ bytes: [UInt8], record: Int, into pixels: inout [Pixel]) -> RecordOutcome
}

/// Frames that must be decoded in sequence.
public protocol OrderedFrameSource<Pixel>: Sendable {
  associatedtype Pixel: BitwiseCopyable & Sendable
  var recordCount: Int { get }
  /// A new reader at the first record. Readers are independent; each must be used by one thread at
  /// a time.
  func makeReader() throws -> any OrderedFrameReader<Pixel>
}

/// A position in an ordered source.
public protocol OrderedFrameReader<Pixel>: AnyObject {
  associatedtype Pixel: BitwiseCopyable & Sendable
  /// Decodes the next record into `pixels`, or returns `nil` after the last one.
  func next(into pixels: inout [Pixel]) throws -> RecordOutcome?
}

/// Ways to access the frames of a stream.
public enum FrameAccess<Pixel: BitwiseCopyable & Sendable>: Sendable {
  case indexed(any IndexedFrameSource<Pixel>)
  case ordered(any OrderedFrameSource<Pixel>)

  /// Number of records in the stream, including damaged ones.
  public var recordCount: Int {
    switch self {
    case .indexed(let source): source.recordCount
    case .ordered(let source): source.recordCount
    }
  }
}

/// A pool of reusable buffers. There are at most as many as threads that have used it at once.
final class ScratchBuffers: Sendable {
  private let idle = Mutex<[[UInt8]]>([])

  init() {}

  /// Passes `body` a buffer of exactly `byteCount` bytes with undefined content.
  func withBuffer<Result>(
    byteCount: Int, _ body: (inout [UInt8]) throws -> Result
  ) rethrows -> Result {
    var buffer = idle.withLock { $0.popLast() } ?? []
    if buffer.count != byteCount { buffer = [UInt8](repeating: 0, count: byteCount) }
    defer { idle.withLock { $0.append(buffer) } }
    return try body(&buffer)
  }
}
