import Engine
import Core
import SystemPackage

/// The current state of an output folder that a user named, or of one capture in it.
struct ReadOutput {
  var view: OutputSnapshot
  /// The named capture; `nil` for all.
  var capture: String?

  /// Throws with exit code 65 if the folder is not an output, and with 64 if it abbreviates several
  /// names.
  ///
  /// - Parameters:
  ///   - reader: reads the output.
  ///   - mayBeEmpty: whether an output without captures is accepted.
  init(_ folder: String, _ reader: OutputReader, mayBeEmpty: Bool = false) throws {
    let path = FilePath(text: folder)
    guard let (root, name) = try Self.place(path) else {
      throw CommandFailure(
        code: ExitStatus.noCapture,
        text: "\(folder): no such folder; name the folder that --output named")
    }
    capture = name
    view = try reader.view(of: root, name.map { .capture($0) } ?? .everything)
    if let name { view.rows.removeAll { $0.id != name } }
    guard view.rows.isEmpty, view.runs.isEmpty, view.retired.isEmpty, view.watch == nil, !mayBeEmpty
    else { return }
    throw CommandFailure(
      code: ExitStatus.noCapture,
      text: "\(folder): no results of any capture here (name the folder that --output named)")
  }

  /// Names every `run.json` that cannot be understood, on standard error.
  func tellDamagedRuns() {
    for note in DamagedRun.notes(DamagedRun.all(in: view.root, known: view.runs)) {
      Console.error("note: \(note)")
    }
  }

  /// The output folder with links resolved, and the name of the capture's folder in it, if one was
  /// named.
  private static func place(_ path: FilePath) throws -> (FilePath, String?)? {
    guard try FileSystem.hasFolder(at: path) else {
      // Resolves `OUT/20260618…` to the only folder in OUT whose name begins so.
      guard let name = path.lastComponent?.string else { return nil }
      let around = path.removingLastComponent()
      guard let all = try OutputCatalog(around.isEmpty ? "." : around),
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
  /// A reader with the settings of this program.
  ///
  /// - Parameter comparison: the pipeline to compare with. The catalog is used only if this is each
  ///   capture's own request.
  init(_ comparison: ComparisonArguments) throws {
    let isUsual = comparison.pipeline == nil && comparison.set.isEmpty
    self.init(try comparison.examiner(), signature: isUsual ? Self.programSignature : nil)
  }

  /// Identifies this build and its libraries, because another build may interpret the same files
  /// differently.
  static var programSignature: String {
    let program = Version.program
    let libraries = program.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let file = ProgramPath.ofThisProgram.flatMap { FileStamp(of: $0) }
    let stamp = file.map { "\($0.bytes) \($0.modifiedNanoseconds)" } ?? ""
    return ([program.version, program.commit ?? "", stamp] + libraries).joined(separator: "\n")
  }
}
