import Core
import Glibc
import SystemPackage

/// The length-prefixed records of a framed depth file, found without decoding.
struct ARKitScannerDepthChain {
  /// How the walk ended.
  enum End: Hashable {
    /// Exactly at the end of the file.
    case complete
    /// The remaining bytes are fewer than a length takes.
    case stray(bytes: Int)
    /// A length is negative or extends beyond the end of the file.
    case broken(length: Int32)
    /// There are more records than any recording has.
    case tooManyRecords
  }

  /// File offsets of the records' lengths, and last the offset where the walk ended.
  private var offsets: [Int] = []
  private(set) var end = End.complete

  /// Limit on the number of records: almost 5 hours at 60 frames per second. A file of zeros is a
  /// chain of empty records; its table must stay small.
  private static let mostRecords = 1 << 20

  var recordCount: Int { offsets.count - 1 }
  /// The offset where the walk ended.
  var endOffset: Int { offsets[offsets.count - 1] }

  /// Offset of the length of `record`; `record` must be below `recordCount`.
  func offset(of record: Int) -> Int { offsets[record] }
  /// The bytes of `record` after its length.
  func payload(of record: Int) -> Range<Int> { offsets[record] + 4..<offsets[record + 1] }

  /// Walks `file`, which has `byteCount` bytes.
  ///
  /// Large records are skipped by reading only their lengths: mapped pages would load their
  /// neighbors and, in the end, the whole file. Cost: one system call per record, less for small
  /// ones.
  init(walking file: FilePath, byteCount: Int) throws(CaptureError) {
    do {
      let descriptor = try EnclosedPaths.openForReading(file)
      defer { try? descriptor.close() }
      // Read-ahead does not help, because records are skipped.
      posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_RANDOM)
      var window = Window(descriptor: descriptor)
      try walk(byteCount: byteCount) { try window.length(at: $0, hint: $1) }
    } catch {
      throw CaptureError(
        file: file, problem: "cannot be read: \(error)",
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
  }

  private mutating func walk(
    byteCount: Int, lengthAt: (_ offset: Int, _ previous: Int) throws -> Int32?
  ) throws {
    var at = 0
    var previous = 0
    while byteCount - at >= 4, offsets.count < Self.mostRecords {
      guard let length = try lengthAt(at, previous) else { break }
      guard length >= 0, Int(length) <= byteCount - at - 4 else {
        end = .broken(length: length)
        offsets.append(at)
        return
      }
      offsets.append(at)
      previous = Int(length)
      at += 4 + previous
    }
    offsets.append(at)
    if byteCount - at >= 4 {
      end = .tooManyRecords
    } else if at < byteCount {
      end = .stray(bytes: byteCount - at)
    }
  }
}

/// Reads little-endian lengths at ascending offsets: four bytes at a time, or a window if it may
/// contain the next length too.
private struct Window {
  let descriptor: FileDescriptor
  var bytes = [UInt8](repeating: 0, count: 16_384)
  var start = 0
  var count = 0

  /// `nil` when the file ends before. `hint` is the size of the previous record.
  mutating func length(at offset: Int, hint: Int) throws -> Int32? {
    if offset < start || offset + 4 > start + count {
      let wanted = hint < 4096 ? bytes.count : 4
      start = offset
      count = try bytes.withUnsafeMutableBytes {
        try descriptor.read(
          fromAbsoluteOffset: Int64(offset),
          into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]))
      }
    }
    guard offset + 4 <= start + count else { return nil }
    return bytes.span.bytes.littleEndian(Int32.self, at: offset - start)
  }
}
