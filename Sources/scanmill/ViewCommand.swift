import ArgumentParser
import Captures
import Core
import Engine
import FoundationEssentials
import Stages
import SystemPackage

struct ViewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view",
    abstract: "One contact sheet for a quick look, without a run.",
    discussion: """
      Of a capture: a few frames read from its own files, with the contours of depth over color, depth in \
      false color, and the motion sensors over time. Of an output folder, or of one capture in it: the \
      same from what is published. Prints where the picture is.
      """)

  @Argument(help: "A capture, an output folder, or the folder of one capture in it.")
  var place: String

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Where the picture goes: a name that ends in .png or .jpg. Default: ID.view.png in the current folder, or in that of temporary files if the current one belongs to a capture.",
      valueName: "file"))
  var output: String?

  @Option(help: "How many frames are shown at most; default: 3 with depth, 6 without.")
  var frames: Int?

  @Option(
    help: ArgumentHelp(
      "Of a capture: look through this calibration file in place of the capture's own values.",
      valueName: "file"))
  var calibration: String?

  @Option(
    help: ArgumentHelp(
      "The same with a folder of calibrations by device.", valueName: "dir"))
  var calibrationFolder: String?

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  @Flag(name: .short, help: "Nothing unless something failed.")
  var quiet = false

  func validate() throws {
    if let frames, !(1...60).contains(frames) { throw ValidationError("--frames is 1 to 60") }
    if let output, ViewTarget.isJPEG(output) == nil {
      throw ValidationError("--output names a file that ends in .png or .jpg, not '\(output)'")
    }
  }

  func run() throws {
    let view = try look()
    let target = try ViewTarget(output, named: view.name, apartFrom: view.apartFrom)
    let written = try target.write(view.file)
    if json {
      Console.print(
        json: try JSONText.pretty(
          [
            "schema": 1, "file": written.shown, "captures": view.captures, "frames": view.frames,
            "parts": view.parts, "notes": view.notes,
          ] as JSONObject))
    } else if !quiet {
      Console.print(written.text)
    }
    for note in view.notes where !quiet { Console.error("note: \(note)".onOneLine) }
    if view.parts.isEmpty {
      Console.error(
        "error: \(FilePath(text: place).shown): nothing could be shown; \(written.shown) says why")
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  /// A contact sheet and its content.
  struct View {
    var name: String
    var file: [UInt8]
    var captures: [String]
    var frames: [Int]
    var parts: [String]
    var notes: [String]
    /// A folder in which the picture must not be placed by default.
    var apartFrom: FilePath?
  }

  private var isJPEG: Bool { output.flatMap(ViewTarget.isJPEG) ?? false }

  private func look() throws -> View {
    let path = FilePath(text: place)
    if let catalog = try OutputCatalog(path), !catalog.layouts.isEmpty {
      return try PublishedView(catalog, path, frames: frames).view(isJPEG: isJPEG)
    }
    let finding = CaptureFinder(Toolbox.captures).find(path)
    if finding.captures.count == 1 { return try view(of: finding.captures[0]) }
    if finding.captures.count > 1 {
      let some = finding.captures.prefix(5).map { PathText.shown($0.id) }.joined(separator: ", ")
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(path.shown): holds \(finding.captures.count) captures: name one of them (\(some)\(finding.captures.count > 5 ? " …" : ""))"
      )
    }
    // An abbreviated ID in an output.
    if !FileSystem.exists(path), let catalog = try? OutputFinder.catalog(place) {
      return try PublishedView(catalog, path, frames: frames).view(isJPEG: isJPEG)
    }
    throw CommandFailure(
      ExitStatus.noCapture, finding.declined ?? "\(path.shown): no capture, no output")
  }

  /// Draws the sheet in another process, so that a damaged file or library affects only the
  /// picture.
  private func view(of recognition: Recognition) throws -> View {
    try Toolbox.checkLibraries()
    // An invalid calibration file is an error, because the sheet would lack its contours.
    if let calibration {
      do throws(CalibrationError) {
        try CalibrationFile.check(FilePath(text: calibration))
      } catch {
        throw CommandFailure(ExitStatus.usage, "--calibration: \(error)")
      }
    }
    let client = try InspectionCommand.client(atOnce: 1)
    let question = InspectionRequest(
      .sheet(frames: frames, isJPEG: isJPEG), of: recognition, calibration: calibration,
      calibrationFolder: calibrationFolder)
    let answer: InspectionResponse
    do throws(InspectionFailure) {
      answer = try client.ask(question)
    } catch {
      throw CommandFailure(
        error.isOurMistake ? ExitStatus.internalError : ExitStatus.noCapture,
        error.description)
    }
    if let error = answer.error {
      throw CommandFailure(ExitStatus.noCapture, error.description)
    }
    guard let picture = answer.sheet else {
      throw CommandFailure(
        ExitStatus.internalError, "nothing was drawn; please report it")
    }
    return View(
      name: OutputLayout.folderName(forID: recognition.id), file: Array(picture.file),
      captures: [PathText.shown(recognition.id)], frames: picture.frames, parts: picture.parts,
      notes: picture.notes)
  }

  /// Draws the sheet of an open capture. Runs in the process that opened it.
  static func draw(_ capture: Capture, _ asked: InspectionRequest) throws -> InspectionPicture {
    guard case .sheet(let frames, let isJPEG) = asked.question else {
      throw InternalError("no sheet is asked for")
    }
    let sheet = SourcePreview.sheet(
      of: capture, calibration: asked.calibration.map { FilePath(text: $0) },
      calibrationFolder: asked.calibrationFolder.map { FilePath(text: $0) }, frames: frames)
    return InspectionPicture(
      file: try sheet.encoded(asJPEG: isJPEG), frames: sheet.frames, parts: sheet.parts,
      notes: sheet.notes)
  }
}

/// A contact sheet of an output folder, or of one capture in it.
struct PublishedView {
  private let catalog: OutputCatalog
  private let path: FilePath
  private let frames: Int?

  init(_ catalog: OutputCatalog, _ path: FilePath, frames: Int?) {
    (self.catalog, self.path, self.frames) = (catalog, path, frames)
  }

  /// Maximum number of captures on one sheet.
  private static let mostCaptures = 40

  func view(isJPEG: Bool) throws -> ViewCommand.View {
    let shown = catalog.layouts.prefix(Self.mostCaptures)
    let mark = DeviceErrors.mark
    let captures = shown.map(Self.capture)
    if let failed = DeviceErrors.since(mark, at: catalog.root).first { throw failed }
    // If one capture is named, the catalog's root is its parent folder.
    let isOne = catalog.resolvedRoot != (PathSafety.resolved(path) ?? path)
    let sheet: DrawnSheet
    let name: String
    if isOne, let capture = captures.first, let layout = shown.first {
      sheet = try OutputPreview.sheet(of: capture, frames: frames)
      name = layout.name
    } else {
      let root = catalog.resolvedRoot
      let count = catalog.layouts.count
      let words = Plural.text(count, "capture")
      let part = count > shown.count ? ", the first \(shown.count) by name" : ""
      sheet = try OutputPreview.overview(
        of: Array(captures), title: "\(root.shownName): \(words)\(part)")
      name = OutputLayout.folderName(forID: root.name ?? "output")
    }
    return ViewCommand.View(
      name: name, file: try sheet.encoded(asJPEG: isJPEG), captures: shown.map(\.name),
      frames: sheet.frames, parts: sheet.parts, notes: sheet.notes,
      apartFrom: catalog.resolvedRoot)
  }

  private static func capture(_ layout: OutputLayout) -> PublishedCapture {
    let document = RecordedDocument(of: layout)
    let cache = CaptureCache(of: layout)
    let id = PathText.shown(cache?.id ?? layout.name)
    var words = [
      [document?.family, document?.generation].compactMap(\.self).joined(separator: " ")
    ]
    for (name, stream) in [
      ("color", document?.streams["color"]), ("depth", document?.streams["depth"]),
    ] {
      guard let stream else { continue }
      let size = [stream.width, stream.height].compactMap { $0.map(String.init) }
      words.append(
        "\(name) \(stream.frames ?? 0)" + (size.count == 2 ? " of \(size[0])x\(size[1])" : ""))
    }
    return PublishedCapture(
      title: [id, words.filter { !$0.isEmpty }.joined(separator: ", ")],
      inputs: inputs(layout), depthWidth: document?.streams["depth"]?.width)
  }

  /// The artifacts for a preview, by role: those with the usual stage name, else the first of the
  /// required kind.
  private static func inputs(_ layout: OutputLayout) -> [String: InputArtifact] {
    let kinds = [
      "color": DecodeColor.name, "aligned": AlignDepth.name, "depth": ExportImages.name,
      "imu": MatchIMU.name, "tables": ExportTables.name,
    ]
    let store = ArtifactStore(layout)
    let names = ((try? HeldFolder(layout.folder)?.list()) ?? [])
      .filter { $0.kind == .folder && !$0.name.hasPrefix(".") }.map(\.name).sorted()
    let published = names.compactMap { store.input($0) }
    var found: [String: InputArtifact] = [:]
    for (part, kind) in kinds {
      let fitting = published.filter { artifact in
        artifact.record.uses == kind
          && (part != "depth" || artifact.record.parameters["stream"] == .string("depth"))
      }
      found[part] = fitting.first { $0.stage == part } ?? fitting.first
    }
    return found
  }
}

/// The place of a contact sheet: never in a capture, and never over a file that `view` did not
/// write.
struct ViewTarget {
  /// Candidate paths in order of preference.
  private let places: [FilePath]
  private let isAsked: Bool

  /// Whether the name has a JPEG extension; `nil` if it is neither PNG nor JPEG.
  static func isJPEG(_ file: String) -> Bool? {
    switch FilePath(text: file).extension?.lowercased() {
    case "png": false
    case "jpg", "jpeg": true
    default: nil
    }
  }

  /// - Parameters:
  ///   - output: the path from the user, if any.
  ///   - name: the beginning of the default name.
  ///   - folder: a folder in which the picture must not be placed by default.
  init(_ output: String?, named name: String, apartFrom folder: FilePath?) throws {
    if let output {
      let file = FilePath(text: output)
      let around = file.removingLastComponent()
      if let capture = OutputOverlap.capture(
        around: around.isEmpty ? "." : around, Toolbox.captures)
      {
        throw CommandFailure(
          ExitStatus.usage,
          "--output \(file.shown) lies in the capture \(capture.shown): nothing is written into "
            + "captures; choose another folder")
      }
      (places, isAsked) = ([file], true)
      return
    }
    let current = try FileSystem.absolute(".")
    let resolved = PathSafety.resolved(current) ?? current
    let mayStay =
      OutputOverlap.capture(around: resolved, Toolbox.captures) == nil
      && !(folder.map { resolved.starts(with: $0) } ?? false)
    let temporary = FilePath(
      text: ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 }
        ?? "/tmp")
    // If a name belongs to a foreign file, a number is added.
    let names = ["\(name).view.png"] + (2...99).map { "\(name).view-\($0).png" }
    places = ((mayStay ? [FilePath("")] : []) + [temporary]).flatMap { folder in
      names.map { folder.appending(name: $0) }
    }
    isAsked = false
  }

  /// Writes the file and returns its path.
  func write(_ file: [UInt8]) throws -> FilePath {
    var last: FileError?
    var skipped: FilePath?
    for place in places {
      let around = place.removingLastComponent()
      if around == skipped { continue }
      guard let name = place.name else { continue }
      do throws(FileError) {
        EnclosedPaths.leaveOpen(around)
        let folder = try HeldFolder.following(around.isEmpty ? "." : around)
        if try isForeign(name, in: folder) {
          last = FileError(
            kind: .notOurs, path: place, operation: "write",
            reason: "exists and was not written by 'scanmill view'",
            remedy: "name another file with --output, or remove it")
          continue
        }
        try folder.replace(name, with: file, durably: false)
        return place
      } catch {
        last = error
        // Other names in this folder would fail too.
        skipped = around
      }
    }
    let text = last?.description ?? "there is no place for the picture"
    throw CommandFailure(
      last.map { FailureClassifier.failure($0, .output).exit } ?? ExitStatus.cannotWrite,
      text)
  }

  /// Whether a file with this name exists that `view` did not write. Links and folders are refused
  /// later.
  private func isForeign(_ name: String, in folder: HeldFolder) throws(FileError) -> Bool {
    guard let present = try folder.entry(name) else { return false }
    guard present.kind == .file else { return true }
    let largest = 1 << 28
    do throws(FileError) {
      return !DrawnSheet.isOurs(try folder.contents(of: name, limit: largest) ?? [])
    } catch {
      return true
    }
  }
}
