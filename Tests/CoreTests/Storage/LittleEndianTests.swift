@testable import Core
import Testing

@Suite("Numbers in bytes")
struct LittleEndianTests {
  static let bytes: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xFF, 0x80]

  static func read<Value>(_ body: (RawSpan) -> Value) -> Value {
    bytes.withUnsafeBytes { body(RawSpan(_unsafeBytes: $0)) }
  }

  @Test("Values are read at any offset, aligned or not")
  func values() {
    #expect(Self.read { $0.littleEndian(UInt8.self, at: 9) } == 0x80)
    #expect(Self.read { $0.littleEndian(Int8.self, at: 8) } == -1)
    #expect(Self.read { $0.littleEndian(UInt16.self, at: 1) } == 0x0302)
    #expect(Self.read { $0.bigEndian(UInt16.self, at: 1) } == 0x0203)
    #expect(Self.read { $0.littleEndian(Int16.self, at: 8) } == -32513)
    #expect(Self.read { $0.littleEndian(UInt32.self, at: 3) } == 0x0706_0504)
    #expect(Self.read { $0.bigEndian(UInt64.self, at: 0) } == 0x0102_0304_0506_0708)
    #expect(Self.read { $0.littleEndianFloat(at: 4) } == Float(bitPattern: 0x0807_0605))
    #expect(Self.read { $0.littleEndianDouble(at: 2) } == Double(bitPattern: 0x80FF_0807_0605_0403))
  }

  @Test(
    "What does not fit into the bytes is nil, at both ends and far out",
    arguments: [
      -1, Int.min, 3, 9, 10, 11, Int.max - 3, Int.max,
    ])
  func outside(offset: Int) {
    #expect(Self.read { $0.littleEndian(UInt64.self, at: offset) } == nil)
    #expect(Self.read { $0.bigEndian(UInt64.self, at: offset) } == nil)
    #expect(Self.read { $0.littleEndianDouble(at: offset) } == nil)
  }

  @Test("The last place that fits is read, the next is not")
  func edge() {
    #expect(Self.read { $0.littleEndian(UInt64.self, at: 2) } != nil)
    #expect(Self.read { $0.littleEndian(UInt32.self, at: 6) } != nil)
    #expect(Self.read { $0.littleEndian(UInt32.self, at: 7) } == nil)
    #expect(Self.read { $0.littleEndian(UInt8.self, at: 10) } == nil)
  }

  @Test("No bytes hold nothing")
  func empty() {
    let nothing: [UInt8] = []
    nothing.withUnsafeBytes { bytes in
      #expect(RawSpan(_unsafeBytes: bytes).littleEndian(UInt8.self, at: 0) == nil)
    }
  }
}
