import Core
import SystemPackage

/// A ZIP archive read in place: entries are decoded on demand from one map, by any thread.
///
/// Stored and deflated entries, ZIP64, data descriptors. An archive without its directory, as a copy leaves it that was
/// cut off, has the entries whose data is whole. Memory: the directory.
public final class ZIPArchive: Sendable {
  /// In the order of the directory, doubled and hostile names included.
  public let entries: [ZIPEntry]
  /// Whether the directory is lost or damaged, so that `entries` were found by their own headers.
  public let isCut: Bool
  private let file: MappedFile
  /// Where entries must end: the start of the directory, or the end of the file.
  private let dataEnd: Int
  /// Where local headers start, ascending, each once: an entry must end before the next.
  private let headers: [Int]

  public var path: FilePath { file.path }

  /// Reads the directory. Throws for a file that does not start like an archive.
  public init(_ file: MappedFile) throws(ZIPError) {
    let start = ZIPFields(bytes: file.bytes(in: 0..<4)).word(0)
    guard start == ZIPFormat.localHeader || start == ZIPFormat.end else {
      throw ZIPError(byteOffset: 0, what: "no ZIP file")
    }
    self.file = file
    if let directory = ZIPDirectory(file) {
      entries = directory.entries
      dataEnd = directory.start
      isCut = false
    } else {
      entries = ZIPLocalWalk(file).entries
      dataEnd = file.count
      isCut = true
    }
    var headers: [Int] = []
    headers.reserveCapacity(entries.count)
    for offset in entries.map(\.headerOffset).sorted() where headers.last != offset {
      headers.append(offset)
    }
    self.headers = headers
  }

  /// The content of an entry, checked against its size and checksum.
  ///
  /// - Parameter most: greatest size in bytes, packed and unpacked. Nothing larger is allocated, nor anything that the
  ///   packed bytes cannot hold.
  ///
  /// Cost: one pass over the packed bytes, and memory for the content. May be called from many threads.
  public func content(of entry: ZIPEntry, most: Int) throws(ZIPError) -> [UInt8] {
    let data = try range(of: entry)
    func fault(_ what: String) -> ZIPError {
      ZIPError(byteOffset: data.lowerBound, what: what)
    }
    guard entry.contentBytes <= most, data.count <= most else {
      throw fault(
        "it claims \(max(entry.contentBytes, data.count)) bytes, at most \(most) are read")
    }
    var content: [UInt8]
    switch entry.method {
    case 0:
      guard data.count == entry.contentBytes else {
        throw fault("\(data.count) bytes are stored, it claims \(entry.contentBytes)")
      }
      content = file.bytes(in: data)
    case 8:
      // DEFLATE packs at most 1032 bytes into one.
      guard entry.contentBytes / 1032 <= data.count else {
        throw fault("it claims \(entry.contentBytes) bytes, more than \(data.count) can hold")
      }
      content = [UInt8](repeating: 0, count: entry.contentBytes)
      let isWhole = file.withBytes(in: data) { packed in
        content.withUnsafeMutableBytes { bytes in
          var output = bytes.mutableBytes
          let result = try? WholeInflate.inflate(packed, format: .raw, into: &output)
          return result?.produced == bytes.count
        }
      }
      guard isWhole else {
        throw fault("it does not unpack to the \(entry.contentBytes) bytes that it claims")
      }
    default: throw fault("it is packed by method \(entry.method), only 0 and 8 are read")
    }
    file.didRead(bytes: data.count)
    var checksum = CRC32()
    checksum.update(content)
    guard content.count == entry.contentBytes, checksum.value == entry.checksum else {
      throw fault("its checksum does not match")
    }
    return content
  }

  /// Where the packed bytes lie.
  private func range(of entry: ZIPEntry) throws(ZIPError) -> Range<Int> {
    let offset = entry.headerOffset
    func fault(_ what: String) -> ZIPError { ZIPError(byteOffset: max(0, offset), what: what) }
    if entry.isEncrypted { throw fault("it is encrypted") }
    guard offset >= 0, offset <= dataEnd - ZIPFormat.localHeaderBytes else {
      throw fault("it lies outside of the file's data")
    }
    let fixed = ZIPFields(bytes: file.bytes(in: offset..<offset + ZIPFormat.localHeaderBytes))
    guard fixed.word(0) == ZIPFormat.localHeader else { throw fault("there is no header for it") }
    let nameEnd = offset + ZIPFormat.localHeaderBytes + fixed.short(26)
    let (start, _) = nameEnd.addingReportingOverflow(fixed.short(28))
    let (end, overflow) = start.addingReportingOverflow(entry.packedBytes)
    guard !overflow, end >= start, end <= dataEnd else {
      throw fault("it lies outside of the file's data")
    }
    guard !overlapsNext(offset..<end) else { throw fault("it overlaps the next entry") }
    // Two entries of the directory may name one header.
    let name = file.bytes(in: offset + ZIPFormat.localHeaderBytes..<nameEnd)
    guard name == entry.name else { throw fault("its header has another name") }
    return start..<end
  }

  /// Whether another entry starts inside of one. Entries of the directory that have no header there are ignored, but for
  /// the first few only: no archiver writes such. Cost: a binary search.
  private func overlapsNext(_ entry: Range<Int>) -> Bool {
    var ignored = 0
    for offset in headers[headers.partitioningIndex(where: { $0 > entry.lowerBound })...] {
      guard offset < entry.upperBound else { return false }
      ignored += 1
      let header = ZIPFields(bytes: file.bytes(in: offset..<offset + 4))
      if header.word(0) == ZIPFormat.localHeader || ignored > Self.mostIgnored { return true }
    }
    return false
  }

  private static let mostIgnored = 16
}

/// Why an archive, or one entry of it, cannot be read.
public struct ZIPError: Error, Hashable {
  /// Where in the archive.
  public var byteOffset: Int
  /// What is wrong, as a clause.
  public var what: String
}

/// What an archive states of one entry. Nothing of it is believed before it is decoded.
public struct ZIPEntry: Hashable, Sendable {
  /// The bytes of the name; usually UTF-8.
  public var name: [UInt8]
  /// How it is packed: 0 stored, 8 deflated; others are not read.
  var method: Int
  /// CRC-32 of the content.
  public var checksum: UInt32
  var packedBytes: Int
  var contentBytes: Int
  /// Where its local header starts.
  var headerOffset: Int
  var isEncrypted: Bool

  /// Why a name must not be used as a path; `nil` for a plain relative one.
  ///
  /// Refused are an empty name, a leading slash, a backslash, a drive letter, a zero byte and components `..`.
  public var hostility: String? {
    if name.isEmpty { return "it has no name" }
    if name.first == UInt8(ascii: "/") { return "it starts with a slash" }
    if name.contains(UInt8(ascii: "\\")) { return "it has a backslash" }
    if name.contains(0) { return "it has a zero byte" }
    if name.count >= 2, name[1] == UInt8(ascii: ":"), Self.isLetter(name[0]) {
      return "it starts with a drive letter"
    }
    let parent = [UInt8](repeating: UInt8(ascii: "."), count: 2)
    if name.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual(parent) }) {
      return "it leads to a parent folder"
    }
    return nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

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
