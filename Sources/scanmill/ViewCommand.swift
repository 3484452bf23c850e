import ArgumentParser
import Captures
import FoundationEssentials
import Engine
import Core
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
          ViewAnswer(
            file: written.shown, captures: view.captures, frames: view.frames, parts: view.parts,
            notes: view.notes)))
    } else {
      Console.print(written.text)
    }
    for note in view.notes { Console.error("note: \(note)") }
    if view.parts.isEmpty {
      Console.error("error: \(FilePath(text: place).shown): nothing could be shown")
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
        code: ExitStatus.noCapture,
        text:
          "\(path.shown): holds \(finding.captures.count) captures: name one of them (\(some)\(finding.captures.count > 5 ? " …" : ""))"
      )
    }
    // An abbreviated ID in an output.
    if !FileSystem.exists(path), let catalog = try? OutputFinder.catalog(place) {
      return try PublishedView(catalog, path, frames: frames).view(isJPEG: isJPEG)
    }
    throw CommandFailure(
      code: ExitStatus.noCapture, text: finding.declined ?? "\(path.shown): no capture, no output")
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
        throw CommandFailure(code: ExitStatus.usage, text: "--calibration: \(error)")
      }
    }
    let client = try InspectionCommand.client(atOnce: 1)
    let sheet = InspectionRequest.Sheet(
      frames: frames, calibration: calibration, calibrationFolder: calibrationFolder,
      isJPEG: isJPEG)
    let answer: InspectionResponse
    do throws(InspectionFailure) {
      answer = try client.ask(InspectionRequest(recognition, sheet: sheet))
    } catch {
      throw CommandFailure(
        code: error.kind.isOurMistake ? ExitStatus.internalError : ExitStatus.noCapture,
        text: error.description)
    }
    if let error = answer.error {
      throw CommandFailure(code: ExitStatus.noCapture, text: error.description)
    }
    guard let picture = answer.sheet else {
      throw CommandFailure(code: ExitStatus.internalError, text: "nothing was drawn; please report it")
    }
    return View(
      name: OutputLayout.folderName(forID: recognition.id), file: Array(picture.file),
      captures: [PathText.shown(recognition.id)], frames: picture.frames, parts: picture.parts,
      notes: picture.notes)
  }

  /// Draws the sheet of an open capture. Runs in the process that opened it.
  static func draw(_ capture: Capture, _ asked: InspectionRequest.Sheet) throws -> InspectionPicture
  {
    let sheet = SourcePreview.sheet(
      of: capture, calibration: asked.calibration.map { FilePath(text: $0) },
      calibrationFolder: asked.calibrationFolder.map { FilePath(text: $0) }, frames: asked.frames)
    return InspectionPicture(
      file: try sheet.encoded(asJPEG: asked.isJPEG), frames: sheet.frames, parts: sheet.parts,
      notes: sheet.notes)
  }
}

/// The output of `view --json`.
private struct ViewAnswer: Encodable {
  var schema = 1
  var file: String
  var captures: [String]
  var frames: [Int]
  var parts: [String]
  var notes: [String]
}
