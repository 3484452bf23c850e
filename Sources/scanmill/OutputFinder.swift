import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// Finds what a user means in an output folder.
enum OutputFinder {
  /// The captures in an output folder, or the one that the beginning of its folder's name means. A folder
  /// that is absent or holds no results is 65, a name that begins several 64.
  static func catalog(_ folder: String) throws -> OutputCatalog {
    let path = FilePath(text: folder)
    guard let catalog = try OutputCatalog(path) ?? shortened(path) else {
      throw Failure(
        code: ExitStatus.noCapture,
        text: "\(folder): no such folder; name the folder that --output named")
    }
    guard !catalog.layouts.isEmpty else {
      throw Failure(
        code: ExitStatus.noCapture,
        text: "\(folder): no results of any capture here (name the folder that --output named)")
    }
    return catalog
  }

  /// `OUT/20260618…` for the only folder in OUT that begins so.
  private static func shortened(_ folder: FilePath) throws -> OutputCatalog? {
    guard let name = folder.lastComponent?.string else { return nil }
    let around = folder.removingLastComponent()
    guard let all = OutputCatalog(around.isEmpty ? "." : around),
      let id = try id(name, among: all.layouts.map(\.name))
    else { return nil }
    return OutputCatalog(all.root.appending(id))
  }

  /// The id that a text is or begins; `nil`: none. Several are 64, with the candidates.
  static func id(_ text: String, among ids: [String]) throws -> String? {
    switch IDPrefix.match(text, among: ids) {
    case .one(let id): return id
    case .none: return nil
    case .several(let candidates):
      let most = 20
      var list = candidates.prefix(most).map { "\n  \($0)" }.joined()
      if candidates.count > most { list += "\n  and \(candidates.count - most) more" }
      throw Failure(
        code: ExitStatus.usage,
        text: "'\(text)' is the beginning of \(candidates.count) ids:" + list)
    }
  }

  /// The one capture behind a path; `nil` when there is none, or several.
  static func recognition(_ path: String) -> Recognition? {
    let found = CaptureFinder(Toolbox.captures).find(FilePath(text: path)).captures
    return found.count == 1 ? found[0] : nil
  }

  /// The output of a capture that is named by its path, or by its id or folder in `output`.
  static func layout(of capture: String, in output: String) throws -> OutputLayout {
    let catalog = OutputCatalog(FilePath(text: output))
    let layouts = catalog?.layouts ?? []
    let finding = CaptureFinder(Toolbox.captures).find(FilePath(text: capture))
    if finding.captures.count == 1 {
      let root = catalog?.root ?? FilePath(text: output)
      if let target = Ownership(root: root).resolve(finding.captures).first { return target.layout }
    }
    if finding.captures.count > 1 {
      let some = finding.captures.prefix(5).map(\.id).joined(separator: ", ")
      throw Failure(
        code: ExitStatus.noCapture,
        text: "\(capture): holds \(finding.captures.count) captures: name one of them (\(some) …)")
    }
    if let named = layouts.first(where: { $0.name == capture })
      ?? layouts.first(where: { CaptureCache(of: $0)?.id == capture })
    {
      return named
    }
    // The beginning of an id, or of the name of a folder in the output or beside the captures.
    for text in [capture, FilePath(text: capture).name].compactMap(\.self) {
      if let id = try id(text, among: layouts.map(\.name)),
        let named = layouts.first(where: { $0.name == id })
      {
        return named
      }
    }
    throw Failure(
      code: ExitStatus.noCapture,
      text: "'\(capture)' is not a capture, and \(output) holds no results of one with this id"
        + NearestName.suggestion(capture, among: layouts.map(\.name)))
  }
}
