/// The central directory at the end of an archive.
public struct ZIPDirectory: Sendable {
  /// In the order of the directory.
  public private(set) var entries: [ZIPEntry]
  /// Where the directory starts: entries must end before.
  public let start: Int

  /// Finds and reads the directory.
  ///
  /// - Parameters:
  ///   - mostBytes: a longer directory is not read.
  /// - Returns: `nil` for input that is no archive, and for an archive whose directory is lost or damaged.
  ///
  /// Cost: the end of the file, and the directory.
  public init?(_ input: some ZIPInput, mostBytes: Int = .max) {
    let tail = ZIPFormat.endBytes + ZIPFormat.mostCommentBytes
    let first = max(0, input.count - tail)
    let bytes = input.bytes(in: first..<input.count)
    guard bytes.count >= ZIPFormat.endBytes else { return nil }
    // The last record counts whose directory is there: the comment may look like one.
    for offset in stride(from: bytes.count - ZIPFormat.endBytes, through: 0, by: -1)
    where bytes[offset] == 0x50 && bytes[offset + 1] == 0x4b && bytes[offset + 2] == 0x05
      && bytes[offset + 3] == 0x06
    {
      let record = ZIPFields(bytes: Array(bytes[offset..<offset + ZIPFormat.endBytes]))
      if let directory = Self(input, end: first + offset, record, mostBytes) {
        self = directory
        return
      }
    }
    return nil
  }

  private init?(_ input: some ZIPInput, end: Int, _ record: ZIPFields, _ mostBytes: Int) {
    var count = record.short(10)
    var size = Int(record.word(12))
    var start = Int(record.word(16))
    var limit = end
    let needs64 =
      record.short(10) == 0xFFFF || record.word(12) == ZIPFormat.in64
      || record.word(16) == ZIPFormat.in64
    if needs64, let (offset, fields) = Self.end64(input, before: end) {
      (count, size, start, limit) = (fields.long(32), fields.long(40), fields.long(48), offset)
    }
    let (directoryEnd, overflow) = start.addingReportingOverflow(size)
    guard !overflow, start >= 0, size >= 0, directoryEnd <= limit, size <= mostBytes,
      count <= size / ZIPFormat.directoryEntryBytes,
      // A record without entries could stand anywhere, also in a comment.
      count > 0 || directoryEnd == limit
    else { return nil }
    guard let entries = Self.entries(input, start..<directoryEnd, count: count) else { return nil }
    self.entries = entries
    self.start = start
  }

  /// The ZIP64 end record, by its locator directly before the end record.
  private static func end64(
    _ input: some ZIPInput, before end: Int
  ) -> (offset: Int, fields: ZIPFields)? {
    let start = end - ZIPFormat.end64LocatorBytes
    guard start >= 0 else { return nil }
    let locator = ZIPFields(bytes: input.bytes(in: start..<end))
    guard locator.word(0) == ZIPFormat.end64Locator else { return nil }
    let offset = locator.long(8)
    guard offset >= 0, offset <= start - ZIPFormat.end64Bytes else { return nil }
    let fields = ZIPFields(bytes: input.bytes(in: offset..<offset + ZIPFormat.end64Bytes))
    return fields.word(0) == ZIPFormat.end64 ? (offset, fields) : nil
  }

  /// `nil` if the directory does not hold `count` whole entries. Programs that do not write ZIP64 state
  /// the number of entries modulo 65,536, so that more may follow.
  private static func entries(
    _ input: some ZIPInput, _ range: Range<Int>, count: Int
  ) -> [ZIPEntry]? {
    let bytes = input.bytes(in: range)
    guard bytes.count == range.count else { return nil }
    var entries: [ZIPEntry] = []
    entries.reserveCapacity(count)
    var offset = 0
    while true {
      let isEnough = entries.count >= count
      guard offset <= bytes.count - ZIPFormat.directoryEntryBytes else {
        return isEnough ? entries : nil
      }
      let head = ZIPFields(bytes: Array(bytes[offset..<offset + ZIPFormat.directoryEntryBytes]))
      guard head.word(0) == ZIPFormat.directoryEntry else { return isEnough ? entries : nil }
      let nameEnd = ZIPFormat.directoryEntryBytes + head.short(28)
      let extraEnd = nameEnd + head.short(30)
      let end = extraEnd + head.short(32)
      guard offset <= bytes.count - end else { return isEnough ? entries : nil }
      let fields = ZIPFields(bytes: Array(bytes[offset..<offset + extraEnd]))
      entries.append(entry(fields, nameEnd: nameEnd, extraEnd: extraEnd))
      offset += end
    }
  }

  private static func entry(_ fields: ZIPFields, nameEnd: Int, extraEnd: Int) -> ZIPEntry {
    var wide = fields.extra64(in: nameEnd..<extraEnd)[...]
    func number(_ offset: Int) -> Int {
      let value = fields.word(offset)
      return value == ZIPFormat.in64 ? wide.popFirst() ?? Int(value) : Int(value)
    }
    let content = number(24)
    let packed = number(20)
    let header = number(42)
    let flags = fields.short(8)
    return ZIPEntry(
      name: Array(fields.bytes[ZIPFormat.directoryEntryBytes..<nameEnd]),
      method: fields.short(10), checksum: fields.word(16), packedBytes: packed,
      contentBytes: content, headerOffset: header,
      isEncrypted: flags & (ZIPFormat.encrypted | ZIPFormat.maskedHeader) != 0)
  }
}
