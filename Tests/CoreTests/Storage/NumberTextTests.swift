import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("Numbers and lengths of time as text")
struct NumberTextTests {
  @Test(
    "A number has one decimal below 100 and none above",
    arguments: [
      (0, "0.0"), (0.04, "0.0"), (0.05, "0.1"), (1, "1.0"), (9.96, "10.0"), (52.14, "52.1"),
      (99.94, "99.9"), (99.96, "100"), (100, "100"), (1234.5, "1235"), (-3, "0.0"),
      (1e300, "1000000000000000"), (.infinity, "?"), (.nan, "?"),
    ] as [(Double, String)])
  func short(value: Double, text: String) {
    #expect(NumberText.short(value) == text)
  }

  @Test(
    "A duration is rounded up to whole seconds, then to minutes",
    arguments: [
      (0, "0 s"), (0.1, "1 s"), (31, "31 s"), (59.5, "1 min 00 s"), (125, "2 min 05 s"),
      (3599.2, "1 h 00 min"), (4320, "1 h 12 min"), (90_000, "25 h 00 min"), (-5, "0 s"),
      (1e300, "833 h 20 min"),
    ] as [(Double, String)])
  func duration(seconds: Double, text: String) {
    #expect(DurationText.text(seconds) == text)
  }

  @Test(
    "A measured duration has a decimal below ten seconds; an estimated one has no seconds beside minutes",
    arguments: [
      (0, "0.0 s", "0 s"), (9.94, "9.9 s", "10 s"), (9.96, "10 s", "10 s"),
      (125, "2 min 05 s", "2 min"), (4320, "1 h 12 min", "1 h 12 min"), (-5, "0.0 s", "0 s"),
    ] as [(Double, String, String)])
  func durations(seconds: Double, measured: String, estimated: String) {
    #expect(DurationText.measured(seconds) == measured)
    #expect(DurationText.estimated(seconds) == estimated)
  }

  @Test(
    "Thousands are told apart",
    arguments: [(0, "0"), (999, "999"), (1204, "1,204"), (-1_234_567, "-1,234,567")])
  func grouped(number: Int, text: String) {
    #expect(NumberText.grouped(number) == text)
  }
}

@Suite("Numbers and units of other tools")
struct PlainNumberTests {
  @Test(
    "Plain decimals have no exponent and read back to the same double",
    arguments: [
      (0, "0"), (-0.0, "0"), (12, "12"), (-12.5, "-12.5"), (1e-05, "0.00001"),
      (-1.25e-07, "-0.000000125"), (1e16, "10000000000000000"), (1.5e17, "150000000000000000"),
      (179.99999999999997, "179.99999999999997"), (100, "100"), (0.1, "0.1"),
    ] as [(Double, String)])
  func plain(value: Double, text: String) {
    #expect(value.plainText == text)
    #expect(Double(text) == value)
  }

  @Test("What is no number has no text", arguments: [Double.nan, .infinity, -.infinity])
  func notANumber(value: Double) {
    #expect(value.plainText == nil)
  }

  @Test(
    "TUM's depth is millimeters × 5, none above 13,107",
    arguments: [(0, 0), (1, 5), (13_107, 65_535), (13_108, 0), (65_535, 0)] as [(UInt16, UInt16)])
  func tum(millimeters: UInt16, value: UInt16) {
    #expect(DepthImage.tum(fromMillimeters: [millimeters]) == [value])
  }

  @Test(
    "ROS 1 has seconds of 32 bits without sign",
    arguments: [
      (-1, false), (0, true), (4_294_967_295_999_999_999, true), (4_294_967_296_000_000_000, false),
      (.max, false), (.min, false),
    ] as [(Int64, Bool)])
  func ros1(nanoseconds: Int64, isOne: Bool) {
    #expect(Timestamp(nanoseconds: nanoseconds).isTimeOfROS1 == isOne)
  }
}

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

@Suite("Paths in JSON")
struct CodedPathTests {
  private struct Holder: Codable, Equatable {
    @CodedPath var path: FilePath
    @CodedOptionalPath var other: FilePath? = nil
  }

  @Test(
    "Are their text and come back byte for byte", arguments: ["/a/b c/ü", "x", "/odd/\u{10FFFF}"])
  func roundTrip(text: String) throws {
    let path = FilePath(text: text)
    let holder = Holder(path: path, other: path)
    let data = try JSONEncoder().encode(holder)
    #expect(try JSONDecoder().decode(Holder.self, from: data) == holder)
    #expect(!String(decoding: data, as: UTF8.self).contains("storage"))
  }

  @Test("A path that may be absent may be null, and its key may be missing")
  func absent() throws {
    for json in [#"{"path": "/a"}"#, #"{"path": "/a", "other": null}"#] {
      let holder = try JSONDecoder().decode(Holder.self, from: Data(json.utf8))
      #expect(holder.path == "/a" && holder.other == nil)
    }
  }
}

@Suite struct PathTextTests {
  @Test func `every name comes back from its text, byte by byte`() {
    var random = SeededGenerator(seed: 14)
    var names: [[UInt8]] = (1...255).map { [UInt8($0)] }
    // Scalars that stand for bytes are themselves carried as bytes.
    for scalar in [0x10_FF7F, 0x10_FF80, 0x10_FFFF, 0xE9, 0x5BA2] as [UInt32] {
      names.append(Array(String(Unicode.Scalar(scalar) ?? "?").utf8))
    }
    for _ in 0..<2000 {
      names.append(
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
          [UInt8.random(in: 1...255, using: &random), 0xF4, 0x8F, 0xBE, 0xBF, 0x80, 0x61]
            .randomElement(using: &random) ?? 1
        })
    }
    for name in names {
      let text = PathText.text(of: name)
      #expect(PathText.bytes(of: text) == name)
      #expect(String(decoding: Array(text.utf8), as: UTF8.self) == text)
      #expect(!PathText.shown(text).unicodeScalars.contains { $0.value >= 0x10_FF80 })
    }
    #expect(Set(names.map { Array(PathText.text(of: $0).utf8) }).count == Set(names).count)
  }

  @Test func `paths keep their bytes through text, and show them in hex`() {
    let path = FilePath("/data").appending(name: PathText.text(of: [0x63, 0xE9, 0x2E, 0x74]))
    #expect(FilePath(text: path.text) == path)
    #expect(path.shown == "/data/c%E9.t")
    #expect(path.shownName == "c%E9.t")
    #expect(FilePath("/data/caf\u{E9}").shown == "/data/caf\u{E9}")
  }

  @Test func `folders list, open and remove names of any bytes`() throws {
    let folder = try TemporaryFolder()
    let name = PathText.text(of: [0xFF, 0x62])
    let inner = folder.path.appending(name: name)
    try FileSystem.makeFolder(inner)
    try OutputFile.write([1, 2], to: inner.appending(name: name))
    #expect(try FileSystem.names(in: folder.path) == [name])
    let open = try HeldFolder(reading: folder.path)
    let opened = try #require(open.below(name))
    #expect(opened.stamp(of: name)?.bytes == 2)
    #expect(opened.stampedContents(of: name)?.bytes == [1, 2])
    try FileSystem.remove(inner)
    #expect(try FileSystem.names(in: folder.path).isEmpty)
  }
}

@Suite struct `Texts of others, as they are shown` {
  @Test(
    arguments: [
      ("plain", "plain"), ("客厅 é 😀", "客厅 é 😀"), ("\u{1B}[31mred", "\\u{1B}[31mred"),
      ("a\u{7}b", "a\\u{7}b"), ("\u{9B}31m", "\\u{9B}31m"), ("del\u{7F}", "del\\u{7F}"),
      ("\u{202E}cod.exe", "\\u{202E}cod.exe"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
      ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"), ("\u{0}", "\\u{0}"), ("\r", "\\u{D}"),
    ])
  func `what a terminal would obey is escaped`(_ text: String, _ shown: String) {
    #expect(text.shown == shown)
    #expect(text.onOneLine == shown)
  }

  @Test func `line ends and tabs stay in texts of several lines, and are escaped in a value`() {
    #expect("a\n\tb".shown == "a\n\tb")
    #expect("a\n\tb\r\nc".onOneLine == "a\\u{A}\\u{9}b\\u{D}\\u{A}c")
  }

  @Test func `every scalar of the escaped kinds is escaped, and none other up to U+FFFF`() {
    for value in UInt32(0)...0xFFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl =
        scalar.properties.generalCategory == .control
        || [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        || (scalar.properties.isBidiControl)
      #expect(
        (String(scalar).onOneLine != String(scalar)) == isControl, "U+\(String(value, radix: 16))")
    }
  }

  @Test func `JSON keeps its meaning and loses what a terminal may obey`() {
    #expect("\"a\u{9B}\u{7F}\u{202E}\"\n".shownAsJSON == "\"a\\u009b\\u007f\\u202e\"\n")
  }
}

@Suite("Lists")
struct ListTests {
  @Test("Elements are chosen evenly, first and last included, of one the middle one")
  func evenly() {
    #expect(Array(0..<10).evenly(4) == [0, 3, 6, 9])
    #expect([3, 5].evenly(4) == [3, 5])
    #expect(Array(0..<9).evenly(1) == [4])
    #expect([1].evenly(0).isEmpty && [Int]().evenly(0).isEmpty)
  }
}
