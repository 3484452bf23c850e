import Captures
import Core
import FoundationEssentials
import SystemPackage

/// The owner of a folder in the output.
enum OutputFolderState {
  case absent
  /// The folder is empty, or holds only notes of ours that tell of no place.
  case vacant
  case owned(OwnerRecord)
  /// The record of the owner is lost, `memo.json` is there: the place is that of the memo.
  case remembered(CaptureCache)
  /// The record of the owner and the memo are lost, as in a copy of an output without `.scanmill`: the place is that of
  /// `capture.json`.
  case described(path: String, id: String)
  /// The folder is not provably ours; why.
  case foreign(String)
  /// It stays unknown whose the folder is: the machine failed, or permission is lacking.
  case unreadable(FileError)

  /// Reads a few small files; writes nothing.
  init(_ layout: OutputLayout) {
    do throws(FileError) {
      self = try Self.look(HeldFolder(reading: layout.folder, followsLast: false))
    } catch {
      self = Self.whyNot(layout.folder, error)
    }
  }

  /// The state of an output that is held open.
  init(_ open: OpenOutput) {
    if let owner = open.note(OutputNames.owner).flatMap(OwnerRecord.init(reading:)) {
      self = .owned(owner)
    } else if let folder = open.folder {
      self.init(of: folder)
    } else {
      self.init(open.layout)
    }
  }

  /// The state of a path that could not be opened as a folder.
  private static func whyNot(_ path: FilePath, _ error: FileError) -> OutputFolderState {
    if error.leavesUnknown { return unread(error) }
    if !FileSystem.exists(path) { return .absent }
    if FileSystem.isLink(path) { return .foreign("is a symbolic link") }
    if !FileSystem.isFolder(path) { return .foreign("is not a folder") }
    return unread(error)
  }

  /// The state of the folder that is held, whatever lies at its path by now.
  init(of folder: HeldFolder) {
    do throws(FileError) {
      self = try Self.look(folder)
    } catch {
      self = Self.unread(error)
    }
  }

  private static func unread(_ error: FileError) -> OutputFolderState {
    error.leavesUnknown ? .unreadable(error) : .foreign("cannot be read: \(error.reason)")
  }

  private static func look(_ folder: HeldFolder) throws(FileError) -> OutputFolderState {
    var notes: HeldFolder?
    // Without permission for the notes, results may still tell whose the folder is.
    var refused: FileError?
    do throws(FileError) {
      notes = try folder.folder(OutputNames.notes)
    } catch {
      if error.isOfMachine { throw error }
      // A link, a file or a device is told of below.
      if error.leavesUnknown { refused = error }
    }
    if let notes {
      if let owner = OwnerRecord.read(in: notes) { return .owned(owner) }
      if let cache = CaptureCache(in: notes) { return .remembered(cache) }
    }
    let entries = try folder.list()
    let names = entries.map(\.name).sorted()
    let own: Set<String> = [
      OutputNames.notes, OutputNames.staging, OutputNames.failed,
    ]
    if names.allSatisfy(own.contains), notes != nil || names.isEmpty {
      do throws(FileError) {
        try CaptureOutput.checkOwnFolders(folder)
        return .vacant
      } catch {
        return .foreign("\(error.path.shownName) \(error.reason)")
      }
    }
    if let document = RecordedDocument(in: folder), let path = document.path, let id = document.id,
      notes != nil || hasArtifact(folder, names)
    {
      return .described(path: path, id: id)
    }
    if entries.contains(where: { $0.name == OutputNames.notes && $0.kind == .link }) {
      return .foreign("\(OutputNames.notes) is a symbolic link")
    }
    if let refused { throw refused }
    let some = names.prefix(3).map(PathText.shown).joined(separator: ", ")
    return .foreign("holds \(some)\(names.count > 3 ? ", …" : "") and no record of this program")
  }

  private static func hasArtifact(_ folder: HeldFolder, _ names: [String]) -> Bool {
    names.contains { name in
      folder.below(name)?.stampedContents(of: OutputNames.record).flatMap {
        ArtifactRecord(reading: $0.bytes)
      }?.stage == name
    }
  }

  /// Whether it was made from this capture where it lies.
  func belongs(to recognition: Recognition) -> Bool {
    switch self {
    case .owned(let owner): return owner.location.isSame(as: recognition)
    case .remembered(let cache):
      return CaptureLocation(FilePath(text: cache.folder), stem: cache.stem).isSame(as: recognition)
    case .described(let path, let id):
      return path == CaptureLocation(resolving: recognition).path.shown
        && id == PathText.shown(recognition.id)
    case .absent, .vacant, .foreign, .unreadable: return false
    }
  }

  /// Whether the place it belongs to is gone and `recognition` is what had been there.
  func hasMoved(to recognition: Recognition) -> Bool {
    switch self {
    case .owned(let owner):
      guard owner.family == recognition.family, owner.location.isGone, let content = owner.content
      else { return false }
      return InputListing.contentKey(of: recognition) == content
    case .remembered(let cache):
      // No key was kept: names, sizes and times of change, which a move within a file system keeps.
      guard cache.family == recognition.family,
        CaptureLocation(FilePath(text: cache.folder), stem: cache.stem).isGone,
        let now = InputListing(recognition, nowNanoseconds: .max)
      else { return false }
      return cache.inputs.looksLike(now)
    case .absent, .vacant, .described, .foreign, .unreadable: return false
    }
  }
}

extension CaptureLocation {
  /// Whether the capture lies there, under whatever path. Cost: nothing where it is the same path.
  fileprivate func isSame(as recognition: Recognition) -> Bool {
    self == CaptureLocation(recognition) || isAlias(of: CaptureLocation(recognition))
  }
}

/// `.scanmill/owner.json`: the place that an output folder was first made from, and belongs to.
package struct OwnerRecord: Hashable, Sendable, Codable {
  package var schema = 1
  /// The capture's name before it became a folder name.
  package var id: String
  package var family: CaptureFamily
  /// The folder as `PathText` carries it.
  package var folder: String
  package var stem: String?
  /// What lay there at the last run, to know it again elsewhere.
  package var content: Digest?
  /// Names that its folder in the output had before the capture was renamed, which runs of then tell of; `nil`: none.
  package var formerNames: [String]?

  init(_ recognition: Recognition, content: Digest? = nil) {
    id = recognition.id
    family = recognition.family
    folder = CaptureLocation(resolving: recognition).path.text
    stem = recognition.stem
    self.content = content
  }

  init(_ cache: CaptureCache) {
    id = cache.id
    family = cache.family
    folder = cache.folder
    stem = cache.stem
  }

  /// What an output folder says; `nil` when it says nothing that can be read.
  package init?(in layout: OutputLayout) {
    guard let notes = layout.openNotes(), let record = Self.read(in: notes)
    else { return nil }
    self = record
  }

  var location: CaptureLocation {
    CaptureLocation(FilePath(text: folder), stem: stem)
  }

  package static func read(in notes: HeldFolder) -> OwnerRecord? {
    notes.stampedContents(of: OutputNames.owner).flatMap { OwnerRecord(reading: $0.bytes) }
  }

  /// `nil` for other bytes than those of a record.
  init?(reading bytes: [UInt8]) {
    guard bytes.count <= 1 << 20,
      let record = try? OwnerRecord(json: bytes),
      record.schema == 1
    else { return nil }
    self = record
  }

  /// Writes it into an output folder that has none. `false` when another process has written one.
  func writeNew(in folder: HeldFolder) throws -> Bool {
    try folder.makeFolder(OutputNames.notes)
      .writeNew(JSONText.pretty(self), as: OutputNames.owner)
  }

  /// Only for the holder of the lock.
  func replace(in notes: HeldFolder) throws {
    try notes.replace(OutputNames.owner, with: JSONText.pretty(self))
  }
}

/// The place that an output folder was made from, as far as it is noted.
public struct RecordedLocation: Hashable, Sendable {
  /// The capture's name before it became a folder name.
  public var id: String
  public var family: CaptureFamily?
  /// The folder as `PathText` carries it.
  public var folder: String
  public var stem: String?

  /// `nil` where nothing is noted. Reads a small file or two.
  public init?(of layout: OutputLayout) { self.init(OutputFolderState(layout)) }

  /// What the state of the folder says.
  init?(_ state: OutputFolderState) {
    switch state {
    case .owned(let owner):
      (id, family, folder, stem) = (owner.id, owner.family, owner.folder, owner.stem)
    case .remembered(let cache):
      (id, family, folder, stem) = (cache.id, cache.family, cache.folder, cache.stem)
    case .described(let path, let name): (id, folder) = (name, path)
    case .absent, .vacant, .foreign, .unreadable: return nil
    }
  }

  /// Whether nothing is there any more. A place that cannot be looked at is not gone.
  var isGone: Bool { CaptureLocation(FilePath(text: folder), stem: stem).isGone }
}

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

  /// Whether it is an output: it has results, or notes of captures that wait or are retired.
  public var isOutput: Bool {
    !layouts.isEmpty || FileSystem.isFolder(root.appending(OutputNames.notes))
  }

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
    case .absent, .foreign, .unreadable: false
    }
  }
}
