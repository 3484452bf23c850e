import Captures
import Core
import Engine
import SystemPackage

/// Writes the page of the night and those of its captures into an output folder.
///
/// `DIR/index.html` and `DIR/<capture-id>/report.html`; redacted `DIR/redacted/index.html` and
/// `DIR/redacted/<alias>/report.html`. Every page is replaced atomically. A file or folder of
/// others in place of a page is an error.
public struct PageWriter: Sendable {
  /// What was written.
  public struct Written: Sendable {
    /// The page of the night.
    public var page: FilePath
    /// Number of pages of captures that were made, and of those that were up to date.
    var made = 0
    public var upToDate = 0
    /// One line per capture page that could not be made; the page of the night does not link to it.
    var problems: [String] = []

    /// `nil` if all pages are written.
    public var error: Problems? {
      problems.isEmpty ? nil : Problems(page: page, problems: problems)
    }
  }

  /// Capture pages that could not be written; all others were.
  public struct Problems: Error, CustomStringConvertible {
    public var page: FilePath
    var problems: [String]

    public var description: String {
      "\(problems.count == 1 ? "a page" : "\(problems.count) pages") could not be written: "
        + problems.prefix(20).joined(separator: "; ")
        + (problems.count > 20 ? "; and \(problems.count - 20) more" : "")
    }
  }

  let root: FilePath
  let redaction: Redaction?
  let maker: CapturePageMaker?

  static let indexName = "index.html"
  static let captureName = "report.html"
  static let redactedName = "redacted"
  private static let mostLinkedNights = 400

  /// - Parameter families: the families that captures may belong to.
  public init(
    root: FilePath, redaction: Redaction?, families: CaptureRegistry = .builtIn
  ) {
    self.init(root: root, redaction: redaction, maker: .standard(families))
  }

  init(root: FilePath, redaction: Redaction?, maker: CapturePageMaker?) {
    self.root = root
    self.redaction = redaction
    self.maker = maker
    EnclosedPaths.enclose(root, links: .none)
  }

  /// Writes all pages; returns the path of the page of the night. Throws `FileError` if that page
  /// cannot be written, and `Problems` at the end if pages of captures could not be.
  public func write(_ report: NightReport) throws -> FilePath {
    let written = try writeAll(report)
    if let error = written.error { throw error }
    return written.page
  }

  /// Writes all pages for callers that continue after problems: a capture page that cannot be written is only listed.
  ///
  /// Cost: some system calls per up-to-date capture page; the others are made on all cores, one in
  /// memory per core.
  ///
  /// - Parameters:
  ///   - keptNights: how many pages of earlier nights stay beside that of this night; 0: none is written, and
  ///     those that are there stay as they are.
  ///   - makesCapturePages: `false`: pages of captures stay as they are.
  public func writeAll(
    _ report: NightReport, keptNights: Int = 0, makesCapturePages: Bool = true
  ) throws -> Written {
    let output = try HeldFolder.following(root)
    let folder = try redaction == nil ? output : redactedFolder(in: output)
    // Checked before any page is made.
    try folder.checkPage(Self.indexName)
    var shown = redaction?.applied(to: report) ?? report
    var written = Written(page: folder.path.appending(Self.indexName))
    let captures = report.captures
    let aliases = shown.captures.map(\.id)
    let outcomes = try concurrentMap(count: captures.count) { index in
      makesCapturePages
        ? outcome(captures[index], as: aliases[index], in: folder)
        : present(captures[index], aliases[index], in: folder)
    }
    for (index, outcome) in outcomes.enumerated() {
      switch outcome {
      case .made: written.made += 1
      case .upToDate: written.upToDate += 1
      case .none: shown.captures[index].page = nil
      case .problem(let words):
        shown.captures[index].page = nil
        written.problems.append(words)
      }
    }
    var supplies = supplies(report, shown)
    let kept = redaction == nil ? KeptNights(output, report) : nil
    if keptNights > 0, let kept {
      var own = supplies
      (own.isKept, own.keptNights) = (true, kept.earlier(keptNights - 1))
      let page = NightPage(report: shown, supplies: own).document()
      do {
        try kept.write(page, most: keptNights)
      } catch {
        written.problems.append("\("\(error)".onOneLine)")
      }
    }
    supplies.keptNights = kept?.earlier(Self.mostLinkedNights) ?? []
    let page = NightPage(report: shown, supplies: supplies).document()
    try folder.writePage(page, as: Self.indexName)
    return written
  }

  // MARK: Folders

  /// The folder `redacted` if it is new, empty, or contains a page; never the folder of a capture
  /// with that name.
  private func redactedFolder(in output: HeldFolder) throws(FileError) -> HeldFolder {
    if let present = try output.folder(Self.redactedName) {
      let names = try present.names()
      guard names.isEmpty || names.contains(Self.indexName),
        !names.contains(OutputNames.notes)
      else {
        throw FileError.notOurs(
          present.path, "holds something other than redacted pages",
          remedy: "move it away, or report on another output")
      }
      return present
    }
    return try output.makeFolder(Self.redactedName)
  }

  // MARK: Pages of captures

  private enum Outcome {
    case made, upToDate
    /// There is no output of the capture.
    case none
    case problem(String)
  }

  /// The fingerprint of a capture page, which is stored with the capture.
  private struct Stamp: Codable, Hashable {
    var schema = 1
    var key: String
    var file: FileStamp
    static let fileName = "page.json"
  }

  /// The page of a capture as it is.
  private func present(_ capture: CaptureRow, _ alias: String, in folder: HeldFolder) -> Outcome {
    guard capture.page != nil,
      let place = (try? folder.folder(redaction == nil ? capture.id : alias)).flatMap(\.self),
      (try? place.entry(Self.captureName))?.kind == .file
    else { return .none }
    return .upToDate
  }

  private func outcome(_ capture: CaptureRow, as alias: String, in folder: HeldFolder) -> Outcome {
    guard capture.page != nil, let maker else { return .none }
    let layout = OutputLayout(root: root, name: capture.id)
    let mark = DeviceErrors.mark
    // A page is not made of what happened to be readable: it would be up to date from then on.
    func checkRead() throws(FileError) {
      if let failed = DeviceErrors.since(mark, at: layout.folder).first { throw failed }
    }
    do {
      guard FileSystem.isFolder(layout.folder) else {
        try checkRead()
        return .none
      }
      guard let place = try place(capture, alias, in: folder) else { return .none }
      let file = place.path.appending(Self.captureName)
      if redaction != nil {
        let page = try maker.document(capture, layout, redaction)
        try checkRead()
        try place.writePage(page, as: Self.captureName)
        return .made
      }
      let key =
        Markup.policy(style: .common, script: .common) + Markup.generator
        + maker.fingerprint(capture, layout)
      if let stamp = NotesFile.read(Stamp.self, Stamp.fileName, of: layout), stamp.key == key,
        try place.entry(Self.captureName)?.kind == .file, FileStamp(of: file) == stamp.file
      {
        return .upToDate
      }
      let page = try maker.document(capture, layout, nil)
      try checkRead()
      try place.writePage(page, as: Self.captureName)
      note(key, file, layout)
      return .made
    } catch {
      return .problem("\(capture.id.onOneLine): \("\(error)".onOneLine)")
    }
  }

  private func place(_ capture: CaptureRow, _ alias: String, in folder: HeldFolder)
    throws(FileError) -> HeldFolder?
  {
    redaction == nil ? try folder.folder(capture.id) : try folder.makeFolder(alias)
  }

  /// If this fails, the page is only made again the next time.
  private func note(_ key: String, _ file: FilePath, _ layout: OutputLayout) {
    guard let stamp = FileStamp(of: file),
      let bytes = try? JSONText.pretty(Stamp(key: key, file: stamp))
    else { return }
    try? NotesFile.write(bytes, Stamp.fileName, of: layout)
  }

  // MARK: What the page shows beside the report

  private func supplies(_ report: NightReport, _ shown: NightReport) -> PageSupplies {
    let root = root
    let redaction = redaction
    var supplies = PageSupplies(log: { path in
      HeldFolder.lastLines(ofLog: path, below: root).map { lines in
        redaction.map { redaction in lines.map(redaction.text) } ?? lines
      }
    })
    let ids = Dictionary(
      firstOf: zip(report.captures.map(\.id), shown.captures.map(\.id)))
    let found = ThumbnailSource(root: root).thumbnails(
      NightPage.thumbnailOrder(report), byteLimit: NightPage.mostThumbnailBytes)
    for (id, picture) in found { supplies.thumbnails[ids[id] ?? id] = picture }
    return supplies
  }
}

/// Makes the page of a capture.
struct CapturePageMaker {
  var document: @Sendable (CaptureRow, OutputLayout, Redaction?) throws -> [UInt8]
  /// Changes with everything that the page contains.
  var fingerprint: @Sendable (CaptureRow, OutputLayout) -> String
}

extension CapturePageMaker {
  /// - Parameter families: the families that captures may belong to.
  static func standard(_ families: CaptureRegistry) -> CapturePageMaker {
    CapturePageMaker(
      document: { try CapturePage.document($0, layout: $1, redaction: $2, families: families) },
      fingerprint: { CapturePage.fingerprint($0, layout: $1) })
  }
}

/// The pages of nights that stay: `DIR/nights/2026-11-23.html`, the local day on which a night began. That of this
/// night is written with every page, so that it is there when the next night begins.
struct KeptNights {
  static let folderName = "nights"

  private let output: HeldFolder
  private let tonight: String

  /// `nil`: the report does not say when it begins.
  init?(_ output: HeldFolder, _ report: NightReport) {
    guard let from = UTCText.nanoseconds(report.from) else { return nil }
    self.output = output
    tonight = NightClock.night(of: from)
  }

  /// Dates of the nights before this one of which there is a page, the newest first.
  func earlier(_ most: Int) -> [String] {
    guard most > 0, let folder = try? folder() else { return [] }
    return Array(dates(folder).filter { $0 < tonight }.prefix(most))
  }

  /// The newest first. A name that is no date is not ours.
  private func dates(_ folder: HeldFolder) -> [String] {
    ((try? folder.list()) ?? []).compactMap { entry -> String? in
      guard entry.kind == .file, entry.name.hasSuffix(".html") else { return nil }
      let date = String(entry.name.dropLast(5))
      return date.utf8.count == 10 && CalendarDay(date) != nil ? date : nil
    }.sorted(by: >)
  }

  /// `nil`: there is none. Throws where it holds the results of a capture.
  private func folder() throws -> HeldFolder? {
    guard let folder = try output.folder(Self.folderName) else { return nil }
    guard try !folder.names().contains(OutputNames.notes) else {
      throw FileError.notOurs(
        folder.path, "holds something other than pages of nights",
        remedy: "move it away, or keep no nights (--keep-nights 0)")
    }
    return folder
  }

  /// Where a kept page has its link to the next night, once there is one.
  static let nextPlace = Tag.p(.id("next-night")) { Markup.nothing }

  private static let mostBytes = 16 << 20

  /// Lets the page of the night before this one have a link to it. A page that cannot be read or written stays as it
  /// is.
  private func link(in folder: HeldFolder) {
    guard let earlier = dates(folder).first(where: { $0 < tonight }),
      (try? folder.checkPage("\(earlier).html")) != nil,
      let page = (try? folder.contents(of: "\(earlier).html", limit: Self.mostBytes)).flatMap(
        \.self),
      let place = page.firstRange(of: Self.nextPlace.bytes)
    else { return }
    let link = Tag.p(.id("next-night")) {
      Tag.a(.link(.file(["\(tonight).html"]))) { "The next night, \(tonight)" }
    }
    var linked = page
    linked.replaceSubrange(place, with: link.bytes)
    try? folder.writePage(linked, as: "\(earlier).html")
  }

  /// Writes the page of this night, and removes our pages of the oldest ones beyond `most`.
  func write(_ page: [UInt8], most: Int) throws {
    let folder = try folder() ?? output.makeFolder(Self.folderName)
    if try folder.entry("\(tonight).html") == nil { link(in: folder) }
    try folder.writePage(page, as: "\(tonight).html")
    for date in dates(folder).dropFirst(most) {
      // A file that is not one of these pages is not removed.
      guard (try? folder.checkPage("\(date).html")) != nil else { continue }
      try folder.remove("\(date).html")
    }
  }
}

/// Pages in an output folder. A page is replaced atomically, never through a link, and never in place
/// of a file that is not a page.
extension HeldFolder {
  /// Size of the part that is searched for the generator, which is in the first lines of every
  /// page.
  private static let headerBytes = 4 << 10

  /// Throws when the file at `name` is not a page of this program. An empty file is accepted,
  /// because a power cut may leave one.
  func checkPage(_ name: String) throws(FileError) {
    guard let entry = try entry(name) else { return }
    let path = path.appending(name: name)
    guard entry.kind == .file else {
      throw FileError.notOurs(path, "is in the place of a page, and is not a file")
    }
    guard let file = try openFile(name) else { return }
    defer { try? file.close() }
    var head = [UInt8](repeating: 0, count: Self.headerBytes)
    let count: Int
    do {
      count = try head.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }
    } catch {
      throw FileError(error, path: path, operation: "read")
    }
    let text = String(decoding: head[..<count], as: UTF8.self)
    guard count == 0 || text.contains("<meta name=\"generator\" content=\"scanmill ") else {
      throw FileError.notOurs(path, "is a file that scanmill did not write")
    }
  }

  func writePage(_ page: [UInt8], as name: String) throws(FileError) {
    try checkPage(name)
    try replace(name, with: page)
  }
}

extension HeldFolder {
  private static let mostBytesOfLog = 16 << 10

  /// The last lines of the log at `path`, relative to `root`; `nil` if there is no such file below
  /// it. Links are not followed. Cost: one read of 16 KiB.
  static func lastLines(ofLog path: String, below root: FilePath, most: Int = 15) -> [String]? {
    guard PageAddress.below(path) != nil else { return nil }
    var names = path.split(separator: "/").map(String.init)
    let last = names.removeLast()
    guard var folder = try? HeldFolder.following(root) else { return nil }
    for name in names {
      guard let inner = try? folder.folder(name) else { return nil }
      folder = inner
    }
    guard let file = try? folder.openFile(last) else { return nil }
    defer { try? file.close() }
    guard let size = try? file.seek(offset: 0, from: .end) else { return nil }
    let start = max(0, size - Int64(mostBytesOfLog))
    var bytes = [UInt8](repeating: 0, count: mostBytesOfLog)
    guard
      let count = try? bytes.withUnsafeMutableBytes({
        try file.read(fromAbsoluteOffset: start, into: $0)
      })
    else { return nil }
    var lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
    if start > 0, lines.count > 1 { lines.removeFirst() }
    return lines.suffix(most).map { PathText.text(of: Array($0)) }
  }
}
