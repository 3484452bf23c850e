import Media

/// The summary at the end of an MCAP file, from which readers find everything.
struct MCAPSummary {
  struct ChunkEntry {
    var firstTime: UInt64
    var lastTime: UInt64
    /// Offset of the chunk's record, including its header.
    var offset: UInt64
    var bytes: UInt64 = 0
    /// Offset of each channel's index.
    var indexes: [(channel: UInt16, offset: UInt64)] = []
    var indexBytes: UInt64 = 0
    var compression: String
    var storedBytes: UInt64
    var recordBytes: UInt64
  }

  /// Records as in chunks.
  var schemas: [[UInt8]] = []
  var channels: [[UInt8]] = []
  /// Number of messages by channel.
  var counts: [UInt16: UInt64] = [:]
  var chunks: [ChunkEntry] = []
  var metadata: [(offset: UInt64, bytes: UInt64, name: String)] = []
  var times: (first: UInt64, last: UInt64)?

  /// Everything from the summary's start, at file offset `offset`, to the end of the footer, whose
  /// checksum covers what precedes it.
  func bytes(at offset: UInt64) -> [UInt8] {
    var bytes = RecordBytes()
    var groups: [(MCAPRecord, start: Int, end: Int)] = []
    for (kind, records) in [
      (MCAPRecord.schema, schemas), (.channel, channels), (.statistics, [statistics]),
      (.chunkIndex, chunks.map(Self.index)), (.metadataIndex, metadata.map(Self.index)),
    ] where !records.isEmpty {
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
    var content = RecordBytes()
    content.integer(counts.values.reduce(0, +))
    content.integer(UInt16(clamping: schemas.count))
    content.integer(UInt32(clamping: channels.count))
    content.integer(UInt32(0))
    content.integer(UInt32(clamping: metadata.count))
    content.integer(UInt32(clamping: chunks.count))
    content.integer(times?.first ?? 0)
    content.integer(times?.last ?? 0)
    var map = RecordBytes()
    for (channel, messages) in counts.sorted(by: { $0.key < $1.key }) {
      map.integer(channel)
      map.integer(messages)
    }
    content.sized(map.bytes)
    return RecordBytes.record(.statistics, content)
  }

  private static func index(_ chunk: ChunkEntry) -> [UInt8] {
    var content = RecordBytes()
    content.integer(chunk.firstTime)
    content.integer(chunk.lastTime)
    content.integer(chunk.offset)
    content.integer(chunk.bytes)
    var map = RecordBytes()
    for index in chunk.indexes {
      map.integer(index.channel)
      map.integer(index.offset)
    }
    content.sized(map.bytes)
    content.integer(chunk.indexBytes)
    content.text(chunk.compression)
    content.integer(chunk.storedBytes)
    content.integer(chunk.recordBytes)
    return RecordBytes.record(.chunkIndex, content)
  }

  private static func index(
    _ metadata: (offset: UInt64, bytes: UInt64, name: String)
  ) -> [UInt8] {
    var content = RecordBytes()
    content.integer(metadata.offset)
    content.integer(metadata.bytes)
    content.text(metadata.name)
    return RecordBytes.record(.metadataIndex, content)
  }
}
