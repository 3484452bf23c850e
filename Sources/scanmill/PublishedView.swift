import Captures
import FoundationEssentials
import Engine
import Stages
import Core
import SystemPackage

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
    let captures = shown.map(Self.capture)
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
