import Media

/// A ZIP archive in the making, with everything that writers do and nobody should.
public struct ScratchZIP: Sendable {
  public enum Descriptor: Sendable {
    case none, signed, plain, signed64, plain64
  }

  public struct Entry: Sendable {
    public var name: [UInt8]
    public var content: [UInt8]
    public var method: Int
    public var descriptor = Descriptor.none
    public var flags = 0
    /// What the directory and the local header claim, where it differs from the truth.
    public var claimedContent: Int?
    public var claimedPacked: Int?
    public var claimedOffset: Int?
    public var checksum: UInt32?
    public var localName: [UInt8]?
    /// Whether sizes and offset are in a ZIP64 field.
    public var is64 = false
    /// Bytes of another extra field, in the local header only.
    public var localExtra = 0
    /// Whether the directory names it.
    public var isListed = true

    public init(_ name: String, _ content: [UInt8], isDeflated: Bool = false) {
      self.name = Array(name.utf8)
      self.content = content
      method = isDeflated ? 8 : 0
    }
  }

  public var entries: [Entry]
  public var comment: [UInt8] = []
  /// Whether there are ZIP64 records at the end.
  public var ends64 = false
  /// Whether there is a directory.
  public var hasDirectory = true

  public init(_ entries: [Entry] = []) { self.entries = entries }

  /// Where local headers start, and the bytes.
  public func make() throws -> (offsets: [Int], bytes: [UInt8]) {
    var bytes: [UInt8] = []
    var offsets: [Int] = []
    var directory: [UInt8] = []
    var count = 0
    for entry in entries {
      let packed =
        entry.method == 8
        ? try DeflateEncoder.compress(entry.content, format: .raw) : entry.content
      var sum = CRC32()
      sum.update(entry.content)
      let checksum = entry.checksum ?? sum.value
      let (contentSize, packedSize) = (
        entry.claimedContent ?? entry.content.count, entry.claimedPacked ?? packed.count
      )
      let offset = bytes.count
      offsets.append(offset)
      let hasDescriptor = entry.descriptor != .none
      let flags = entry.flags | (hasDescriptor ? 8 : 0)
      var extra: [UInt8] = []
      if entry.is64, !hasDescriptor {
        extra =
          Self.number(1, 2) + Self.number(16, 2) + Self.number(contentSize, 8)
          + Self.number(packedSize, 8)
      }
      if entry.localExtra > 0 {
        extra +=
          Self.number(0xCAFE, 2) + Self.number(entry.localExtra, 2)
          + [UInt8](repeating: 0x50, count: entry.localExtra)
      }
      func size(_ number: Int) -> [UInt8] {
        hasDescriptor ? Self.number(0, 4) : Self.number(entry.is64 ? 0xFFFF_FFFF : number, 4)
      }
      let name = entry.localName ?? entry.name
      bytes += [0x50, 0x4B, 3, 4] + Self.number(20, 2) + Self.number(flags, 2)
      bytes += Self.number(entry.method, 2) + Self.number(0, 4)
      bytes += Self.number(hasDescriptor ? 0 : Int(checksum), 4)
      bytes += size(packedSize) + size(contentSize)
      bytes += Self.number(name.count, 2) + Self.number(extra.count, 2) + name + extra + packed
      let wide = entry.descriptor == .signed64 || entry.descriptor == .plain64 ? 8 : 4
      if hasDescriptor {
        if entry.descriptor == .signed || entry.descriptor == .signed64 {
          bytes += [0x50, 0x4B, 7, 8]
        }
        bytes +=
          Self.number(Int(checksum), 4) + Self.number(packedSize, wide)
          + Self.number(contentSize, wide)
      }
      guard entry.isListed else { continue }
      count += 1
      let start = entry.claimedOffset ?? offset
      let field: [UInt8] =
        entry.is64
        ? Self.number(1, 2) + Self.number(24, 2) + Self.number(contentSize, 8)
          + Self.number(packedSize, 8) + Self.number(start, 8) : []
      func listed(_ number: Int) -> [UInt8] {
        Self.number(entry.is64 ? 0xFFFF_FFFF : number, 4)
      }
      directory += [0x50, 0x4B, 1, 2] + Self.number(20, 2) + Self.number(20, 2)
      directory += Self.number(flags, 2) + Self.number(entry.method, 2) + Self.number(0, 4)
      directory += Self.number(Int(checksum), 4) + listed(packedSize) + listed(contentSize)
      directory += Self.number(entry.name.count, 2) + Self.number(field.count, 2)
      directory += Self.number(0, 2) + Self.number(0, 2) + Self.number(0, 2) + Self.number(0, 4)
      directory += listed(start) + entry.name + field
    }
    guard hasDirectory else { return (offsets, bytes) }
    let start = bytes.count
    bytes += directory
    if ends64 {
      let record = bytes.count
      bytes += [0x50, 0x4B, 6, 6] + Self.number(44, 8) + Self.number(45, 2) + Self.number(45, 2)
      bytes += Self.number(0, 4) + Self.number(0, 4) + Self.number(count, 8)
      bytes += Self.number(count, 8) + Self.number(directory.count, 8) + Self.number(start, 8)
      bytes += [0x50, 0x4B, 6, 7] + Self.number(0, 4) + Self.number(record, 8) + Self.number(1, 4)
    }
    func end(_ number: Int, _ bytes: Int) -> [UInt8] {
      Self.number(ends64 ? (1 << (8 * bytes)) - 1 : number, bytes)
    }
    bytes += [0x50, 0x4B, 5, 6] + Self.number(0, 2) + Self.number(0, 2) + end(count, 2)
    bytes += end(count, 2) + end(directory.count, 4) + end(start, 4)
    bytes += Self.number(comment.count, 2) + comment
    return (offsets, bytes)
  }

  public static func number(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
