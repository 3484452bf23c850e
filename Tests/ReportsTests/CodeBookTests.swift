import Captures
import FoundationEssentials
import Pipeline
import Reports
import Runner
import Testing

@Suite("Codes in words")
struct CodeBookTests {
  @Test("Every code that can be told has a meaning and a remedy")
  func all() throws {
    let codes = CodeBook.entries.map(\.code)
    let told =
      WarningCode.allCases.map(\.rawValue) + FailureCause.allCases.map(\.rawValue)
      + Reason.allCases.map(\.rawValue)
    #expect(Array(codes.prefix(told.count)) == told)
    #expect(
      CodeBook.entries.dropFirst(told.count).allSatisfy {
        $0.kind == .state || $0.kind == .leftOut
      })
    #expect(Set(codes).count == codes.count)
    for entry in CodeBook.entries {
      for words in [entry.meaning, entry.data, entry.remedy] {
        #expect(words.hasSuffix("."), "\(entry.code): \(words)")
      }
      #expect(CodeBook[entry.code] == entry)
    }
    #expect(CodeBook["frame-gaps"] == nil)
  }

  @Test("An entry in words")
  func text() throws {
    let text = try #require(CodeBook["input"]).text
    #expect(text.hasPrefix("input (cause)\n  The capture's own files cannot be read"))
  }
}
