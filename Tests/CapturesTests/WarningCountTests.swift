@testable import Captures
import Testing

@Suite("How many warnings there are")
struct WarningCountTests {
  @Test("One code at two subjects is one kind; counts are occurrences; notes count nowhere")
  func counts() {
    let warnings = [
      CaptureWarning(.corruptRecord, "depth", count: 3, ""),
      CaptureWarning(.corruptRecord, "color", count: 1, ""),
      CaptureWarning(.emptyRecord, "depth", count: 7, ""),
      CaptureWarning(.unknownKey, "txt", count: 9, ""),
    ]
    #expect(warnings.counted.words == "2 kinds, 11 occurrences")
    #expect(WarningCount([warnings[1]]).sentence == "1 kind of warning, 1 occurrence")
    #expect(WarningCount([warnings[3]]).isNone)
    #expect(WarningCount([CaptureWarning(.emptyRecord, "x", count: .max, "")]).occurrences == .max)
  }
}
