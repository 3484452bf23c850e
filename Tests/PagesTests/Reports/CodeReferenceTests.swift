@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Pages
import SystemPackage
import TestSupport
import Testing

@Suite("Explanations of codes")
struct CodeReferenceTests {
  @Test("Every code that can be reported has a meaning and a remedy")
  func all() throws {
    let codes = CodeReference.entries.map(\.code)
    let told =
      WarningCode.allCases.map(\.rawValue) + FailureCause.allCases.map(\.rawValue)
      + FailureDetail.Code.allCases.map(\.rawValue) + Reason.allCases.map(\.rawValue)
    #expect(Array(codes.prefix(told.count)) == told)
    #expect(
      CodeReference.entries.dropFirst(told.count).allSatisfy {
        [.state, .leftOut, .word].contains($0.kind)
      })
    #expect(Set(codes).count == codes.count)
    for entry in CodeReference.entries {
      for words in [entry.meaning, entry.data, entry.remedy] {
        #expect(words.hasSuffix("."), "\(entry.code): \(words)")
      }
      #expect(CodeReference[entry.code] == entry)
    }
    #expect(CodeReference["frame-gaps"] == nil)
  }

  @Test("The words that users must know, and the verdicts, are explained")
  func words() throws {
    let words = try Fixtures.projectRoot.appending("docs/words.md").text()
      .matches(of: /\n\| \*\*([a-z ]+)\*\*/).map { String($0.1) }
    #expect(words.count == 12)
    // Words of parameters and documents beyond that page.
    let others = [
      "pick", "even", "sharpest", "motion", "count", "every", "first", "last", "pickAngle",
      "pickDistance", "reason", "reasons", "remedy", "needsPerson", "keep", "port", "night",
      "warningCount", "cpuSeconds", "intermediate", "outcome",
    ]
    for word in words + others + CaptureQuality.Level.allCases.map(\.rawValue) {
      #expect(CodeReference[word] != nil, "\(word)")
    }
  }

  @Test("An entry as text")
  func text() throws {
    let text = try #require(CodeReference["input"]).text
    #expect(text.hasPrefix("input (cause)\n  What the capture's own files hold cannot be used"))
  }
}
