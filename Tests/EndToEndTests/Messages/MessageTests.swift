import TestSupport
import Testing

@Suite("Messages")
struct MessageTests {
  @Test("Every row of the page has a case that produces it, and every case its row")
  func rows() throws {
    let rows = try MessagePage.rows()
    #expect(rows.count >= 40)
    #expect(rows.map(\.shows) == MessageCase.all.map(\.shows))
    for row in rows { #expect(!row.means.isEmpty && !row.remedy.isEmpty, "\(row.shows)") }
    #expect(MessageCase.mistakes.count >= 40)
  }

  @Test(
    "A mistake ends with its exit code and a message that names what to do",
    arguments: MessageCase.all.filter { $0.isPossible() })
  func message(_ message: MessageCase) throws {
    let result = try message.make(MessagePlace())
    #expect(result.status == message.status, "\(result.errors)")
    let shown = result.output + result.errors
    #expect(MessagePage.isShown(message.shows, in: shown), "\(shown)")
    #expect(shown.contains(message.remedy), "\(shown)")
    // Neither an internal word of ours nor a bare word of the system stands in front.
    for word in ["Error:", "Errno", "Fatal", "Optional("] {
      #expect(!shown.contains(word), "\(word): \(shown)")
    }
  }
}
