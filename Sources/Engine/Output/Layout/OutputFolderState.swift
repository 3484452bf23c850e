import Captures
import FoundationEssentials
import Core
import SystemPackage

/// The owner of a folder in the output.
enum OutputFolderState {
  case absent
  /// The folder is empty, or holds only notes of ours that tell of no place.
  case vacant
  case owned(OwnerRecord)
  /// Made by a version of this program that kept no owner: the place is that of its cache.
  case remembered(CaptureCache)
  /// Made by a version that kept neither: the place is that of its `capture.json`.
  case described(path: String, id: String)
  /// The folder is not provably ours; why.
  case foreign(String)

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
    if error.isOfMachine { return .foreign("cannot be read: \(error.reason)") }
    if !FileSystem.exists(path) { return .absent }
    if FileSystem.isLink(path) { return .foreign("is a symbolic link") }
    if !FileSystem.isFolder(path) { return .foreign("is not a folder") }
    return .foreign("cannot be read: \(error.reason)")
  }

  /// The state of the folder that is held, whatever lies at its path by now.
  init(of folder: HeldFolder) {
    do throws(FileError) {
      self = try Self.look(folder)
    } catch {
      self = .foreign("cannot be read: \(error.reason)")
    }
  }

  private static func look(_ folder: HeldFolder) throws(FileError) -> OutputFolderState {
    let notes = folder.below(OutputNames.notes)
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
    case .absent, .vacant, .foreign: return false
    }
  }

  /// Whether the place it belongs to is gone and `recognition` is what had been there.
  func hasMoved(to recognition: Recognition) -> Bool {
    switch self {
    case .owned(let owner):
      guard owner.family == recognition.family, owner.location.isGone, let content = owner.content
      else { return false }
      return ContentKey.of(recognition) == content
    case .remembered(let cache):
      // No key was kept: names, sizes and times of change, which a move within a file system keeps.
      guard cache.family == recognition.family,
        CaptureLocation(FilePath(text: cache.folder), stem: cache.stem).isGone,
        let now = InputListing(recognition, nowNanoseconds: .max)
      else { return false }
      return cache.inputs.looksLike(now)
    case .absent, .vacant, .described, .foreign: return false
    }
  }
}

extension CaptureLocation {
  /// Whether the capture lies there, under whatever path. Cost: nothing where it is the same path.
  fileprivate func isSame(as recognition: Recognition) -> Bool {
    self == CaptureLocation(recognition) || isAlias(of: CaptureLocation(recognition))
  }
}
