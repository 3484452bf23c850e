import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine

@Suite("Marks of captures")
struct CaptureMarkTests {
  private let folder: TemporaryFolder
  private let capture: FilePath

  init() throws {
    folder = try TemporaryFolder()
    capture = folder.path.appending("capture")
    try FileSystem.makeFolder(capture)
    try write("one")
  }

  private func write(_ text: String) throws {
    try capture.appending("file").write(text)
  }

  private func record(_ kind: MarkRecord.Kind = .ignore, until: String = "changed") -> MarkRecord {
    MarkRecord(
      kind, note: nil, until: until, by: "anna", at: "2026-11-23T20:00:00Z", id: "capture",
      folder: capture.text, stem: nil)
  }

  @Test func `a mark ends with a change of files, and not when they are copied or gone`() throws {
    let record = record()
    #expect(CaptureMark(record).isCurrent)
    try write("two or more")
    #expect(CaptureMark(record).ended == .changed)
    try FileSystem.remove(capture)
    #expect(CaptureMark(record).isCurrent)
  }

  @Test func `results of retired captures are found, removed, and not brought back`() throws {
    let root = folder.path.appending("out")
    let layout = OutputLayout(root: root, name: "capture")
    let output = try CaptureOutput(making: layout)
    _ = try output.notes.writeNew(Array("{}".utf8), as: OutputNames.owner)
    let marking = Marking(ofOutput: root, holder: "test")
    let subject = Marking.Subject(id: "capture", folder: nil, stem: nil)
    #expect(try Removable.retired(in: root).isEmpty)
    _ = try marking.mark([subject]) { _ in record(.retire) }
    let found = try Removable.retired(in: root)
    #expect(found.map(\.capture) == ["capture"] && found.allSatisfy { $0.kind == .retired })
    #expect(found.allSatisfy { FileSystem.exists($0.path) })
    #expect(try Removable.removeRetired(in: root) == found)
    #expect(found.allSatisfy { !FileSystem.exists($0.path) })
    #expect(try Removable.removeRetired(in: root).isEmpty)
    let noted = try #require(MarkBook(ofOutput: root).records.first)
    #expect(noted.mark == .retire && noted.retired == nil)
  }

  /// As `cp -r` leaves it.
  private func restore(_ text: String, seconds: Int) throws {
    try write(text)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000 + Double(seconds))],
      ofItemAtPath: capture.appending("file").string)
  }

  @Test(arguments: MarkRecord.Kind.allCases)
  func `a mark holds for contents, whatever times files have`(_ kind: MarkRecord.Kind) throws {
    let root = folder.path.appending("out")
    let marking = Marking(ofOutput: root, holder: "test")
    _ = try marking.mark([.init(id: "capture", folder: capture.text, stem: nil)]) { _ in
      record(kind)
    }
    func noted() throws -> MarkRecord { try #require(MarkBook(ofOutput: root).records.first) }
    #expect(try noted().contents != nil && noted().likeness == .same)
    // Nothing is read until somebody compares.
    try restore("one", seconds: 1)
    #expect(try noted().likeness == .otherTimes && CaptureMark(noted()).isCurrent)
    #expect(try marking.compare(noted()).likeness == .same)
    #expect(try noted().likeness == .same)
    // Other content of the same size: it ends once it was compared, and is not read again.
    try restore("two", seconds: 2)
    #expect(try CaptureMark(noted()).isCurrent)
    _ = try marking.compare(noted())
    #expect(try CaptureMark(noted()).ended == .changed)
    #expect(try marking.compare(noted()) == noted())
    // The files that were marked are back.
    try restore("one", seconds: 3)
    _ = try marking.compare(noted())
    #expect(try CaptureMark(noted()).isCurrent && noted().likeness == .same)
    // Another size needs no comparison.
    try restore("more", seconds: 3)
    #expect(try CaptureMark(noted()).ended == .changed)
  }

  @Test func `where contents were not noted, times decide as before`() throws {
    let record = record()
    try restore("one", seconds: 1)
    #expect(record.contents == nil && CaptureMark(record).ended == .changed)
  }

  @Test func `a mark with a date ends then, whatever becomes of the files`() throws {
    let record = record(until: "2026-11-24T00:00:00Z")
    let end = try #require(UTCText.nanoseconds("2026-11-24T00:00:00Z"))
    try write("two or more")
    #expect(CaptureMark(record, nowNanoseconds: end - 1).isCurrent)
    #expect(CaptureMark(record, nowNanoseconds: end).ended == .date)
  }

  @Test func `only ignore and retire leave a capture alone`() {
    #expect(!CaptureMark(record(.doneAsIs)).isLeftAlone)
    #expect(CaptureMark(record(.doneAsIs)).isCurrent)
    #expect(CaptureMark(record(.ignore)).isLeftAlone)
    #expect(CaptureMark(record(.retire)).isLeftAlone && CaptureMark(record(.retire)).isRetired)
  }

  @Test func `of two marks of one place the later one counts`() throws {
    let root = folder.path.appending("out")
    let marking = Marking(ofOutput: root, holder: "test")
    let subject = Marking.Subject(id: "capture", folder: capture.text, stem: nil)
    _ = try marking.mark([subject]) { _ in record(.ignore) }
    _ = try marking.mark([subject]) { _ in record(.doneAsIs) }
    let book = MarkBook(ofOutput: root)
    #expect(book.records.map(\.mark) == [.doneAsIs])
    #expect(book.mark(of: nil, at: record().location)?.mark == .doneAsIs)
    var other = record()
    other.stem = "other"
    #expect(book.mark(of: nil, at: other.location) == nil)
    #expect(try marking.undo([subject]).map(\.kind) == [.undone])
    #expect(!FileSystem.exists(root.appending(".scanmill/marks.json")))
  }
}
