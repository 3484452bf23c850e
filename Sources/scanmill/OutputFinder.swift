import Captures
import Engine
import Core
import SystemPackage

/// Resolves paths, IDs and abbreviated names in an output folder.
enum OutputFinder {
  /// The captures in an output folder, or the one capture whose folder name begins with the last
  /// component. An output in which all captures wait or are retired has none. Throws with exit code 65 if the folder
  /// does not exist or is no output, and with 64 if several names match.
  static func catalog(_ folder: String) throws -> OutputCatalog {
    let path = FilePath(text: folder)
    let mark = DeviceErrors.mark
    let found =
      try OutputCatalog(path)
      ?? abbreviated(path).flatMap { try OutputCatalog($0.root.appending($0.id)) }
    // What could not be looked at is not known, which is not the same as nothing.
    if let failed = DeviceErrors.since(mark, at: path).first { throw failed }
    guard let catalog = found else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(folder): no such folder; name the folder that --output named")
    }
    guard catalog.layouts.isEmpty else { return catalog }
    // A folder that this user may not read may be that of a capture.
    for layout in try OutputCatalog.candidates(in: catalog.root) {
      _ = try HeldFolder(reading: layout.folder, followsLast: false)
      // It may be looked into again, after the look above.
      if OutputCatalog.isOutput(layout) {
        throw FileError(.permissionDenied, path: layout.folder, operation: "look at")
      }
    }
    guard catalog.isOutput else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(folder): no results of any capture here (name the folder that --output named)")
    }
    return catalog
  }

  /// Resolves `OUT/20260618…` to OUT and the name of the only folder in it that begins so.
  ///
  /// - Parameter orWaiting: also the only capture that a watcher knows and that has no folder yet.
  static func abbreviated(
    _ folder: FilePath, orWaiting: Bool = false
  ) throws -> (root: FilePath, id: String)? {
    guard let name = folder.lastComponent?.string else { return nil }
    let around = folder.removingLastComponent()
    guard let all = try OutputCatalog(around.isEmpty ? "." : around) else { return nil }
    let waiting = orWaiting ? waiting(in: all.root).map(\.id) : []
    let names = Set(all.layouts.map(\.name)).union(waiting).sorted()
    return try id(name, among: names).map { (all.root, $0) }
  }

  /// The captures that the last look of a watcher tells of.
  static func waiting(in root: FilePath) -> [WatchRecord.Waiting] {
    WatchRecord(ofOutput: root)?.waiting ?? []
  }

  /// The ID that equals `text` or begins with it; `nil` if there is none. Several matches throw
  /// with exit code 64 and the candidates.
  static func id(_ text: String, among ids: [String]) throws -> String? {
    switch IDPrefix.match(text, among: ids) {
    case .one(let id): return id
    case .none: return nil
    case .several(let candidates):
      let most = 20
      var list = candidates.prefix(most).map { "\n  \($0)" }.joined()
      if candidates.count > most { list += "\n  and \(candidates.count - most) more" }
      throw CommandFailure(
        ExitStatus.usage,
        "'\(text)' is the beginning of \(candidates.count) ids:" + list)
    }
  }

  /// The only capture at a path; `nil` if there is none or more than one.
  static func recognition(_ path: String) -> Recognition? {
    let found = CaptureFinder(Toolbox.captures).find(FilePath(text: path)).captures
    return found.count == 1 ? found[0] : nil
  }

  /// The output of a capture that is specified by its folder in `output`, its path or its ID.
  ///
  /// - Parameter isPath: it may be a path; `false`: only the name of a folder in `output`.
  static func layout(
    of capture: String, in output: String, isPath: Bool = true
  ) throws -> OutputLayout {
    let catalog = try OutputCatalog(FilePath(text: output))
    let layouts = catalog?.layouts ?? []
    if let named = layouts.first(where: { $0.name == capture }) { return named }
    let path = FilePath(text: capture)
    let finding =
      isPath
      ? CaptureFinder(Toolbox.captures).find(path)
      : CaptureFinder.Finding(path: path, captures: [])
    if finding.captures.count == 1 {
      let root = catalog?.root ?? FilePath(text: output)
      if let target = Ownership(root: root).resolve(finding.captures).first { return target.layout }
    }
    if finding.captures.count > 1 {
      let some = finding.captures.prefix(5).map(\.id).joined(separator: ", ")
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(capture): holds \(finding.captures.count) captures: name one of them (\(some)\(finding.captures.count > 5 ? " …" : ""))"
      )
    }
    if let named = layouts.first(where: { CaptureCache(of: $0)?.id == capture }) { return named }
    // The beginning of an ID, or of a folder name in the output or beside the captures.
    let root = catalog?.root ?? FilePath(text: output)
    let names = Set(layouts.map(\.name)).union(waiting(in: root).map(\.id)).sorted()
    for text in [capture, FilePath(text: capture).name].compactMap(\.self) {
      if let id = try id(text, among: names) {
        return layouts.first { $0.name == id } ?? OutputLayout(root: root, name: id)
      }
    }
    let isRetired = MarkBook(ofOutput: FilePath(text: output)).records.contains {
      $0.mark == .retire && $0.id == capture
    }
    throw CommandFailure(
      ExitStatus.noCapture,
      isRetired
        ? "'\(capture)' is retired: `scanmill mark undo \(output)/\(capture)` brings its results back"
        : "'\(capture)' is not a capture, and \(output) holds no results of one with this id"
          + NearestName.suggestion(capture, among: layouts.map(\.name)))
  }
}
