import Foundation
import SystemPackage
import TestSupport
import Testing

/// Which test shows which row of the tables of the page about uploads in `../shared/formats`: the list is complete, and
/// every test in it exists.
@Suite("Every row of the tables about uploads has a test")
struct UploadRowTests {
  struct Row: Sendable {
    /// Section of the page: 2 what the apps send, 4 what the old servers get wrong, 5.1 the answers.
    var section: String
    /// How the row begins on the page; in section 2, which is a list of sentences, a part of one.
    var text: String
    /// Functions of tests.
    var tests: [String]

    init(_ section: String, _ text: String, _ tests: String...) {
      (self.section, self.text, self.tests) = (section, text, tests)
    }
  }

  static let rows: [Row] = [
    Row("2", "a header name WITH AN UNDERSCORE", "aSessionOfTheScanNetApp", "direct"),
    Row("2", "never checked", "unknownFields"),
    Row("2", "accept chunked as well", "chunksAndEmptyFilesAreAccepted"),
    Row("2", "status 200 only", "aSessionOfTheScanNetApp", "connectionsStay"),
    Row(
      "2", "a JSON object with `message`", "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),
    Row("2", "The other files go on when one fails", "fiveAtOnce"),
    Row("2", "never redirect", "connectionsStay"),
    Row("2", "Keep idle connections open for at least 75 s", "idle"),
    Row("2", "every verify, must come within that", "recordedDigest", "readsWhileSyncing"),
    Row("2", "Unknown request headers are ignored", "unknownFields", "withoutOption"),
    Row("2", "never stop reading from a socket that long", "readsWhileSyncing"),
    Row("2", "hangs on an empty one", "chunksAndEmptyFilesAreAccepted"),
    Row("2", "name as it arrives for `a+b.json`", "aVerifyFindsTheNameInEveryEncoding"),
    Row("2", "Try, in this order", "aVerifyPrefersTheNameAsItStands"),
    Row(
      "2", "a path prefix in front of `/upload` is normal",
      "aSessionOfTheMultiScanAppsUnderTheirPrefix"),
    Row("2", "a token can only travel in the path", "withoutATokenThereIsOnlyHealth"),
    Row(
      "2", "`POST /upload` equals `PUT`", "unknownFields",
      "aSessionOfTheMultiScanAppsUnderTheirPrefix"),
    Row(
      "2", "`?process=…` may follow", "unknownFields", "aSessionOfTheMultiScanAppsUnderTheirPrefix"),
    Row("2", "`GET /process/<id>` asks", "aSessionOfTheMultiScanAppsUnderTheirPrefix"),
    Row(
      "2", "Capture id = the name up to its first dot",
      "theIdIsTheNameUpToItsFirstDotLessTheEndingsThatAppsAdd"),

    Row("4", "headers with underscore dropped", "aSessionOfTheScanNetApp", "proxy"),
    Row("4", "a name that exists answers 200", "otherContent"),
    Row("4", "ScanNet ids have a 12-hour clock", "otherContent"),
    Row("4", "one temporary file per name", "twoAtOnce", "twoSendersOfOneNameNeverMix"),
    Row(
      "4", "temporary files of broken uploads stay", "anUploadThatIsCutAnywhereLeavesNothing",
      "aNewStartSweepsDropsAndEnters"),
    Row(
      "4", "`Content-Range` logged", "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),
    Row(
      "4", "empty file, chunked body, missing name", "chunksAndEmptyFilesAreAccepted",
      "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),
    Row("4", "`.rot .acce .mag .grav .atti .txt` refused", "endings"),
    Row(
      "4", "complete = 5 directory entries", "completeByNames",
      "aCaptureIsCompleteByTheNamesOfItsFamily"),
    Row(
      "4", "`+` removed from names", "namesKeepEveryByte", "aVerifyFindsTheNameInEveryEncoding"),
    Row(
      "4", "200 sent before the data is on disk", "readsWhileSyncing",
      "aFailureAtAnyCallLosesNothingAndSendingAgainEndsWell",
      "killedAtAnyMomentItLosesNothingThatItAcknowledged"),
    Row("4", "MD5 computed during verify", "recordedDigest"),
    Row(
      "4", "open listing and download of everything", "withoutATokenThereIsOnlyHealth",
      "thePageEscapesEveryName", "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),

    Row("5.1", "stored, or replaced", "aSessionOfTheScanNetApp", "otherContent"),
    Row("5.1", "same content already there", "untouched"),
    Row(
      "5.1", "name missing, not UTF-8, empty",
      "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing",
      "anUploadThatIsCutAnywhereLeavesNothing"),
    Row("5.1", "token missing or wrong", "withoutATokenThereIsOnlyHealth"),
    Row(
      "5.1", "no length and not chunked", "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),
    Row("5.1", "larger than allowed", "limits"),
    Row(
      "5.1", "unknown extension", "endings", "extensions",
      "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),
    Row(
      "5.1", "request header too large", "everyRefusalIsAJSONObjectWithAMessageAndLeavesNothing"),
    Row(
      "5.1", "stalled or below the minimum rate", "anUploadThatStallsEndsAndLeavesNothing",
      "anUploadThatIsTooSlowEnds"),
    Row(
      "5.1", "too many connections; shutting down", "tooManyConnectionsAreToldSo",
      "anOrderlyEndGivesUploadsTheirGraceAndThenCutsThem"),
    Row("5.1", "quota, reserve or disk", "limits", "quota", "fullDisk"),
  ]

  @Test("The tests of the list exist")
  func tests() throws {
    let folder = Fixtures.projectRoot.appending("Tests/ReceivingTests").string
    var names: Set<Substring> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      // A test, not a helper: the attribute stands in front.
      for match in text.matches(of: /@Test(?s:(?!\bfunc\b).)*func (\w+)\(/) {
        names.insert(match.1)
      }
    }
    for row in Self.rows {
      #expect(!row.tests.isEmpty)
      for test in row.tests { #expect(names.contains(test[...]), "\(row.text): \(test)") }
    }
  }

  /// Sections of the page by their numbers; `nil` for somebody who does not have it.
  private static let page: [String: String]? = Fixtures.root.flatMap { fixtures in
    let file = fixtures.removingLastComponent().appending("formats/uploads.md").string
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
    var sections: [String: String] = [:]
    for part in text.components(separatedBy: "\n#").dropFirst() {
      let title = part.drop { $0 == "#" || $0 == " " }
      let number = title.prefix { $0.isNumber || $0 == "." }
      sections[number.hasSuffix(".") ? String(number.dropLast()) : String(number)] = part
    }
    return sections
  }

  /// The first cells of the rows of a table, without its head.
  private static func cells(_ section: String) -> [String] {
    section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
      .dropFirst().map { $0.dropFirst(2).components(separatedBy: " | ")[0] }
  }

  @Test(
    "The list has the rows of the page, all of them, in their order",
    .enabled(if: page != nil, "the page about uploads beside the fixtures is absent"))
  func complete() throws {
    let page = try #require(Self.page)
    for number in ["4", "5.1"] {
      let cells = Self.cells(try #require(page[number]))
      let rows = Self.rows.filter { $0.section == number }
      #expect(cells.count == rows.count, "\(number)")
      for (cell, row) in zip(cells, rows) { #expect(cell.hasPrefix(row.text), "\(cell)") }
    }
    let section = try #require(page["2"])
    for row in Self.rows where row.section == "2" {
      #expect(section.contains(row.text), "\(row.text)")
    }
  }
}
