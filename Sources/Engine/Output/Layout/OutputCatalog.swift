import Captures
import Core
import SystemPackage

/// The captures that have results in an output folder.
public struct OutputCatalog: Sendable {
  public let root: FilePath
  /// The captures by name.
  public let layouts: [OutputLayout]

  /// An output folder, or the folder of one capture in it; `nil` when there is no folder at all.
  ///
  /// A folder is a capture's output when it is provably ours (`OutputFolderState`). Symbolic links are not
  /// followed: what they lead to is foreign. Throws when the folder cannot be listed.
  public init?(_ folder: FilePath) throws(FileError) {
    EnclosedPaths.enclose(folder, links: .none)
    guard try FileSystem.hasFolder(at: folder) else { return nil }
    // With its own name: `.` has none.
    let folder = PathSafety.resolved(folder) ?? folder
    if let layout = OutputLayout.candidate(folder), Self.isOutput(layout) {
      root = layout.root
      layouts = [OutputLayout(root: root, name: layout.name)]
      return
    }
    root = folder
    layouts = try Self.candidates(in: folder).filter(Self.isOutput)
  }

  /// For who knows already what lies there.
  public init(root: FilePath, layouts: [OutputLayout]) {
    self.root = root
    self.layouts = layouts
    EnclosedPaths.enclose(root, links: .none)
  }

  /// The folder with its own name and without links: `.` has none.
  public var resolvedRoot: FilePath { PathSafety.resolved(root) ?? root }

  /// Folders of an output that may be those of captures, by name; nothing in them is looked at. None where there is no
  /// such folder; throws when it cannot be listed.
  public static func candidates(in root: FilePath) throws(FileError) -> [OutputLayout] {
    let entries: [(name: String, kind: FileStatus.Kind)]
    do throws(FileError) {
      entries = try HeldFolder(reading: root).list()
    } catch {
      if error.kind == .notFound { return [] }
      throw error
    }
    return
      entries.filter {
        $0.kind == .folder && $0.name != OutputNames.runs && !$0.name.hasPrefix(".")
      }
      .map { OutputLayout(root: root, name: $0.name) }.sorted { $0.name < $1.name }
  }

  /// Whether a folder is provably the output of a capture. Reads a small file.
  public static func isOutput(_ layout: OutputLayout) -> Bool {
    isOutput(OutputFolderState(layout), layout)
  }

  /// Whether a folder whose state is known is an output.
  static func isOutput(_ state: OutputFolderState, _ layout: OutputLayout) -> Bool {
    switch state {
    case .owned, .remembered, .described: true
    case .vacant: FileSystem.isFolder(layout.notes)
    case .absent, .foreign: false
    }
  }
}
