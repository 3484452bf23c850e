import Captures
import Core
import Engine
import Synchronization
import SystemPackage

/// What was found in the folders of a staging tree, kept for as long as names, sizes, times and inodes
/// in them stay the same: a look at captures at rest reads no file content.
///
/// Holds a few hundred bytes per folder; those that were not met during the last look are dropped.
final class ScanCache: FolderMemory {
  struct Known {
    var entries: FolderSignature
    /// `nil`: the folder changed while it was looked into; it must be looked into again.
    var look: FolderLook?
    /// Signatures of the captures in it; of the folder itself that of everything below, for one that is a capture.
    var signatures: [CaptureLocation: FolderSignature] = [:]
    /// What was found in files whose names were worth opening, by name: one that is at rest is not opened again
    /// because another one beside it has changed.
    var fileLooks: [String: (stamp: FileStamp, look: FileLook)] = [:]
    var folderID: FileID?
    var marks: [FileStamp?] = []
    var mark = UploadMark()
    var turn: Int
    var isOneCapture = false
    /// Why a part of it could not be looked at.
    var problem: FileError?
  }

  private struct State {
    var known: [FilePath: Known] = [:]
    /// Stamps taken before a folder was looked into.
    var pending: [FilePath: FolderSignature] = [:]
    /// What was found in files of folders that are being looked into.
    var pendingFiles: [FilePath: [String: (stamp: FileStamp, look: FileLook)]] = [:]
    var turn = 0
  }

  private let state = Mutex(State())

  /// Begins a look.
  func begin() {
    state.withLock {
      $0.turn += 1
      $0.pending = [:]
      $0.pendingFiles = [:]
    }
  }

  /// Ends a look: what it has not met is forgotten.
  func end() {
    state.withLock { state in
      let turn = state.turn
      state.known = state.known.filter { $0.value.turn == turn }
      state.pending = [:]
      state.pendingFiles = [:]
    }
  }

  func recall(_ folder: FilePath) -> FolderLook? {
    let known = state.withLock { $0.known[folder] }
    if var known, let look = known.look, look.isWholeCapture {
      // The signature of everything in the folder; its own entries are a part of it.
      if let whole = try? FolderSignature(of: folder),
        whole == known.signatures[CaptureLocation(folder)]
      {
        renewMark(&known, folder)
        keep(known, folder)
        return look
      }
    }
    guard let entries = try? FolderSignature(ofEntriesIn: folder) else { return nil }
    if var known, let look = known.look, !look.isWholeCapture, known.entries == entries,
      look.hasSameNamesInSubfolders(of: folder)
    {
      if look.isOneCapture { renewMark(&known, folder) }
      keep(known, folder)
      return look
    }
    state.withLock { $0.pending[folder] = entries }
    return nil
  }

  private func renewMark(_ known: inout Known, _ folder: FilePath) {
    let marks = UploadMark.stamps(in: folder)
    if marks == known.marks { return }
    known.marks = marks
    known.mark = UploadMark(of: folder)
  }

  private func keep(_ known: Known, _ folder: FilePath) {
    var known = known
    state.withLock { state in
      known.turn = state.turn
      state.known[folder] = known
    }
  }

  func note(_ look: FolderLook, of folder: FilePath) {
    let entries = try? FolderSignature(ofEntriesIn: folder)
    let (before, fileLooks) = state.withLock {
      ($0.pending.removeValue(forKey: folder), $0.pendingFiles.removeValue(forKey: folder))
    }
    var known = Known(entries: entries ?? FolderSignature(of: []), turn: 0)
    // Looked into while it changed, or with something that could not be read: to be done again.
    if let entries, before == entries, look.unreadable.isEmpty { known.look = look }
    known.fileLooks = fileLooks ?? [:]
    known.folderID = FileID(ofFolder: folder)
    known.isOneCapture = look.isOneCapture
    if look.isOneCapture { renewMark(&known, folder) }
    do throws(FileError) {
      let names = look.captures.compactMap { $0.isFile ? $0.path.name : nil }
      let files = try FolderSignature.ofFiles(names, in: folder)
      for capture in look.captures {
        known.signatures[CaptureLocation(capture)] =
          capture.isFile
          ? files[capture.path.name ?? ""] : try FolderSignature(of: folder, stem: capture.stem)
      }
    } catch {
      known.problem = error
    }
    state.withLock { state in
      known.turn = state.turn
      state.known[folder] = known
    }
  }

  func recall(_ file: FilePath, _ stamp: FileStamp) -> FileLook? {
    guard let name = file.name else { return nil }
    let folder = file.removingLastComponent()
    return state.withLock { state in
      guard let found = state.known[folder]?.fileLooks[name], found.stamp == stamp else {
        return nil
      }
      state.pendingFiles[folder, default: [:]][name] = found
      return found.look
    }
  }

  func note(_ look: FileLook, of file: FilePath, _ stamp: FileStamp) {
    guard let name = file.name else { return }
    state.withLock {
      $0.pendingFiles[file.removingLastComponent(), default: [:]][name] = (stamp, look)
    }
  }

  /// What is known of a folder since this look.
  subscript(_ folder: FilePath) -> Known? {
    state.withLock { state in
      state.known[folder].flatMap { $0.turn == state.turn ? $0 : nil }
    }
  }

  /// All folders of this look, with the stamps of their entries.
  var folders: [(folder: FilePath, entries: FolderSignature)] {
    state.withLock { state in
      state.known.filter { $0.value.turn == state.turn }.map { ($0.key, $0.value.entries) }
    }
  }
}

extension FolderLook {
  /// Whether marks of senders in the folder are about one capture.
  var isOneCapture: Bool { captures.count == 1 }
}

/// What one look at STAGING found. No judgement.
struct StagingSnapshot {
  /// A capture, or a folder or file that is none.
  struct Seen {
    var location: CaptureLocation
    /// `nil`: no capture.
    var recognition: Recognition?
    /// What lies in a folder that is no capture.
    var holds: [String] = []
    var stamp: FolderSignature
    var mark = UploadMark()
    /// What an upload server has on its way of it.
    var incoming: IncomingUpload?
    /// The id of the folder, or of the folder around a file.
    var folderID: FileID?
    /// Whether it is a file.
    var isFile = false

    init(_ location: CaptureLocation, _ stamp: FolderSignature) {
      self.location = location
      self.stamp = stamp
    }

    init(_ capture: Recognition, _ stamp: FolderSignature) {
      self.init(CaptureLocation(capture), stamp)
      recognition = capture
      isFile = capture.isFile
    }

    init(_ unrecognized: UnrecognizedFolder, _ stamp: FolderSignature) {
      self.init(CaptureLocation(unrecognized.path), stamp)
      holds = unrecognized.holds
      isFile = unrecognized.isFile
    }

    /// The facts by which it is known at another place.
    var identity: CaptureIdentity {
      CaptureIdentity(
        folderID: folderID, stem: isFile ? location.path.name : location.stem,
        content: stamp.content, files: stamp.files)
    }
  }

  /// In path order.
  var captures: [Seen] = []
  var unrecognized: [Seen] = []
  /// Second copies that synchronizers, browsers and desktops have made of captures beside them: left alone.
  var copies: [ConflictCopies.Found] = []
  /// Places that could not be looked at, or not as a whole, and why: captures may be hidden behind them.
  var unreadable: [CaptureLocation: FileError] = [:]
  /// The id of STAGING itself.
  var folderID: FileID?
  /// Whether there is any name in STAGING.
  var isEmpty = false
  /// Folders in which something may appear.
  var folders: Set<FilePath> = []
}

/// Looks at STAGING, again and again.
final class StagingScanner: Sendable {
  let staging: FilePath
  let memory = ScanCache()
  private let copies = ConflictCopies()

  init(_ staging: FilePath) {
    self.staging = staging
  }

  /// One look, on all cores. Throws when STAGING itself cannot be read.
  ///
  /// Cost while nothing has changed: one listing per folder and one system call per file.
  func look(_ batch: BatchRun) throws(FileError) -> StagingSnapshot {
    var snapshot = StagingSnapshot()
    let names = try FileSystem.names(in: staging)
    snapshot.folderID = FileID(ofFolder: staging)
    snapshot.isEmpty = !names.contains { !$0.hasPrefix(".") }
    memory.begin()
    let finding = batch.finder(memory: memory).find(staging)
    let onTheirWay = try IncomingUploads(into: staging)
    let uploads = lonelyUploads(names, batch.registry, finding)
    for place in finding.unreadable {
      snapshot.unreadable[CaptureLocation(place.path)] = place.error
    }
    for capture in finding.captures {
      guard let known = memory[capture.folder] else { continue }
      guard var stamp = known.signatures[CaptureLocation(capture)] else {
        // Gone since it was found, else not to be looked at.
        snapshot.unreadable[CaptureLocation(capture)] =
          known.problem?.kind == .notFound ? nil : known.problem
        continue
      }
      // In a folder of its own a transfer is its own, whatever the file is called. A capture that is one file has
      // neighbors: its transfers are told by its name, as are those of captures in STAGING itself.
      if known.isOneCapture, !capture.isFile, capture.folder != staging {
        stamp.temporaryFile = stamp.temporaryFile ?? known.entries.temporaryFile
      }
      wait(forFoldersAbove: capture.folder, in: &stamp)
      var seen = StagingSnapshot.Seen(capture, stamp)
      if known.isOneCapture { seen.mark = known.mark }
      seen.incoming = onTheirWay.upload(of: capture, isOneCapture: known.isOneCapture)
      seen.folderID = known.folderID
      snapshot.captures.append(seen)
    }
    let folders = memory.folders
    snapshot.unrecognized = (finding.unrecognized + uploads).map { unrecognized in
      if unrecognized.isFile { return unrecognizedFile(unrecognized) }
      let below = folders.filter { $0.folder.starts(with: unrecognized.path) }
      var stamp = FolderSignature(of: below.map { ($0.folder, $0.entries) })
      wait(forFoldersAbove: unrecognized.path, in: &stamp)
      var seen = StagingSnapshot.Seen(unrecognized, stamp)
      seen.incoming = onTheirWay.upload(into: unrecognized.path)
      seen.folderID = memory[unrecognized.path]?.folderID
      return seen
    }
    (snapshot.captures, snapshot.copies) = copies.separate(snapshot.captures)
    snapshot.folders = Set(folders.map(\.folder)).union([staging])
    memory.end()
    return snapshot
  }

  /// A folder of STAGING that a transfer renames once it is whole, `X.part`, holds back all that lies in it.
  private func wait(forFoldersAbove place: FilePath, in stamp: inout FolderSignature) {
    let names = place.components.dropFirst(staging.components.count).map(\.string)
    stamp.temporaryFile = names.first(where: TransferNames.contains(_:)) ?? stamp.temporaryFile
  }

  /// Captures of one file that are not there yet, only what a transfer has of them: `NAME.part`. Told in STAGING itself
  /// alone: in other folders a transfer counts for the folder.
  private func lonelyUploads(
    _ names: [String], _ registry: CaptureRegistry, _ finding: CaptureFinder.Finding
  ) -> [UnrecognizedFolder] {
    let present = Set(names)
    let known = Set(finding.unrecognized.map(\.path))
    let wanted = names.compactMap(TransferNames.target(of:)).filter {
      !present.contains($0) && registry.isCalledLikeCapture(fileName: $0)
    }
    return Set(wanted).sorted().map { staging.appending($0) }.filter { !known.contains($0) }
      .map { UnrecognizedFolder(path: $0) }
  }

  private func unrecognizedFile(_ file: UnrecognizedFolder) -> StagingSnapshot.Seen {
    let folder = file.path.removingLastComponent()
    let name = file.path.name ?? ""
    let stamp =
      (try? FolderSignature.ofFiles([name], in: folder))?[name] ?? FolderSignature(of: [])
    var seen = StagingSnapshot.Seen(file, stamp)
    seen.folderID = memory[folder]?.folderID
    return seen
  }
}
