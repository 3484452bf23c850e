@testable import Core
import Foundation
@testable import Engine
import SystemPackage
import TestSupport
import Testing

@testable import Media
@testable import Pages

@Suite("Writing pages")
struct PageWriterTests {
  private let folder: TemporaryFolder
  private var root: FilePath { folder.path.appending("out") }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(root)
  }

  /// A page of a capture that tells its id; of one whose id ends in `bad` none can be made.
  private static let maker = CapturePageMaker(
    document: { capture, layout, redaction in
      if capture.id.hasSuffix("bad") {
        throw FileError(.ioError, path: layout.folder, operation: "read")
      }
      let name = redaction?.text(capture.id) ?? capture.id
      return Markup.document(
        head: Core.Tag.title { name }, style: .common, script: .common,
        body: Core.Tag.h1 { name })
    }, fingerprint: { capture, _ in "\(capture.state)" })

  private func writer(_ redaction: Redaction? = nil) -> PageWriter {
    PageWriter(root: root, redaction: redaction, maker: Self.maker)
  }

  /// A report of captures that have output folders.
  private func report(_ ids: [String]) throws -> NightReport {
    var report = NightSamples.empty()
    for (index, id) in ids.enumerated() {
      try FileSystem.makeFolder(root.appending(id).appending(".scanmill"))
      var capture = NightSamples.capture(index)
      (capture.id, capture.page) = (id, "\(id)/report.html")
      report.captures.append(capture)
    }
    report.totals = NightTotals(counting: report.captures, unrecognized: 0)
    return report
  }

  private func text(_ path: String) throws -> String {
    try root.appending(path).text()
  }

  @Test("The page of the night leads to a page of every capture; none is made twice")
  func pages() throws {
    var report = try report(["a", "b c", "é"])
    let page = try writer().write(report)
    #expect(page == root.appending("index.html"))
    #expect(try text("index.html").contains("<a href=\"./b%20c/report.html\">"))
    #expect(try text("é/report.html").contains("<h1>é</h1>"))
    let again = try writer().writeAll(report)
    #expect(again.made == 0 && again.upToDate == 3)
    report.captures[0].state = .failed
    try FileSystem.remove(root.appending("b c/report.html"))
    try root.appending("é/.scanmill/page.json").write("x")
    let changed = try writer().writeAll(report)
    #expect(changed.made == 3 && changed.problems.isEmpty)
    // Nothing else is left in the folder.
    #expect(try FileSystem.names(in: root).count == 4)
  }

  @Test("A page that cannot be made costs itself only, and nothing leads to it")
  func problem() throws {
    let report = try report(["good", "bad"])
    let written = try writer().writeAll(report)
    #expect(written.problems.count == 1 && written.problems[0].hasPrefix("bad: "))
    let page = try text("index.html")
    #expect(page.contains("./good/report.html") && !page.contains("./bad/report.html"))
    #expect(throws: PageWriter.Problems.self) { try writer().write(report) }
  }

  @Test("A foreign file in place of a page stays, and is named")
  func foreign() throws {
    let report = try report(["a", "b"])
    let index = root.appending("index.html")
    try index.write("<h1>mine</h1>")
    let refusal = #expect(throws: FileError.self) { try writer().write(report) }
    #expect(refusal?.kind == .notOurs && refusal.map { "\($0)".contains("index.html") } == true)
    #expect(try text("index.html") == "<h1>mine</h1>")
    #expect(!FileSystem.exists(root.appending("a/report.html")))
    try FileSystem.remove(index)
    try index.link(to: root.appending("elsewhere").string)
    #expect(throws: FileError.self) { try writer().write(report) }
    #expect(!FileSystem.exists(root.appending("elsewhere")))
    try FileSystem.remove(index)
    try root.appending("b/report.html").write("mine")
    let written = try writer().writeAll(report)
    #expect(written.problems.count == 1 && written.problems[0].contains("b/report.html"))
    #expect(try text("b/report.html") == "mine")
    // What a power cut leaves is ours.
    try index.write("")
    #expect(try writer().writeAll(report).problems.count == 1)
  }

  @Test("Redacted pages have their own folder, contain no names and do not link elsewhere")
  func redacted() throws {
    let report = try report(["Anna-scan", "b"])
    let redaction = Redaction(
      output: root,
      subjects: report.captures.map {
        .init(
          id: $0.id, family: $0.family, path: $0.path, deviceName: $0.device,
          scene: [$0.scene].compactMap(\.self), user: $0.user)
      })
    let page = try writer(redaction).write(report)
    #expect(page == root.appending("redacted/index.html"))
    let alias = redaction.alias(of: "Anna-scan")
    let text = try text("redacted/index.html")
    #expect(text.contains("./\(alias)/report.html"))
    #expect(FileSystem.exists(root.appending("redacted/\(alias)/report.html")))
    #expect(!text.contains("Anna") && !text.contains("Kitchen") && !text.contains("ipad-0"))
    #expect(!text.contains("href=\"./..") && !FileSystem.exists(root.appending("index.html")))
    _ = try writer(redaction).write(report)
    // A capture of that name is no place for it.
    try FileSystem.makeFolder(root.appending("redacted/.scanmill"))
    #expect(throws: FileError.self) { try writer(redaction).write(report) }
  }

  @Test("Thumbnails are small, kept beside the notes, and made anew when their source changes")
  func thumbnails() throws {
    let report = try report(["a", "b", "c"])
    let thumbnails = ThumbnailSource(root: root)
    #expect(thumbnails.thumbnail(of: "a") == nil)
    func write(_ seed: Int, _ path: String) throws {
      var generator = SeededGenerator(seed: UInt64(seed))
      var picture = ColorImage(width: 300, height: 200)
      for index in picture.rgb.indices {
        picture.rgb[index] = UInt8.random(in: 0...255, using: &generator)
      }
      var writer = PNGWriter(compression: .fast)
      let file = root.appending(path)
      try FileSystem.makeFolder(file.removingLastComponent())
      try file.write(writer.encode(picture))
    }
    try write(1, "a/color/000003.png")
    let first = try #require(thumbnails.thumbnail(of: "a"))
    #expect(first.jpeg.count <= ThumbnailSource.mostBytes && first.width <= 96)
    let kept = root.appending("a/.scanmill/\(ThumbnailSource.cacheName)")
    #expect(FileSystem.exists(kept))
    #expect(thumbnails.thumbnail(of: "a") == first)
    try kept.write("no picture")
    #expect(thumbnails.thumbnail(of: "a") == first)
    try write(2, "a/thumbnail/thumbnail.png")
    #expect(thumbnails.thumbnail(of: "a") != first)
    // A link is not followed.
    try FileSystem.makeFolder(root.appending("b/color"))
    try root.appending("b/color/000000.png").link(to: root.appending("a/color/000003.png").string)
    #expect(thumbnails.thumbnail(of: "b") == nil)
    _ = try writer().write(report)
    #expect(try text("index.html").contains("data:image/jpeg;base64,"))
  }

  @Test("Of a log its last lines, of what is no log nothing")
  func logs() throws {
    try FileSystem.makeFolder(root.appending("runs/r/logs/a"))
    let lines = (0..<5_000).map { "line \($0)" }
    try root.appending("runs/r/logs/a/x.log").write(lines.joined(separator: "\n"))
    #expect(HeldFolder.lastLines(ofLog: "runs/r/logs/a/x.log", below: root) == lines.suffix(15))
    for path in ["../x", "/etc/passwd", "", "runs", "runs/none.log"] {
      #expect(HeldFolder.lastLines(ofLog: path, below: root) == nil)
    }
  }
}
