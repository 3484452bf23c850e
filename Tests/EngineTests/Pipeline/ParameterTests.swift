import Core
import FoundationEssentials
import SystemPackage
import Testing

@testable import Engine

@Suite("Parameters")
struct ParameterTests {
  static func description(_ name: String) throws -> ParameterDescription {
    try #require(MakeFrames.parameters.first { $0.name == name })
  }

  @Test(
    "Every kind reads its own texts",
    arguments: [
      ("shifts", "true", .flag(true)), ("shifts", "No", .flag(false)),
      ("shifts", "on", .flag(true)),
      ("minimum", "0", .integer(0)), ("minimum", "255", .integer(255)),
      ("scale", "1.25", .number(1.25)), ("scale", "10", .number(10)),
      ("window", "1m", .duration(nanoseconds: 60_000_000_000)),
      ("change", "10mm", .length(meters: 0.01)), ("range", "1..2m", .lengths(1...2)),
      ("mode", "slow", .text("slow")), ("note", "", .text("")), ("note", "a=b.c", .text("a=b.c")),
      ("table", "a.txt", .text("a.txt")), ("tables", "there", .text("there")),
      ("arguments", "one two", .list(["one two"])),
    ] as [(String, String, ParameterValue)])
  func value(name: String, text: String, value: ParameterValue) throws {
    #expect(try Self.description(name).value(from: text) == value)
  }

  @Test(
    "A wrong value is told with what is expected",
    arguments: [
      ("shifts", "maybe", "shifts: 'maybe' is not true or false"),
      ("minimum", "256", "minimum: '256' is not a whole number, 0 to 255"),
      ("minimum", "1.0", "minimum: '1.0' is not a whole number, 0 to 255"),
      (
        "minimum", "99999999999999999999",
        "minimum: '99999999999999999999' is not a whole number, 0 to 255"
      ),
      ("scale", "nan", "scale: 'nan' is not a number, 0.0 to 10.0"),
      ("scale", "10.01", "scale: '10.01' is not a number, 0.0 to 10.0"),
      ("window", "50", "window: '50' is not a duration with its unit, such as 50ms, up to 1m"),
      ("window", "2m", "window: '2m' is not a duration with its unit, such as 50ms, up to 1m"),
      (
        "change", "11m",
        "change: '11m' is not a length with its unit, such as 10mm, 0m to 10m"
      ),
      (
        "change", "10",
        "change: '10' is not a length with its unit, such as 10mm, 0m to 10m; write 10mm or 10m"
      ),
      (
        "change", "0",
        "change: '0' is not a length with its unit, such as 10mm, 0m to 10m; write 0mm or 0m"
      ),
      ("range", "2m..1m", "range: '2m..1m' is not two lengths with their units, such as 0.3m..4m"),
      (
        "range", "300..4000",
        "range: '300..4000' is not two lengths with their units, such as 0.3m..4m; write 300mm..4000mm or 300m..4000m"
      ),
      ("mode", "Fast", "mode: 'Fast' is not one of fast, slow, did you mean 'fast'?"),
      ("table", "", "table: '' is not a file"),
      ("tables", "", "tables: '' is not a folder"),
    ])
  func wrong(name: String, text: String, message: String) throws {
    let error = #expect(throws: ParameterError.self) {
      try Self.description(name).value(from: text)
    }
    #expect(error?.description == message)
  }

  @Test("An open end of a range of whole numbers is not printed")
  func openRange() throws {
    #expect(MakeColor.parameters[0].domain == "a whole number from 1")
  }

  @Test("Parameters are recorded in the unit of their kind, unset ones as null")
  func json() throws {
    var values = ParameterValues(defaultsOf: MakeFrames.parameters)
    values["range"] = .lengths(0.3...4)
    values["arguments"] = .list(["a", "b"])
    values["change"] = .length(meters: 0.01)
    let text = String(decoding: try JSONText.canonical(values.json), as: UTF8.self)
    #expect(
      text == """
        {"arguments":["a","b"],"change":0.01,"minimum":null,"mode":"fast","note":null,\
        "range":"0.3m..4.0m","scale":1,"shifts":false,"table":null,"tables":null,"window":"50ms"}
        """)
  }

  @Test("A parameter that was added later is recorded only where it is not at its default")
  func added() {
    let flag = Parameter("masks", .flag, default: false, "").added()
    let text = Parameter<String?>("split", .text, "").added()
    var values = ParameterValues(defaultsOf: ParameterDescription.list(flag, text))
    #expect(values.json.isEmpty)
    values["split"] = .text("every:8")
    values["masks"] = .flag(false)
    #expect(values.json == ["split": .string("every:8")])
  }

  @Test("A key gives the value that is set, in its type")
  func typed() {
    var values = ParameterValues(defaultsOf: MakeFrames.parameters)
    values["range"] = .lengths(0.3...4)
    values["shifts"] = .flag(true)
    values["minimum"] = .integer(7)
    values["scale"] = .number(2)
    values["window"] = .duration(nanoseconds: 5)
    values["change"] = .length(meters: 0.01)
    values["mode"] = .text("slow")
    values["note"] = .text("n")
    values["table"] = .text("a.txt")
    values["arguments"] = .list(["a", "b"])
    #expect(values[MakeFrames.range] == 0.3...4)
    #expect(values[MakeFrames.shifts])
    #expect(values[MakeFrames.minimum] == 7 && values[MakeFrames.scale] == 2)
    #expect(values[MakeFrames.window] == 5 && values[MakeFrames.change] == 0.01)
    #expect(values[MakeFrames.mode] == .slow && values[MakeFrames.note] == "n")
    #expect(values[MakeFrames.table] == "a.txt")
    #expect(values[MakeFrames.arguments] == ["a", "b"])
  }

  @Test(
    "A key gives its default, else nil, where nothing is set: in its stage, in one that has no such parameter, and where a recorded value is of another kind"
  )
  func defaults() {
    var odd = ParameterValues(defaultsOf: MakeFrames.parameters)
    for name in ["range", "minimum", "change", "note", "table", "arguments", "shifts"] {
      odd[name] = .number(1)
    }
    for name in ["scale", "window", "mode"] { odd[name] = .text("other") }
    for values in [
      ParameterValues(defaultsOf: MakeFrames.parameters), ParameterValues(defaultsOf: []), odd,
    ] {
      #expect(values[MakeFrames.range] == nil && values[MakeFrames.minimum] == nil)
      #expect(values[MakeFrames.change] == nil && values[MakeFrames.note] == nil)
      #expect(values[MakeFrames.table] == nil && values[MakeFrames.arguments] == nil)
      #expect(!values[MakeFrames.shifts] && values[MakeFrames.scale] == 1)
      #expect(values[MakeFrames.window] == 50_000_000 && values[MakeFrames.mode] == .fast)
    }
  }

  @Test("A choice besides those of its type, and auto in place of a duration, read as nil")
  func auto() {
    let mode = Parameter<MakeFrames.Mode?>(
      "mode", .choice([.slow], or: "auto"), default: nil, "Way.")
    let unset = Parameter<MakeFrames.Mode??>("unset", .choice(or: "auto"), "Way.")
    let offset = Parameter("offset", .durationOrAuto(-9...9), default: 3, "Time.")
    var values = ParameterValues(defaultsOf: ParameterDescription.list(mode, unset, offset))
    #expect(mode.description.domain == "auto|slow" && mode.description.standard == .text("auto"))
    #expect(unset.description.domain == "auto|fast|slow" && unset.description.standard == nil)
    #expect(values[mode] == nil && values[offset] == 3)
    values["mode"] = .text("slow")
    values["offset"] = .text("auto")
    #expect(values[mode] == .slow && values[offset] == nil)
    #expect(ParameterValues(defaultsOf: [])[offset] == 3)
  }

  @Test("A parameter that follows another stage has its value under a name of both")
  func following() {
    let color = MakeFrames.minimum.following(
      "color", ". \(MakeFrames.minimum.description.sentence)")
    #expect(color.name == "colorMinimum")
    #expect(color.description.sentence == "Set by color.minimum. Confidence.")
    #expect(color.description.answers(to: "minimum", of: "color", isOwn: false))
    var values = ParameterValues(defaultsOf: [color.description])
    values["colorMinimum"] = .integer(3)
    #expect(values[color] == 3 && values[MakeFrames.minimum] == nil)
  }

  @Test("Values print as they could be set, with the unit of plain numbers behind")
  func texts() throws {
    #expect(try Self.description("change").text(of: .length(meters: 0.01)) == "10mm")
    #expect(try Self.description("range").text(of: .lengths(0.3...4)) == "300mm..4m")
    #expect(try Self.description("window").text(of: .duration(nanoseconds: 50_000_000)) == "50ms")
    for (name, value) in [
      ("change", ParameterValue.length(meters: 0.01)), ("change", .length(meters: 2)),
      ("range", .lengths(0.3...4)), ("window", .duration(nanoseconds: 50_000_000)),
    ] {
      // What is read back from a record.
      let back = try [JSONValue](json: JSONText.canonical([value.json]))[0]
      #expect(try Self.description(name).text(ofRecorded: back) == value.text)
    }
    let side = Parameter("side", .integer(1...9), default: 3, "Side.").measured(in: "px")
      .description
    #expect(side.text(of: .integer(3)) == "3 px" && side.unit == "px")
    #expect(side.domain == "a whole number, 1 to 9 px")
    #expect(try side.value(from: "3") == .integer(3), "the unit is shown, not written")
  }
}

@Suite("Parameters from the command line")
struct SettingTests {
  @Test(
    "A setting is STAGE.PARAM=VALUE; stage names may hold dots, values anything",
    arguments: [
      ("depth.range=1..2m", "depth", "range", "1..2m"), ("a.b=", "a", "b", ""),
      ("depth.v2.range=1", "depth.v2", "range", "1"), ("a.b=c=d.e", "a", "b", "c=d.e"),
    ])
  func forms(text: String, stage: String, parameter: String, value: String) throws {
    let setting = try #require(ParameterSetting(text))
    #expect(setting.stage == stage && setting.parameter == parameter && setting.value == value)
  }

  @Test("What is no setting is refused", arguments: ["", "a", "a.b", "a=b", ".b=c", "a.=c", "=.b"])
  func noSetting(text: String) {
    #expect(ParameterSetting(text) == nil)
  }

  static func set(_ texts: String...) throws -> PipelineDefinition {
    try texts.compactMap { ParameterSetting($0) }.reduce(try pipeline(usualPipeline)) {
      try $0.setting($1)
    }
  }

  @Test("A setting goes to the stage, or to the inner step that takes it; the last one wins")
  func applied() throws {
    let definition = try Self.set(
      "color.every=2", "depth.range=1..2m", "color.every=3", "frames.minimum=7")
    #expect(definition["color"]?.parameters[MakeColor.every] == 3)
    #expect(definition["frames"]?.parameters[MakeFrames.range] == 1...2)
    #expect(definition["frames"]?.parameters[MakeFrames.minimum] == 7)
    #expect(definition["depth"]?.parameters[MakeFrames.range] == nil)
  }

  @Test(
    "What the pipeline does not know is named, with the nearest that it knows",
    arguments: [
      ("colour.every=2", "the pipeline has no stage 'colour', did you mean 'color'?"),
      (
        "reconstruction.x=2",
        "the pipeline has no stage 'reconstruction'; stages: color, depth, aligned, tables"
      ),
      (
        "make-tables.x=2",
        "the pipeline has no stage 'make-tables': make-tables is a kind; the stage is called tables"
      ),
      (
        "color.evry=2",
        "stage 'color' has no parameter 'evry', did you mean 'every'?; it has: every, first"
      ),
      (
        "depth.rnge=1",
        "stage 'depth' has no parameter 'rnge', did you mean 'range'?; it has: "
          + "range, shifts, minimum, scale, window, change, mode, note, table, tables, arguments, stream"
      ),
      (
        "aligned.every=2",
        "stage 'aligned' has no parameter 'every', did you mean 'color.every'?; it has none"
      ),
      (
        "reconstruction.every=2",
        "the pipeline has no stage 'reconstruction', did you mean 'color.every'?"
      ),
      (
        "aligned.minimum=2",
        "stage 'aligned' has no parameter 'minimum', did you mean 'depth.minimum'?; it has none"
      ),
      (
        "depth.range=1..2",
        "depth.range: '1..2' is not two lengths with their units, such as 0.3m..4m; write 1mm..2mm or 1m..2m"
      ),
      ("color.every=0", "color.every: '0' is not a whole number from 1"),
      (
        "color.every=",
        "color.every: '' is not a whole number from 1; 'default' takes back what was set"
      ),
      (
        "depth.stream=confidence",
        "depth.stream=confidence: 'depth' would make confidence-images, and 'tables' needs depth-images from it"
      ),
    ])
  func errors(text: String, message: String) {
    let error = #expect(throws: SettingError.self) { try Self.set(text) }
    #expect(error?.description == message)
  }

  @Test(
    "A setting without its stage suggests the parameters that end with it",
    arguments: [
      ("window=20ms", ", did you mean 'depth.window=20ms'?"),
      ("range=1m..2m", ", did you mean 'depth.range=1m..2m'?"),
      ("windw=20ms", ", did you mean 'depth.window=20ms'?"),
      ("every", ", did you mean 'color.every'?"), ("every=2", ", did you mean 'color.every=2'?"),
      ("nothing=2", ""), ("=2", ""), ("", ""), ("color.every", ""),
    ])
  func bare(text: String, suggestion: String) throws {
    #expect(try pipeline(usualPipeline).suggestion(forSetting: text) == suggestion)
  }
}

@Suite("JSON values")
struct JSONValueTests {
  @Test(
    "What is written and read again is equal, whole numbers too",
    arguments: [
      .null, .bool(true), .integer(0), .integer(.max), .integer(.min), .number(1), .number(-3),
      .number(0.1), .number(1e300), .number(1e16), .number(-0.0), .number(.leastNonzeroMagnitude),
      .string(""), .string("a/b\"\n"),
      .array([.integer(1), .number(2), .null]), .object(["b": .number(1), "a": .array([])]),
    ] as [JSONValue])
  func roundTrip(value: JSONValue) throws {
    let bytes = try JSONText.canonical([value])
    let back = try JSONDecoder().decode([JSONValue].self, from: Data(bytes))
    #expect(back == [value])
    #expect(back[0].hashValue == value.hashValue)
  }

  @Test("Different values differ")
  func different() {
    let all: [JSONValue] = [
      .null, .bool(false), .bool(true), .integer(0), .integer(1), .number(0.5), .string("1"),
      .string("null"), .array([]), .array([.null]), .object([:]),
    ]
    for (i, a) in all.enumerated() {
      for (j, b) in all.enumerated() { #expect((a == b) == (i == j)) }
    }
    #expect(JSONValue.integer(.max) != .number(9_223_372_036_854_775_808))
  }

  @Test("Plain text is what a person would write")
  func plainText() {
    let value = JSONValue.object([
      "list": .array([.string("a"), .number(0.5), .null]), "flag": .bool(true), "n": .integer(-3),
    ])
    #expect(value.plainText == "{flag: true, list: [a, 0.5, none], n: -3}")
  }

  @Test(
    "Canonical text has sorted keys, no blanks and plain slashes; pretty text ends with a line end")
  func forms() throws {
    let value: [String: JSONValue] = ["b": .string("x/y"), "a": .integer(1)]
    #expect(String(decoding: try JSONText.canonical(value), as: UTF8.self) == #"{"a":1,"b":"x/y"}"#)
    #expect(
      String(decoding: try JSONText.pretty(value), as: UTF8.self) == """
        {
          "a" : 1,
          "b" : "x/y"
        }

        """)
  }
}
