import Captures
import Pipeline
import Runner
import Storage
import SystemPackage

/// Finds what a user means in an output folder.
enum OutputFinder {
  /// The captures in an output folder. A folder that is absent or holds no results is 65.
  static func catalog(_ folder: String) throws -> OutputCatalog {
    guard let catalog = OutputCatalog(FilePath(text: folder)) else {
      throw Failure(code: ExitStatus.noCapture, text: "\(folder): no such folder")
    }
    guard !catalog.layouts.isEmpty else {
      throw Failure(
        code: ExitStatus.noCapture,
        text: "\(folder): no results of any capture here (is it what --output named?)")
    }
    return catalog
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
        text: "\(capture): \(finding.captures.count) captures, name one of them (\(some) …)")
    }
    if let named = layouts.first(where: { $0.name == capture })
      ?? layouts.first(where: { CaptureMemo(of: $0)?.id == capture })
    {
      return named
    }
    throw Failure(
      code: ExitStatus.noCapture,
      text: "'\(capture)' is no capture, and \(output) holds no results of one with this id"
        + NearestName.suggestion(capture, among: layouts.map(\.name)))
  }
}
