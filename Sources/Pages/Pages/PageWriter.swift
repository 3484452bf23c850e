import Core
import Captures
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
    try PageFile.check(Self.indexName, in: folder)
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
    try PageFile.write(page, as: Self.indexName, in: folder)
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
        try PageFile.write(page, as: Self.captureName, in: place)
        return .made
      }
      let key =
        PagePolicy.text(style: .common, script: .common) + Markup.generator
        + maker.fingerprint(capture, layout)
      if let stamp = NotesFile.read(Stamp.self, Stamp.fileName, of: layout), stamp.key == key,
        try place.entry(Self.captureName)?.kind == .file, FileStamp(of: file) == stamp.file
      {
        return .upToDate
      }
      let page = try maker.document(capture, layout, nil)
      try checkRead()
      try PageFile.write(page, as: Self.captureName, in: place)
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
      LogEnd.lines(path, below: root).map { lines in
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
