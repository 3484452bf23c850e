import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// What one look at STAGING found. No judgement.
struct StagingSnapshot: Sendable {
  struct Seen: Sendable {
    var recognition: Recognition
    var stamp: FolderSignature
    var mark = UploadMark()
    var isOnItsWay = false
    /// Of its folder.
    var folderID: FileID?
  }

  struct UnrecognizedUpload: Sendable {
    var folder: UnrecognizedFolder
    var stamp: FolderSignature
  }

  /// In path order.
  var captures: [Seen] = []
  var strangers: [UnrecognizedUpload] = []
  /// Folders and files that could not be read: captures may be hidden behind them.
  var unreadable: [FileError] = []
  /// Of STAGING itself.
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

  init(_ staging: FilePath) {
    self.staging = staging
  }

  /// One look, on all cores. Throws when STAGING itself cannot be read.
  ///
  /// Cost while nothing has changed: one listing per folder and one system call per file.
  func look(_ batch: BatchRun) throws(FileError) -> StagingSnapshot {
    var snapshot = StagingSnapshot()
    let names: [String]
    do throws(FileError) {
      names = try FileSystem.names(in: staging)
    } catch {
      throw error
    }
    snapshot.folderID = FileID(ofFolder: staging)
    snapshot.isEmpty = !names.contains { !$0.hasPrefix(".") }
    memory.begin()
    let finding = batch.finder(memory: memory).find(staging)
    let onTheirWay = UploadMark.onTheirWay(in: staging)
    for capture in finding.captures {
      guard let known = memory[capture.folder],
        var stamp = capture.stem.map({ known.stems[$0] }) ?? known.whole
      else { continue }
      // In a folder of its own a transfer is its own, whatever the file is called.
      if known.isOneCapture, known.entries.isTransferring { stamp.isTransferring = true }
      var seen = StagingSnapshot.Seen(recognition: capture, stamp: stamp)
      if known.isOneCapture { seen.mark = known.mark }
      seen.isOnItsWay =
        onTheirWay.contains(capture.id) || (capture.folder.name.map(onTheirWay.contains) ?? false)
      seen.folderID = known.folderID
      snapshot.captures.append(seen)
    }
    let folders = memory.folders
    snapshot.strangers = finding.unrecognized.map { stranger in
      let below = folders.filter { $0.folder.starts(with: stranger.path) }
      var stamp = FolderSignature(
        text: below.map { "\($0.folder) \($0.entries.digest)" }.sorted().joined(separator: "\n"))
      stamp.isTransferring = below.contains { $0.entries.isTransferring }
      return StagingSnapshot.UnrecognizedUpload(folder: stranger, stamp: stamp)
    }
    snapshot.unreadable = finding.unreadable
    snapshot.folders = Set(folders.map(\.folder)).union([staging])
    memory.end()
    return snapshot
  }
}
