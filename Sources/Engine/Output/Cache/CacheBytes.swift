import Captures
import Core

/// A value that a cache keeps. It names its fields once, for writing and for reading.
package protocol CacheRecord {
  /// The value that is read over.
  static var blank: Self { get }

  /// Writes the fields, or replaces each by what is read.
  mutating func code(_ coder: inout CacheCoder) throws
}

extension CacheRecord {
  package func cacheBytes() throws -> [UInt8] {
    var (coder, value) = (CacheCoder(), self)
    try value.code(&coder)
    return coder.bytes
  }

  package init(cacheBytes: ArraySlice<UInt8>) throws {
    var coder = CacheCoder(reading: cacheBytes)
    self = .blank
    try code(&coder)
    guard coder.isAtEnd else { throw DamagedNote() }
  }
}

/// The notes cannot be what was written.
struct DamagedNote: Error {
}

/// Codes values one after the other: integers as 8 bytes, little-endian, texts and lists with their
/// count in front. Every read is checked.
package struct CacheCoder {
  private(set) var bytes: [UInt8] = []
  private let source: ArraySlice<UInt8>
  private var position: Int
  let isReading: Bool
  /// Objects that are decoded once for many records.
  var pool: ParameterPool?

  init() { self.init([], isReading: false) }

  /// Copies nothing.
  init(reading source: ArraySlice<UInt8>) { self.init(source, isReading: true) }

  private init(_ source: ArraySlice<UInt8>, isReading: Bool) {
    self.source = source
    self.isReading = isReading
    position = source.startIndex
  }

  var isAtEnd: Bool { position == source.endIndex }

  mutating func callAsFunction(_ value: inout some CacheRecord) throws { try value.code(&self) }

  // MARK: Whole files

  /// The bytes with a digest at their end.
  var sealed: [UInt8] { bytes + Digest(of: bytes).hex.utf8 }

  init(sealed: [UInt8]) throws(DamagedNote) {
    let count = sealed.count - 64
    guard count > 0, Digest(of: sealed[..<count]).hex.utf8.elementsEqual(sealed[count...]) else {
      throw DamagedNote()
    }
    self.init(reading: sealed[..<count])
  }

  /// Writes the number of a format, or requires that it stands here.
  mutating func format(_ number: Int64) throws {
    var found = number
    try self(&found)
    guard found == number else { throw DamagedNote() }
  }

  // MARK: Writing

  // Values without JSON are written by functions that do not throw, also for digests.

  mutating func put(_ value: Int64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ value: String) {
    put(Int64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  mutating func put(_ value: some Collection<UInt8>) {
    put(Int64(value.count))
    bytes.append(contentsOf: value)
  }

  mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func put(_ value: String?) {
    put(value != nil)
    if let value { put(value) }
  }

  mutating func put(_ texts: [String]) {
    put(Int64(texts.count))
    for text in texts { put(text) }
  }

  // MARK: Reading

  private mutating func take(_ count: Int) throws(DamagedNote) -> Range<Int> {
    guard count >= 0, count <= source.endIndex - position else { throw DamagedNote() }
    defer { position += count }
    return position..<(position + count)
  }

  fileprivate mutating func integer() throws(DamagedNote) -> Int64 {
    let start = try take(8).lowerBound - source.startIndex
    return source.withUnsafeBytes {
      Int64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: Int64.self))
    }
  }

  /// The number of elements of a list, each of which takes at least a byte.
  fileprivate mutating func count() throws(DamagedNote) -> Int {
    let count = Int(try integer())
    guard count >= 0, count <= source.endIndex - position else { throw DamagedNote() }
    return count
  }

  /// A part without a copy: it keeps all bytes in memory.
  fileprivate mutating func part() throws(DamagedNote) -> ArraySlice<UInt8> {
    source[try take(Int(integer()))]
  }

  fileprivate mutating func flag(_ value: Bool) throws(DamagedNote) -> Bool {
    if isReading { return source[try take(1).lowerBound] != 0 }
    put(value)
    return value
  }

  // MARK: Cases and JSON

  mutating func raw<Value: RawRepresentable<String>>(_ value: inout Value) throws {
    guard isReading else { return put(value.rawValue) }
    guard let read = Value(rawValue: try String(reading: &self)) else { throw DamagedNote() }
    value = read
  }

  mutating func raw<Value: RawRepresentable<String>>(_ value: inout Value?) throws {
    var text = value?.rawValue
    try self(&text)
    if isReading { value = text.flatMap(Value.init) }
  }

  /// Codes as JSON what is mostly `empty`, which takes no bytes of it.
  ///
  /// - Parameter isShared: whether many records have the same value.
  mutating func json<Value: Codable & Equatable & Sendable>(
    _ value: inout Value, empty: Value, isShared: Bool = false
  ) throws {
    guard isReading else {
      return put(value == empty ? [] : try JSONText.canonical(value))
    }
    let text = Array(try part())
    value =
      if text.isEmpty {
        empty
      } else if isShared, let pool {
        try pool.value(text)
      } else {
        try Value(json: text)
      }
  }
}

extension Int64: CacheRecord {
  package static var blank: Int64 { 0 }

  package mutating func code(_ coder: inout CacheCoder) throws {
    if coder.isReading { self = try coder.integer() } else { coder.put(self) }
  }
}

extension UInt64: CacheRecord {
  package static var blank: UInt64 { 0 }

  package mutating func code(_ coder: inout CacheCoder) throws {
    var bits = Int64(bitPattern: self)
    try coder(&bits)
    self = UInt64(bitPattern: bits)
  }
}

extension Int: CacheRecord {
  package static var blank: Int { 0 }

  package mutating func code(_ coder: inout CacheCoder) throws {
    if coder.isReading { self = Int(try coder.integer()) } else { coder.put(Int64(self)) }
  }
}

extension Double: CacheRecord {
  package static var blank: Double { 0 }

  package mutating func code(_ coder: inout CacheCoder) throws {
    var bits = bitPattern
    try coder(&bits)
    self = Double(bitPattern: bits)
  }
}

extension Bool: CacheRecord {
  package static var blank: Bool { false }

  package mutating func code(_ coder: inout CacheCoder) throws { self = try coder.flag(self) }
}

extension String: CacheRecord {
  package static var blank: String { "" }

  package mutating func code(_ coder: inout CacheCoder) throws {
    if coder.isReading { self = try String(reading: &coder) } else { coder.put(self) }
  }

  fileprivate init(reading coder: inout CacheCoder) throws(DamagedNote) {
    self = try coder.part().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}

extension Digest: CacheRecord {
  package static var blank: Digest { Digest() }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&first)
    try coder(&second)
    try coder(&third)
    try coder(&fourth)
  }
}

extension FileStamp: CacheRecord {
  package static var blank: FileStamp {
    FileStamp(bytes: 0, modifiedNanoseconds: 0, changedNanoseconds: 0, inode: 0)
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&bytes)
    try coder(&modifiedNanoseconds)
    try coder(&changedNanoseconds)
    try coder(&inode)
  }
}

extension ArraySlice<UInt8>: CacheRecord {
  package static var blank: ArraySlice<UInt8> { [] }

  package mutating func code(_ coder: inout CacheCoder) throws {
    if coder.isReading { self = try coder.part() } else { coder.put(self) }
  }
}

extension Optional: CacheRecord where Wrapped: CacheRecord {
  package static var blank: Wrapped? { nil }

  package mutating func code(_ coder: inout CacheCoder) throws {
    guard try coder.flag(self != nil) else {
      self = nil
      return
    }
    var value: Wrapped = self ?? Wrapped.blank
    try value.code(&coder)
    self = value
  }
}

extension Array: CacheRecord where Element: CacheRecord {
  package static var blank: [Element] { [] }

  package mutating func code(_ coder: inout CacheCoder) throws {
    guard coder.isReading else {
      coder.put(Int64(count))
      for var element in self { try element.code(&coder) }
      return
    }
    let count = try coder.count()
    self = []
    reserveCapacity(count)
    for _ in 0..<count {
      var element = Element.blank
      try element.code(&coder)
      append(element)
    }
  }
}

extension Dictionary: CacheRecord where Key == String, Value: CacheRecord {
  package static var blank: [String: Value] { [:] }

  package mutating func code(_ coder: inout CacheCoder) throws {
    guard coder.isReading else {
      coder.put(Int64(count))
      for (key, var value) in sorted(by: { $0.key < $1.key }) {
        coder.put(key)
        try value.code(&coder)
      }
      return
    }
    let count = try coder.count()
    self = [:]
    reserveCapacity(count)
    for _ in 0..<count {
      let key = try String(reading: &coder)
      var value = Value.blank
      try value.code(&coder)
      self[key] = value
    }
  }
}
