import Core

/// Puts values one after the other: integers as 8 bytes, little-endian, texts and lists with their
/// count in front.
public struct CacheEncoder {
  public private(set) var bytes: [UInt8] = []

  mutating func put(_ value: Int64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ value: Int) { put(Int64(value)) }
  mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }
  mutating func put(_ value: Double) { put(Int64(bitPattern: value.bitPattern)) }
  mutating func put(_ value: Digest) { put(value.hex) }

  mutating func put(_ value: String) {
    put(value.utf8.count)
    bytes.append(contentsOf: value.utf8)
  }

  mutating func put(_ value: some Collection<UInt8>) {
    put(value.count)
    bytes.append(contentsOf: value)
  }

  mutating func put(_ value: String?) {
    put(value != nil)
    if let value { put(value) }
  }

  mutating func put(_ stamp: FileStamp) {
    put(stamp.bytes)
    put(stamp.modifiedNanoseconds)
    put(stamp.changedNanoseconds)
    put(Int64(bitPattern: stamp.inode))
  }

  public mutating func list<Element>(
    _ values: some Collection<Element>, _ body: (inout CacheEncoder, Element) throws -> Void
  ) rethrows {
    put(values.count)
    for value in values { try body(&self, value) }
  }
}

/// The notes cannot be what was written.
public struct DamagedNote: Error {
}

/// Takes values in the order in which they were put; every read is checked.
public struct CacheDecoder {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private let end: Int

  init(_ bytes: [UInt8], in range: Range<Int>) {
    self.init(bytes[range.clamped(to: bytes.indices)])
  }

  /// Copies nothing.
  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
    end = bytes.endIndex
  }

  var isAtEnd: Bool { position == end }

  private mutating func take(_ count: Int) throws(DamagedNote) -> Range<Int> {
    guard count >= 0, count <= end - position else { throw DamagedNote() }
    defer { position += count }
    return position..<(position + count)
  }

  public mutating func integer() throws(DamagedNote) -> Int64 {
    let range = try take(8)
    let start = range.lowerBound - bytes.startIndex
    return bytes.withUnsafeBytes {
      Int64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: Int64.self))
    }
  }

  mutating func int() throws(DamagedNote) -> Int { Int(try integer()) }
  mutating func bool() throws(DamagedNote) -> Bool { bytes[try take(1).lowerBound] != 0 }

  mutating func double() throws(DamagedNote) -> Double {
    Double(bitPattern: UInt64(bitPattern: try integer()))
  }

  public mutating func text() throws(DamagedNote) -> String {
    let range = try take(int())
    let start = range.lowerBound - bytes.startIndex
    return bytes.withUnsafeBytes {
      String(
        decoding: UnsafeRawBufferPointer(rebasing: $0[start..<start + range.count]), as: UTF8.self)
    }
  }

  public mutating func raw() throws(DamagedNote) -> [UInt8] { Array(try part()) }
  /// A part without a copy: it keeps all bytes in memory.
  public mutating func part() throws(DamagedNote) -> ArraySlice<UInt8> { bytes[try take(int())] }
  mutating func optionalText() throws(DamagedNote) -> String? {
    try bool() ? try text() : nil
  }
  public mutating func digest() throws(DamagedNote) -> Digest { Digest(hex: try text()) }

  mutating func stamp() throws(DamagedNote) -> FileStamp {
    FileStamp(
      bytes: try integer(), modifiedNanoseconds: try integer(), changedNanoseconds: try integer(),
      inode: UInt64(bitPattern: try integer()))
  }

  public mutating func list<Element>(
    _ body: (inout CacheDecoder) throws -> Element
  ) throws -> [Element] {
    let count = try int()
    // Every element takes at least a byte.
    guard count >= 0, count <= end - position else { throw DamagedNote() }
    var values: [Element] = []
    values.reserveCapacity(count)
    for _ in 0..<count { values.append(try body(&self)) }
    return values
  }
}
