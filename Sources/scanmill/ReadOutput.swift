import Catalog
import Output
import Pipeline
import Processes
import Runner
import Storage
import SystemPackage

/// An output folder that a user named, or one capture in it, looked at as it is now.
struct ReadOutput {
  var view: OutputSnapshot
  /// The capture that was named; `nil`: all.
  var capture: String?

  /// Throws 65 for what is no output and 64 for a name that begins several.
  ///
  /// - Parameters:
  ///   - reader: how to look.
  ///   - mayBeEmpty: an output without any captures is one as well.
  init(_ folder: String, _ reader: OutputReader, mayBeEmpty: Bool = false) throws {
    let path = FilePath(text: folder)
    guard let (root, name) = try Self.place(path) else {
      throw Failure(
        code: ExitStatus.noCapture,
        text: "\(folder): no such folder; name the folder that --output named")
    }
    capture = name
    view = try reader.view(of: root, name.map { .capture($0) } ?? .everything)
    if let name { view.rows.removeAll { $0.id != name } }
    guard view.rows.isEmpty, view.runs.isEmpty, view.retired.isEmpty, view.watch == nil, !mayBeEmpty
    else { return }
    throw Failure(
      code: ExitStatus.noCapture,
      text: "\(folder): no results of any capture here (name the folder that --output named)")
  }

  /// The output folder, without links, and the name of the capture's folder in it.
  private static func place(_ path: FilePath) throws -> (FilePath, String?)? {
    guard FileSystem.isFolder(path) else {
      // `OUT/20260618…` for the only folder in OUT that begins so.
      guard let name = path.lastComponent?.string else { return nil }
      let around = path.removingLastComponent()
      guard let all = OutputCatalog(around.isEmpty ? "." : around),
        let id = try OutputFinder.id(name, among: all.layouts.map(\.name))
      else { return nil }
      return (all.root, id)
    }
    let folder = OutputCatalog(root: path, layouts: []).resolvedRoot
    guard let layout = OutputLayout.candidate(folder), !isWholeOutput(folder) else {
      return (folder, nil)
    }
    return OutputCatalog.isOutput(layout) ? (layout.root, layout.name) : (folder, nil)
  }

  private static func isWholeOutput(_ folder: FilePath) -> Bool {
    let signs = [
      OutputNames.runs, OutputNames.tables, "\(OutputNames.notes)/\(OutputNames.watch)",
      "\(OutputNames.notes)/\(OutputNames.watchLock)",
      "\(OutputNames.notes)/\(OutputNames.aliases)",
    ]
    return signs.contains { FileSystem.exists(folder.appending($0)) }
  }
}

extension OutputReader {
  /// As this program reads outputs.
  ///
  /// - Parameter comparison: what results are compared with; where that is not what each capture was asked
  ///   for, the catalog is of no use.
  init(_ comparison: ComparisonArguments) throws {
    let isUsual = comparison.pipeline == nil && comparison.set.isEmpty
    self.init(try comparison.examiner(), signature: isUsual ? Self.programSignature : nil)
  }

  /// Tells this very build, with its libraries, from others: another one may read the same files otherwise.
  static var programSignature: String {
    let program = Version.program
    let libraries = program.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let file = ProgramPath.ofThisProgram.flatMap { FileStamp(of: $0) }
    let stamp = file.map { "\($0.bytes) \($0.modifiedNanoseconds)" } ?? ""
    return ([program.version, program.commit ?? "", stamp] + libraries).joined(separator: "\n")
  }
}
