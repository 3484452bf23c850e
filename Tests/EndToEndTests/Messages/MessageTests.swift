import TestSupport
import Testing

@Suite("Messages", .runsPrograms)
struct MessageTests {
  @Test(
    "A mistake ends with its exit code and a message that names what to do",
    arguments: MessageCase.all.filter { $0.isPossible() })
  func message(_ message: MessageCase) throws {
    let result = try message.make(MessagePlace())
    #expect(result.status == message.status, "\(result.errors)")
    let shown = result.output + result.errors
    #expect(message.isShown(in: shown), "\(shown)")
    #expect(shown.contains(message.remedy), "\(shown)")
    // Neither an internal word of ours nor a bare word of the system stands in front.
    for word in ["Error:", "Errno", "Fatal", "Optional("] {
      #expect(!shown.contains(word), "\(word): \(shown)")
    }
  }
}
