@testable import Media
import FoundationEssentials
import Testing

@Suite("JSON written piece by piece")
struct JSONStreamTests {
  @Test("reads back as what was said, whatever the texts hold")
  func readsBack() throws {
    var json = JSONStream()
    json.beginObject(lines: true)
    json.key("a \"b\" \\ \u{1} / ü")
    json.value("x\n\u{2028}\"")
    json.key("numbers")
    json.value([0.1, -0.0, 1e300, .nan, .infinity] as [Double])
    json.key("rows")
    json.value([1, 2, 3, 4], rowsOf: 2)
    json.key("time")
    json.value(decimal: "258806.638533850")
    json.key("empty")
    json.beginArray(lines: true)
    json.end()
    json.key("list")
    json.beginArray(lines: true)
    json.value(1)
    json.value(true)
    json.null()
    json.end()
    json.end()
    json.endLine()
    let bytes = json.drain { $0 }
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        {
          "a \\"b\\" \\\\ \\u0001 / ü": "x\\n\u{2028}\\"",
          "numbers": [0.1, -0.0, 1e+300, null, null],
          "rows": [[1.0, 2.0], [3.0, 4.0]],
          "time": 258806.638533850,
          "empty": [],
          "list": [
            1,
            true,
            null
          ]
        }

        """)
    struct Document: Decodable {
      var rows: [[Double]]
      var time: Double
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(bytes))
    #expect(document.rows == [[1, 2], [3, 4]])
    #expect(document.time == 258806.63853385)
  }

  @Test("hands out what is ready, and goes on")
  func drained() {
    var json = JSONStream()
    json.beginArray()
    json.value(1)
    var text = json.drain { String(decoding: $0, as: UTF8.self) }
    json.value(2)
    json.end()
    text += json.drain { String(decoding: $0, as: UTF8.self) }
    #expect(text == "[1, 2]")
    #expect(json.pendingByteCount == 0)
  }
}
