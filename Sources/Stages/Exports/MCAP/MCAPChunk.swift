import Media

/// Collects the records of a chunk and the data of its index.
///
/// Large payloads are kept without copying, so that the kernel makes the only copy between a
/// picture's file and the bag.
struct MCAPChunk {
  private var pieces: [[UInt8]] = []
  private var tail: [UInt8] = []
  private(set) var count = 0
  private(set) var firstTime: UInt64 = 0
  private(set) var lastTime: UInt64 = 0
  /// Times and offsets of messages, by channel.
  private(set) var messages: [UInt16: [(time: UInt64, offset: UInt64)]] = [:]

  /// Payloads of at least this size are kept as separate arrays.
  private static let largePayload = 64 << 10

  var isEmpty: Bool { count == 0 }

  /// Appends a schema or a channel.
  mutating func append(record: [UInt8]) {
    tail += record
    count += record.count
  }

  /// Appends a message: its record up to the payload, and the payload.
  mutating func append(
    head: [UInt8], payload: [UInt8], channel: UInt16, time: UInt64
  ) {
    if messages.isEmpty {
      (firstTime, lastTime) = (time, time)
    } else {
      (firstTime, lastTime) = (min(firstTime, time), max(lastTime, time))
    }
    messages[channel, default: []].append((time, UInt64(count)))
    tail += head
    if payload.count < Self.largePayload {
      tail += payload
    } else {
      pieces.append(tail)
      pieces.append(payload)
      tail = []
    }
    count += head.count + payload.count
  }

  /// The records as a list of byte arrays.
  var records: [[UInt8]] { tail.isEmpty ? pieces : pieces + [tail] }

  var checksum: UInt32 {
    var sum = CRC32()
    for piece in records { sum.update(piece) }
    return sum.value
  }

  mutating func removeAll() {
    pieces.removeAll()
    tail.removeAll(keepingCapacity: true)
    messages.removeAll(keepingCapacity: true)
    count = 0
  }
}

/// Compression of a chunk's records.
enum MCAPCompression: String, CaseIterable, Sendable {
  case none, lz4, zstd

  /// The name in records.
  var recordName: String { self == .none ? "" : rawValue }

  /// The stored bytes of `records`, as a list of byte arrays.
  func stored(_ records: [[UInt8]]) throws(MCAPError) -> [[UInt8]] {
    let packed: [UInt8]?
    switch self {
    case .none: return records
    case .lz4: packed = LZ4Frame.encode(Array(records.joined()))
    case .zstd: packed = Zstandard.encode(Array(records.joined()))
    }
    guard let packed else { throw MCAPError(what: "no memory to compress a chunk") }
    return [packed]
  }
}

/// An error while writing a bag.
struct MCAPError: Error, Hashable, CustomStringConvertible {
  var what: String
  var description: String { "the bag cannot be written: \(what)" }
}
