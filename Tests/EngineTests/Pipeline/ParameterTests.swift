@testable import Engine
import Testing

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

  @Test("A value of another kind reads as not set")
  func kinds() {
    let values = ParameterValues(defaultsOf: MakeFrames.parameters)
    #expect(values.number("scale") == 1)
    #expect(values.integer("scale") == nil)
    #expect(values.text("scale") == nil)
    #expect(values.flag("mode") == false)
    #expect(values.list("mode") == [])
    #expect(values.durationNanoseconds("window") == 50_000_000)
    #expect(values.meters("window") == nil)
    #expect(values.lengths("window") == nil)
  }

  @Test("Values print as they could be set, with the unit of plain numbers behind")
  func texts() throws {
    #expect(try Self.description("change").text(of: .length(meters: 0.01)) == "10mm")
    #expect(try Self.description("range").text(of: .lengths(0.3...4)) == "300mm..4m")
    #expect(try Self.description("window").text(of: .duration(nanoseconds: 50_000_000)) == "50ms")
    let side = ParameterDescription("side", .integer(1...9), default: .integer(3), "Side.")
      .measured(in: "px")
    #expect(side.text(of: .integer(3)) == "3 px" && side.unit == "px")
    #expect(side.domain == "a whole number, 1 to 9 px")
    #expect(try side.value(from: "3") == .integer(3), "the unit is shown, not written")
  }
}
