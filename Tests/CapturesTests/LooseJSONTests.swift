@testable import Captures
@testable import Core
import FoundationEssentials
import TestSupport
import Testing

@Suite("Members of small JSON objects")
struct JSONMembersTests {
  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  @Test("As many brackets within one another as are allowed are read, one more is not")
  func deepest() {
    let most = InputLimits.depthOfJSON.most
    for (count, isRead) in [(most, true), (most + 1, false), (most + 9, false)] {
      let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
      #expect((LooseJSON.value(Anything.self, in: Array(text.utf8)) != nil) == isRead, "\(count)")
    }
  }

  @Test("Values are read by name, exactly")
  func values() throws {
    let text = """
      {"time": 942355.64631345856, "list": [1, -2.5e3, NaN, -inf, Infinity], "on": true, "off": false,
       "name": "K\\u00fcche", "none": null, "in": {"time": 3, "a": [[], {}]}, "time2": 7, "twice": 1, "twice": 2,
       "text": "942355.64631345856", "texts": ["1.5", 2, "nan"]}
      """
    let members = try #require(LooseJSON(Array(text.utf8)))
    #expect(members.number("time") == "942355.64631345856")
    #expect(
      members.number("time").flatMap { Timestamp(decimalSeconds: $0) }?.nanoseconds
        == 942_355_646_313_459)
    let list = try #require(members.numbers("list"))
    #expect(list[..<2] == [1, -2500] && list[2].isNaN && list[3...] == [-.infinity, .infinity])
    #expect(
      members.flag("on") == true && members.flag("off") == false && members.flag("none") == nil)
    #expect(members.text("name") == "Küche")
    #expect(members.contains("none") && members.number("none") == nil)
    #expect(members.integer("time2") == 7 && members.integer("time") == nil)
    #expect(members.finite("twice") == 2)
    #expect(members.number("text") == members.number("time") && members.number("name") == nil)
    #expect(members.numbers("texts")?.prefix(2) == [1.5, 2])
    #expect(members.numbers("in") == nil && members.numbers("time") == nil)
  }

  @Test(
    "Only one whole object is read",
    arguments: [
      "", " ", "[]", "1", "\"a\"", "{", "{}}", "{]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}",
      "{\"a\":1 \"b\":2}", "{\"a\":1:2}", "{1:2}", "{\"a\":word}", "{\"a\":nanny}", "{\"a\":[1 2]}",
      "{\"a\":[1,]}", "{\"a\":-}", "{\"a\":\"b}", "{} {}",
      "{\"a\":" + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}",
    ])
  func refused(text: String) {
    #expect(LooseJSON(Array(text.utf8)) == nil)
  }

  @Test("Dates are read from names of one form only")
  func dates() {
    #expect(FolderName.recordedAt("2026_01_13_14_47_59") == "2026-01-13T14:47:59")
    for name in [
      "2026_13_13_14_47_59", "2026_01_13_24_47_59", "2026_01_13_14_47", "2026-01-13_14_47_59",
      "2026_1_13_14_47_59", "x2026_01_13_14_47_59", "2026_01_13_14_47_59_", "",
    ] { #expect(FolderName.recordedAt(name) == nil) }
  }
}

@Suite("Tokens of JSON")
struct JSONTokensTests {
  private func tokens(_ text: String) -> [String] {
    Array(text.utf8).withUnsafeBytes { bytes in
      LooseJSON.Tokens(bytes).map { token in
        "\(token.kind) \(String(decoding: bytes[token.range], as: UTF8.self))"
      }
    }
  }

  @Test(
    "Strings with escapes, brackets, numbers and words are told apart",
    arguments: [
      ("", []),
      (" \r\n\t", []),
      (#"{"a": -1.5e3}"#, ["open {", #"string "a""#, "colon :", "word -1.5e3", "close }"]),
      ("[true,NaN]", ["open [", "word true", "comma ,", "word NaN", "close ]"]),
      (#""\"{" 1"#, [#"string "\"{""#, "word 1"]),
      (#""\\"x"#, [#"string "\\""#, "word x"]),
      (#""ä"ö"#, [#"string "ä""#, "word ö"]),
      (#"["a"#, ["open [", #"cutString "a"#]),
      (#"["\"#, ["open [", #"cutString "\"#]),
      (#"["\""#, ["open [", #"cutString "\""#]),
      ("}]", ["close }", "close ]"]),
    ] as [(String, [String])])
  func kinds(text: String, expected: [String]) {
    #expect(tokens(text) == expected)
  }

  @Test("They cover every byte that is no space, once and in order, whatever the text")
  func complete() {
    let text = Array(#"{"a":[1,"\"",{"b":NaN}],x "c":"\\"} ]"#.utf8)
    for length in 0...text.count {
      text[..<length].withUnsafeBytes { bytes in
        var behind = 0
        for token in LooseJSON.Tokens(bytes) {
          #expect(bytes[behind..<token.range.lowerBound].allSatisfy { $0 == UInt8(ascii: " ") })
          #expect(!token.range.isEmpty)
          behind = token.range.upperBound
        }
        #expect(bytes[behind...].allSatisfy { $0 == UInt8(ascii: " ") })
      }
    }
  }
}

@Suite("JSON that breaks off")
struct CutJSONTests {
  private func closed(_ text: String, _ depth: Int = 1) -> String? {
    LooseJSON.closed(Data(text.utf8), entriesAtDepth: depth).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  @Test(
    "Complete entries stay, brackets are closed",
    arguments: [
      (#"{"a":"1","b":"2"#, 1, #"{"a":"1"}"#),
      (#"{"a":"1","b":"2""#, 1, #"{"a":"1","b":"2"}"#),
      (#"{"a":"1","b":"#, 1, #"{"a":"1"}"#),
      (#"{"a":"1","b""#, 1, #"{"a":"1"}"#),
      (#"{"a":1,"b":2"#, 1, #"{"a":1}"#),
      (#"{"a":{"x":[1,2]},"b":{"x":[1,2],"y":3"#, 1, #"{"a":{"x":[1,2]}}"#),
      (#"{"a":"},{","b":"\"","c":"#, 1, #"{"a":"},{","b":"\""}"#),
      (#"{"points":[{"t":1},{"t":2},{"t":"#, 2, #"{"points":[{"t":1},{"t":2}]}"#),
      (#"{"n":1,"points":[{"t":1},{"t":2}],"m":"#, 2, #"{"n":1,"points":[{"t":1},{"t":2}]}"#),
      ("{\"a\":\"1\",\"b\":\"2\u{0}\u{0}\u{0}", 1, #"{"a":"1"}"#),
      ("[1,2,3", 1, "[1,2]"),
    ] as [(String, Int, String)])
  func cut(text: String, depth: Int, expected: String) {
    #expect(closed(text, depth) == expected)
  }

  @Test(
    "Nothing complete, or nothing cut, is nothing to salvage",
    arguments: [
      "", "{", "[", #"{"a"#, #"{"a":"b"#, "x", #"{"a":"1"}"#, "[]", "}", "{]",
    ])
  func nothing(text: String) {
    #expect(closed(text) == nil)
  }

  @Test("Wherever a table is cut, what comes out is JSON that holds only whole entries")
  func everywhere() throws {
    let entries = (0..<6).map { "\"\($0).5\": \"[1.0, \\u0041, \($0)]\"" }
    let text = Array("{\n  \(entries.joined(separator: ",\n  "))\n}".utf8)
    for length in 0..<text.count {
      guard let closed = LooseJSON.closed(Data(text[..<length])) else { continue }
      let table = try JSONDecoder().decode([String: String].self, from: closed)
      #expect(table.allSatisfy { $0.value == "[1.0, A, \($0.key.prefix(1))]" })
    }
  }
}

@Suite("JSON as Python writes it")
struct PythonJSONTests {
  @Test(
    "Bare words become numbers, the same words in a string stay",
    arguments: [
      (#"{"a":[1,NaN,-Infinity, Infinity]}"#, #"{"a":[1,"NaN","-Infinity", "Infinity"]}"#),
      (#"{"NaN":NaN}"#, #"{"NaN":"NaN"}"#),
      (#"["\"NaN",NaN]"#, #"["\"NaN","NaN"]"#),
      (#"[NaN"#, #"["NaN""#),
    ])
  func words(text: String, quoted: String) {
    #expect(LooseJSON.quoted(Data(text.utf8)) == Data(quoted.utf8))
  }

  @Test("A document without them is left alone", arguments: ["", "[1]", #"["NaN"]"#, #"["\"#])
  func none(text: String) {
    #expect(LooseJSON.quoted(Data(text.utf8)) == nil)
  }

  @Test("They are read as what they say")
  func decoded() throws {
    let quoted = try #require(LooseJSON.quoted(Data("[1,NaN,Infinity,-Infinity]".utf8)))
    let numbers = try LooseJSON.pythonDecoder.decode([Double].self, from: quoted)
    #expect(numbers[0] == 1)
    #expect(numbers[1].isNaN)
    #expect(numbers[2...] == [.infinity, -.infinity])
  }

  @Test("Bytes changed anywhere are read or refused, and never trap")
  func changedBytes() {
    let document = Data(
      #"{"frame_0":{"timestamp":1.25e-3,"pose":[[1,-2.5,NaN],[Infinity]],"nä\u00e9":"\"ü"},"b":null}"#
        .utf8)
    typealias Frames = [String: ARKitScannerRelease.Frame?]
    var random = SeededGenerator(seed: 23)
    var read = 0
    let rounds = 20_000
    for _ in 0..<rounds {
      var changed = document
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let offset = Int.random(in: 0..<changed.count, using: &random)
        changed[offset] = UInt8.random(in: 0...255, using: &random)
      }
      let quoted = LooseJSON.quoted(changed) ?? changed
      if (try? LooseJSON.pythonDecoder.decode(Frames.self, from: quoted)) != nil { read += 1 }
    }
    #expect((1..<rounds).contains(read))
  }
}

@Suite("Texts in other encodings")
struct TextBytesTests {
  private static func utf16(_ text: String, bigEndian: Bool, mark: Bool) -> [UInt8] {
    ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit in
      let bytes = [UInt8(unit & 255), UInt8(unit >> 8)]
      return bigEndian ? bytes.reversed() : bytes
    }
  }

  /// Captures, and the endings of their texts.
  private static let texts: [(made: MadeCapture, endings: [String])] = [
    (MadeCapture(family: "arkit-scanner", generation: "g6"), ["trans.json", "offset.json"]),
    (MadeCapture(family: "multiscan", generation: "ios-lidar"), [".json", ".jsonl"]),
    (MadeCapture(family: "vi-slam"), [".csv"]), (MadeCapture(family: "strabo"), [".json"]),
  ]

  @Test(
    "A capture whose texts are UTF-16 is the same capture", arguments: texts, [true, false])
  func captures(_ row: (made: MadeCapture, endings: [String]), mark: Bool) throws {
    let whole = try Capture.found(at: row.made.folder())
    for bigEndian in [true, false] {
      let scratch = try ScratchCapture(copyOf: row.made.folder())
      let names = scratch.names.filter { name in
        name != "capture-info.json" && row.endings.contains { name.hasSuffix($0) }
      }
      #expect(!names.isEmpty)
      for name in names {
        try scratch.write(
          Self.utf16(try scratch.text(of: name), bigEndian: bigEndian, mark: mark), to: name)
      }
      let capture = try scratch.open()
      #expect(capture.frames == whole.frames)
      #expect(capture.poses.value?.rows == whole.poses.value?.rows)
      #expect(capture.imu.value?.samples == whole.imu.value?.samples)
      #expect(capture.geo.value?.description == whole.geo.value?.description)
      #expect(capture.warnings == whole.warnings)
    }
  }

  @Test(
    "UTF-16 becomes UTF-8, with byte order mark or without", arguments: [true, false],
    [
      true, false,
    ])
  func utf16(bigEndian: Bool, mark: Bool) {
    let text = "{\"title\": \"Küche 客厅 🛋\"}\n"
    let bytes = Self.utf16(text, bigEndian: bigEndian, mark: mark)
    #expect(String(decoding: TextBytes.utf8(bytes), as: UTF8.self) == text)
    #expect(String(decoding: TextBytes.utf8(Data(bytes)), as: UTF8.self) == text)
    #expect(String(decoding: TextBytes.utf8(bytes + [7]), as: UTF8.self) == text)
  }

  @Test(
    "UTF-8 stays, its mark goes",
    arguments: [
      ([], []), ([0x7B], [0x7B]), ([0xEF, 0xBB, 0xBF, 0x7B], [0x7B]),
      (Array("a = b\n".utf8), Array("a = b\n".utf8)), ([0xC3, 0xA4, 0x3D], [0xC3, 0xA4, 0x3D]),
      ([0, 0, 0, 0], [0, 0, 0, 0]), ([0x41, 0, 0, 0], [0x41, 0, 0, 0]),
    ] as [([UInt8], [UInt8])])
  func utf8(bytes: [UInt8], expected: [UInt8]) {
    #expect(TextBytes.utf8(bytes) == expected)
    #expect(Array(TextBytes.utf8(Data(bytes))) == expected)
  }
}
