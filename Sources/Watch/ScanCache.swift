import Captures
import Engine
import Core
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
    /// Signature of everything below, for the folder of one capture.
    var whole: FolderSignature?
    var stems: [String: FolderSignature] = [:]
    /// Signatures of captures that are one file each, by name.
    var files: [String: FolderSignature] = [:]
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

    /// The signature of one capture that was found in the folder.
    func signature(of capture: Recognition) -> FolderSignature? {
      if capture.isFile { return capture.path.name.flatMap { files[$0] } }
      return capture.stem.map { stems[$0] } ?? whole
    }
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
      if let whole = try? FolderSignature(of: folder), whole == known.whole {
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
      if look.isWholeCapture { known.whole = try FolderSignature(of: folder) }
      for capture in look.captures {
        if let stem = capture.stem {
          known.stems[stem] = try FolderSignature(of: folder, stem: stem)
        }
      }
      known.files = try FolderSignature.ofFiles(
        look.captures.compactMap { $0.isFile ? $0.path.name : nil }, in: folder)
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
