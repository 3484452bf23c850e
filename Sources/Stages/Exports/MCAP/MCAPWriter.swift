import Media

/// Writes an MCAP file in one pass: records, chunks with their indexes and checksums, and the
/// summary.
///
/// Messages must be in time order. One chunk and the indexes are in memory: about a hundred bytes
/// per chunk. Format: https://mcap.dev/spec, version 0.
struct MCAPWriter {
  struct Channel: Hashable {
    var topic: String
    /// The type of its messages as `package/msg/Name`, and the definition of the type.
    var type: String
    var schema: String
    /// Value of `offered_qos_profiles`.
    var qualityOfService = ""
  }

  /// Chunks are closed above the first size, and exceed the second only for a larger message.
  static let leastChunkBytes = 1 << 20
  static let mostChunkBytes = 4 << 20
  private static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

  private let compression: MCAPCompression
  private let append: ([UInt8]) throws -> Void
  private var offset: UInt64 = 0
  private var chunk = MCAPChunk()
  /// The types whose schemas are written. An id is the index plus 1.
  private var types: [String] = []
  private var summary = MCAPSummary()

  /// - Parameter append: receives the file's bytes in order.
  init(
    library: String, compression: MCAPCompression, append: @escaping ([UInt8]) throws -> Void
  ) throws {
    self.compression = compression
    self.append = append
    try put(Self.magic)
    var header = RecordBytes()
    header.text("ros2")
    header.text(library)
    try put(RecordBytes.record(.header, header))
  }

  /// Adds texts about the whole file. Only before the first message.
  mutating func add(metadata name: String, _ entries: [(key: String, value: String)]) throws {
    var content = RecordBytes()
    content.text(name)
    content.map(entries)
    let record = RecordBytes.record(.metadata, content)
    var index = RecordBytes()
    index.integer(offset)
    index.integer(UInt64(record.count))
    index.text(name)
    summary.append(.metadataIndex, index)
    try put(record)
  }

  /// Appends a message.
  ///
  /// - Parameters:
  ///   - head: the first bytes of its data.
  ///   - payload: the rest.
  mutating func write(
    to channel: Channel, time: UInt64, head: [UInt8], payload: [UInt8] = []
  ) throws {
    // Schema and channel are in the chunk of the first message.
    let (place, introductions) = place(of: channel)
    let id = UInt16(clamping: place + 1)
    // Before the data: channel, sequence, two times.
    let size = 2 + 4 + 8 + 8 + head.count + payload.count
    var record = RecordBytes(RecordBytes.head(.message, contentBytes: size))
    record.integer(id)
    record.integer(UInt32(truncatingIfNeeded: summary.channels[place].messages))
    record.integer(time)
    record.integer(time)
    record.raw(head)
    let added = introductions.reduce(record.count + payload.count) { $0 + $1.count }
    if !chunk.isEmpty, chunk.count + added > Self.mostChunkBytes { try endChunk() }
    for introduction in introductions { chunk.append(record: introduction) }
    chunk.append(head: record.bytes, payload: payload, channel: id, time: time)
    summary.channels[place].messages += 1
    let times = summary.times ?? (time, time)
    summary.times = (min(times.first, time), max(times.last, time))
    if chunk.count >= Self.leastChunkBytes { try endChunk() }
  }

  /// Writes the rest: the last chunk, the summary, the footer.
  mutating func finish() throws -> MCAPSummary {
    try endChunk()
    var end = RecordBytes()
    // No checksum of the data section: each chunk has its own.
    end.integer(UInt32(0))
    try put(RecordBytes.record(.dataEnd, end))
    try put(summary.bytes(at: offset))
    try put(Self.magic)
    return summary
  }

  private mutating func put(_ bytes: [UInt8]) throws {
    try append(bytes)
    offset += UInt64(bytes.count)
  }

  /// The index of a channel, and the records that introduce it; none if it was introduced before.
  private mutating func place(of channel: Channel) -> (Int, introductions: [[UInt8]]) {
    if let known = summary.channels.firstIndex(where: { $0.channel == channel }) {
      return (known, [])
    }
    var introductions: [[UInt8]] = []
    if !types.contains(channel.type) {
      types.append(channel.type)
      var content = RecordBytes()
      content.integer(UInt16(clamping: types.count))
      content.text(channel.type)
      content.text("ros2msg")
      content.text(channel.schema)
      introductions.append(summary.append(.schema, content))
    }
    let schema = (types.firstIndex(of: channel.type) ?? 0) + 1
    summary.channels.append((channel, 0))
    var content = RecordBytes()
    content.integer(UInt16(clamping: summary.channels.count))
    content.integer(UInt16(clamping: schema))
    content.text(channel.topic)
    content.text("cdr")
    content.map([("offered_qos_profiles", channel.qualityOfService)])
    introductions.append(summary.append(.channel, content))
    return (summary.channels.count - 1, introductions)
  }

  private mutating func endChunk() throws {
    guard !chunk.isEmpty else { return }
    let stored = try compression.stored(chunk.records)
    let storedBytes = stored.reduce(0) { $0 + $1.count }
    let start = offset
    var head = RecordBytes()
    head.integer(chunk.firstTime)
    head.integer(chunk.lastTime)
    head.integer(UInt64(chunk.count))
    head.integer(chunk.checksum)
    head.text(compression.recordName)
    head.integer(UInt64(storedBytes))
    try put(RecordBytes.head(.chunk, contentBytes: head.count + storedBytes) + head.bytes)
    for piece in stored { try put(piece) }
    let end = offset
    var indexes = RecordBytes()
    for (channel, messages) in chunk.messages.sorted(by: { $0.key < $1.key }) {
      indexes.integer(channel)
      indexes.integer(offset)
      var entries = RecordBytes()
      for message in messages {
        entries.integer(message.time)
        entries.integer(message.offset)
      }
      var content = RecordBytes()
      content.integer(channel)
      content.sized(entries.bytes)
      try put(RecordBytes.record(.messageIndex, content))
    }
    var index = RecordBytes()
    index.integer(chunk.firstTime)
    index.integer(chunk.lastTime)
    index.integer(start)
    index.integer(end - start)
    index.sized(indexes.bytes)
    index.integer(offset - end)
    index.text(compression.recordName)
    index.integer(UInt64(storedBytes))
    index.integer(UInt64(chunk.count))
    summary.append(.chunkIndex, index)
    chunk.removeAll()
  }
}

/// What was written, and the summary at the end of an MCAP file, from which readers find everything.
struct MCAPSummary {
  /// The channels with the numbers of their messages. An id is the index plus 1.
  var channels: [(channel: MCAPWriter.Channel, messages: UInt64)] = []
  var times: (first: UInt64, last: UInt64)?
  /// The records of the summary, but for the statistics, by kind.
  private var records: [MCAPRecord: [[UInt8]]] = [:]

  var messages: UInt64 { channels.reduce(0) { $0 + $1.messages } }

  /// Adds a record to the summary and returns its bytes.
  @discardableResult mutating func append(
    _ kind: MCAPRecord, _ content: RecordBytes
  ) -> [UInt8] {
    let record = RecordBytes.record(kind, content)
    records[kind, default: []].append(record)
    return record
  }

  /// Everything from the summary's start, at file offset `offset`, to the end of the footer, whose
  /// checksum covers what precedes it.
  func bytes(at offset: UInt64) -> [UInt8] {
    var bytes = RecordBytes()
    var groups: [(MCAPRecord, start: Int, end: Int)] = []
    for kind in [MCAPRecord.schema, .channel, .statistics, .chunkIndex, .metadataIndex] {
      let records = kind == .statistics ? [statistics] : records[kind] ?? []
      if records.isEmpty { continue }
      let start = bytes.count
      for record in records { bytes.raw(record) }
      groups.append((kind, start, bytes.count))
    }
    let offsetsStart = offset + UInt64(bytes.count)
    for group in groups {
      var content = RecordBytes()
      content.integer(group.0.rawValue)
      content.integer(offset + UInt64(group.start))
      content.integer(UInt64(group.end - group.start))
      bytes.raw(RecordBytes.record(.summaryOffset, content))
    }
    bytes.raw(RecordBytes.head(.footer, contentBytes: 20))
    bytes.integer(offset)
    bytes.integer(offsetsStart)
    var sum = CRC32()
    sum.update(bytes.bytes)
    bytes.integer(sum.value)
    return bytes.bytes
  }

  private var statistics: [UInt8] {
    func count(_ kind: MCAPRecord) -> Int { records[kind]?.count ?? 0 }
    var content = RecordBytes()
    content.integer(messages)
    content.integer(UInt16(clamping: count(.schema)))
    content.integer(UInt32(clamping: channels.count))
    content.integer(UInt32(0))
    content.integer(UInt32(clamping: count(.metadataIndex)))
    content.integer(UInt32(clamping: count(.chunkIndex)))
    content.integer(times?.first ?? 0)
    content.integer(times?.last ?? 0)
    var map = RecordBytes()
    for (index, channel) in channels.enumerated() {
      map.integer(UInt16(clamping: index + 1))
      map.integer(channel.messages)
    }
    content.sized(map.bytes)
    return RecordBytes.record(.statistics, content)
  }
}

/// Builds little-endian bytes of MCAP records.
struct RecordBytes {
  private(set) var bytes: [UInt8] = []

  init() {}

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var count: Int { bytes.count }

  mutating func integer(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func raw(_ more: [UInt8]) { bytes += more }

  /// Appends the byte length (u32) and UTF-8.
  mutating func text(_ text: String) { sized(Array(text.utf8)) }

  /// Appends the byte length (u32) and the bytes: texts, and arrays and maps of whole entries.
  mutating func sized(_ content: [UInt8]) {
    integer(UInt32(clamping: content.count))
    raw(content)
  }

  /// Appends a map of texts, in the given order.
  mutating func map(_ entries: [(key: String, value: String)]) {
    var content = RecordBytes()
    for entry in entries {
      content.text(entry.key)
      content.text(entry.value)
    }
    sized(content.bytes)
  }

  /// A whole record: opcode, u64 length, content.
  static func record(_ code: MCAPRecord, _ content: RecordBytes) -> [UInt8] {
    head(code, contentBytes: content.count) + content.bytes
  }

  /// The nine bytes before a record's content.
  static func head(_ code: MCAPRecord, contentBytes: Int) -> [UInt8] {
    var head = RecordBytes()
    head.integer(code.rawValue)
    head.integer(UInt64(contentBytes))
    return head.bytes
  }
}

/// Opcodes of records.
enum MCAPRecord: UInt8 {
  case header = 0x01
  case footer = 0x02
  case schema = 0x03
  case channel = 0x04
  case message = 0x05
  case chunk = 0x06
  case messageIndex = 0x07
  case chunkIndex = 0x08
  case statistics = 0x0B
  case metadata = 0x0C
  case metadataIndex = 0x0D
  case summaryOffset = 0x0E
  case dataEnd = 0x0F
}
