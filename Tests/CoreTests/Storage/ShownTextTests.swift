@testable import Core
import Testing

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
