import Core

/// The entries of an archive whose directory is lost, by their local headers from byte 0 on.
public struct ZIPLocalWalk: Sendable {
  /// Entries whose data is whole, in the order of the file.
  public private(set) var entries: [ZIPEntry] = []
  /// Number of bytes that may still be searched: a header that leads nowhere costs a search, and an archive may hold
  /// millions of them.
  private var budget: Int
  private static let windowBytes = 1 << 12
  /// The bytes that were searched last.
  private var window: [UInt8] = []
  private var windowStart = 0

  /// - Parameters:
  ///   - mostEntries: the walk ends with the entry of this number.
  ///   - mostSearched: number of bytes that are searched for signatures.
  ///
  /// Cost: reads the headers; and the data of entries whose size only a record behind the data tells.
  public init(_ input: some ZIPInput, mostEntries: Int = .max, mostSearched: Int? = nil) {
    let (double, overflow) = input.count.multipliedReportingOverflow(by: 4)
    budget = mostSearched ?? (overflow ? .max : double)
    var offset = 0
    while entries.count < mostEntries, offset <= input.count - ZIPFormat.localHeaderBytes {
      let fixed = ZIPFields(
        bytes: input.bytes(in: offset..<offset + ZIPFormat.localHeaderBytes))
      switch fixed.word(0) {
      case ZIPFormat.localHeader:
        offset = take(fixed, at: offset, input) ?? offset + 4
      // The directory of an archive whose end is lost: no entry follows.
      case ZIPFormat.directoryEntry, ZIPFormat.end, ZIPFormat.end64: return
      default: offset += 1
      }
      guard let next = nextHeader(from: offset, input) else { return }
      offset = next
    }
  }

  /// Where the entry with this header ends; `nil` if its data is not whole.
  private mutating func take(
    _ fixed: ZIPFields, at offset: Int, _ input: some ZIPInput
  ) -> Int? {
    let nameEnd = ZIPFormat.localHeaderBytes + fixed.short(26)
    let headerEnd = nameEnd + fixed.short(28)
    let start = offset + headerEnd
    guard start <= input.count else { return nil }
    let fields = ZIPFields(bytes: input.bytes(in: offset..<start))
    guard fields.bytes.count == headerEnd else { return nil }
    var wide = fields.extra64(in: nameEnd..<headerEnd)[...]
    func number(_ offset: Int) -> Int {
      let value = fields.word(offset)
      return value == ZIPFormat.in64 ? wide.popFirst() ?? Int(value) : Int(value)
    }
    let flags = fields.short(6)
    var entry = ZIPEntry(
      name: Array(fields.bytes[ZIPFormat.localHeaderBytes..<nameEnd]), method: fields.short(8),
      checksum: fields.word(14), packedBytes: 0, contentBytes: number(22), headerOffset: offset,
      isEncrypted: flags & (ZIPFormat.encrypted | ZIPFormat.maskedHeader) != 0)
    entry.packedBytes = number(18)
    if flags & ZIPFormat.hasDataDescriptor != 0 {
      guard let found = descriptor(ofDataAt: start, input) else { return nil }
      (entry.checksum, entry.packedBytes, entry.contentBytes) = (
        found.checksum, found.packed, found.content
      )
      entries.append(entry)
      return found.end
    }
    let (end, overflow) = start.addingReportingOverflow(entry.packedBytes)
    guard !overflow, end >= start, end <= input.count else { return nil }
    entries.append(entry)
    return end
  }

  private struct Descriptor {
    var checksum: UInt32
    var packed: Int
    var content: Int
    /// Where it ends.
    var end: Int
  }

  /// The record behind data whose size is not known: it ends at the next header or at the end of the file, or starts with
  /// a signature, and states how long the data is.
  private mutating func descriptor(
    ofDataAt start: Int, _ input: some ZIPInput
  ) -> Descriptor? {
    var from = start
    while let (offset, signature) = nextSignature(from: from, input) {
      if let found = Self.descriptor(at: offset, signature, dataStart: start, input) {
        return found
      }
      from = offset + 1
    }
    // The file may end inside of the next signature.
    for missing in 0...3 {
      if let found = Self.unsigned(endingAt: input.count - missing, dataStart: start, input) {
        return found
      }
    }
    return nil
  }

  private static func descriptor(
    at offset: Int, _ signature: UInt32, dataStart: Int, _ input: some ZIPInput
  ) -> Descriptor? {
    guard signature == ZIPFormat.dataDescriptor else {
      return unsigned(endingAt: offset, dataStart: dataStart, input)
    }
    let fields = ZIPFields(bytes: input.bytes(in: offset..<min(input.count, offset + 24)))
    let checksum = fields.word(4)
    if fields.bytes.count >= 24, fields.long(8) == offset - dataStart {
      return Descriptor(
        checksum: checksum, packed: fields.long(8), content: fields.long(16), end: offset + 24)
    }
    if fields.bytes.count >= 16, Int(fields.word(8)) == offset - dataStart {
      return Descriptor(
        checksum: checksum, packed: Int(fields.word(8)), content: Int(fields.word(12)),
        end: offset + 16)
    }
    return nil
  }

  /// Finds a descriptor without signature: it is known by where it ends.
  private static func unsigned(
    endingAt end: Int, dataStart: Int, _ input: some ZIPInput
  ) -> Descriptor? {
    let short = ZIPFields(bytes: input.bytes(in: max(dataStart, end - 12)..<max(dataStart, end)))
    if short.bytes.count == 12, Int(short.word(4)) == end - 12 - dataStart {
      return Descriptor(
        checksum: short.word(0), packed: Int(short.word(4)), content: Int(short.word(8)), end: end)
    }
    let long = ZIPFields(bytes: input.bytes(in: max(dataStart, end - 20)..<max(dataStart, end)))
    if long.bytes.count == 20, long.long(4) == end - 20 - dataStart {
      return Descriptor(
        checksum: long.word(0), packed: long.long(4), content: long.long(12), end: end)
    }
    return nil
  }

  /// The next local header, or the directory.
  private mutating func nextHeader(from start: Int, _ input: some ZIPInput) -> Int? {
    var from = start
    while let (offset, signature) = nextSignature(from: from, input) {
      if signature != ZIPFormat.dataDescriptor { return offset }
      from = offset + 4
    }
    return nil
  }

  /// The next signature of any record at or behind `start`; `nil` at the end of the input or of the
  /// budget.
  private mutating func nextSignature(
    from start: Int, _ input: some ZIPInput
  ) -> (offset: Int, signature: UInt32)? {
    var from = start
    while from <= input.count - 4, budget > 0 {
      if from < windowStart || from > windowStart + window.count - 4 {
        windowStart = from
        window = input.bytes(in: from..<min(input.count, from + Self.windowBytes))
        guard window.count >= 4 else { return nil }
      }
      let first = from - windowStart
      for index in first...window.count - 4 where window[index] == 0x50 && window[index + 1] == 0x4b
      {
        let signature =
          0x4b50 | UInt32(window[index + 2]) << 16 | UInt32(window[index + 3]) << 24
        switch signature {
        case ZIPFormat.localHeader, ZIPFormat.directoryEntry, ZIPFormat.end, ZIPFormat.end64,
          ZIPFormat.dataDescriptor:
          budget -= index - first + 4
          return (windowStart + index, signature)
        default: break
        }
      }
      budget -= window.count - first
      from = windowStart + window.count - 3
    }
    return nil
  }
}

/// The bytes of an archive, by position: a file that is mapped, read, or in memory.
public protocol ZIPInput {
  /// Size in bytes.
  var count: Int { get }
  /// The bytes of `range`; fewer where the input ends.
  func bytes(in range: Range<Int>) -> [UInt8]
}

extension MappedFile: ZIPInput {
  public func bytes(in range: Range<Int>) -> [UInt8] {
    withBytes(in: range) { span in span.withUnsafeBytes { [UInt8]($0) } }
  }
}

extension InputFile: ZIPInput {
  /// Bytes that cannot be read are returned as none.
  public func bytes(in range: Range<Int>) -> [UInt8] {
    (try? bytes(at: range.lowerBound, count: range.count)) ?? []
  }
}

/// Signatures and sizes of the records of an archive (APPNOTE.TXT 6.3).
enum ZIPFormat {
  static let localHeader: UInt32 = 0x0403_4b50
  static let directoryEntry: UInt32 = 0x0201_4b50
  static let end: UInt32 = 0x0605_4b50
  static let end64: UInt32 = 0x0606_4b50
  static let end64Locator: UInt32 = 0x0706_4b50
  static let dataDescriptor: UInt32 = 0x0807_4b50

  static let localHeaderBytes = 30
  static let directoryEntryBytes = 46
  static let endBytes = 22
  static let end64Bytes = 56
  static let end64LocatorBytes = 20
  static let mostCommentBytes = 65_535

  /// Flag of an entry whose content is encrypted.
  static let encrypted = 1
  /// Flag of an entry whose sizes follow its data.
  static let hasDataDescriptor = 8
  /// Flag of an archive whose directory is encrypted.
  static let maskedHeader = 1 << 13
  /// The value of a 32-bit field whose number is in the ZIP64 extra field.
  static let in64: UInt32 = .max
  /// The identifier of that field.
  static let extra64 = 1
}

/// The little-endian numbers of one record.
struct ZIPFields {
  let bytes: [UInt8]

  func short(_ offset: Int) -> Int { Int(number(offset, bytes: 2)) }
  func word(_ offset: Int) -> UInt32 { UInt32(truncatingIfNeeded: number(offset, bytes: 4)) }
  /// `Int.max` for numbers that no `Int` holds.
  func long(_ offset: Int) -> Int { Int(clamping: number(offset, bytes: 8)) }

  /// 0 for bytes that are not there.
  private func number(_ offset: Int, bytes count: Int) -> UInt64 {
    guard offset >= 0, offset <= bytes.count - count else { return 0 }
    return (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  /// The 64-bit numbers of the ZIP64 extra field in `range`, in their order; empty without one.
  func extra64(in range: Range<Int>) -> [Int] {
    var offset = range.lowerBound
    while offset <= range.upperBound - 4 {
      let (kind, length) = (short(offset), short(offset + 2))
      let end = offset + 4 + length
      guard end <= range.upperBound else { return [] }
      if kind == ZIPFormat.extra64 {
        return stride(from: offset + 4, through: end - 8, by: 8).map(long)
      }
      offset = end
    }
    return []
  }
}
