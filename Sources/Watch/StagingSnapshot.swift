import Captures
import Engine
import Core
import SystemPackage

/// What one look at STAGING found. No judgement.
struct StagingSnapshot {
  struct Seen {
    var recognition: Recognition
    var stamp: FolderSignature
    var mark = UploadMark()
    /// What an upload server has on its way of it.
    var incoming: IncomingUpload?
    /// The id of the capture's folder, or of the folder around a capture that is one file.
    var folderID: FileID?
  }

  struct UnrecognizedUpload {
    var folder: UnrecognizedFolder
    var stamp: FolderSignature
    /// What an upload server has on its way into it.
    var incoming: IncomingUpload?
    var folderID: FileID?
  }

  /// In path order.
  var captures: [Seen] = []
  var unrecognized: [UnrecognizedUpload] = []
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

  /// What tells its captures and folders from others.
  var identities: [(location: CaptureLocation, identity: CaptureIdentity)] {
    captures.map { (CaptureLocation($0.recognition), $0.identity) }
      + unrecognized.map { (CaptureLocation($0.folder.path), $0.identity) }
  }
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
      guard var stamp = known.signature(of: capture) else {
        // Gone since it was found, else not to be looked at.
        snapshot.unreadable[CaptureLocation(capture)] =
          known.problem?.kind == .notFound ? nil : known.problem
        continue
      }
      // In a folder of its own a transfer is its own, whatever the file is called. A capture that is one file has
      // neighbors: its transfers are told by its name, as are those of captures in STAGING itself.
      if known.isOneCapture, known.entries.isTransferring, !capture.isFile,
        capture.folder != staging
      {
        stamp.isTransferring = true
        stamp.temporaryFile = stamp.temporaryFile ?? known.entries.temporaryFile
      }
      wait(forFoldersAbove: capture.folder, in: &stamp)
      var seen = StagingSnapshot.Seen(recognition: capture, stamp: stamp)
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
      return StagingSnapshot.UnrecognizedUpload(
        folder: unrecognized, stamp: stamp, incoming: onTheirWay.upload(into: unrecognized.path),
        folderID: memory[unrecognized.path]?.folderID)
    }
    (snapshot.captures, snapshot.copies) = copies.separate(snapshot.captures)
    snapshot.folders = Set(folders.map(\.folder)).union([staging])
    memory.end()
    return snapshot
  }

  /// A folder of STAGING that a transfer renames once it is whole, `X.part`, holds back all that lies in it.
  private func wait(forFoldersAbove place: FilePath, in stamp: inout FolderSignature) {
    let names = place.components.dropFirst(staging.components.count).map(\.string)
    guard let name = names.first(where: TransferNames.contains(_:)) else { return }
    stamp.isTransferring = true
    stamp.temporaryFile = name
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

  private func unrecognizedFile(_ file: UnrecognizedFolder) -> StagingSnapshot.UnrecognizedUpload {
    let folder = file.path.removingLastComponent()
    let name = file.path.name ?? ""
    let stamp =
      (try? FolderSignature.ofFiles([name], in: folder))?[name] ?? FolderSignature(of: [])
    return StagingSnapshot.UnrecognizedUpload(
      folder: file, stamp: stamp, folderID: memory[folder]?.folderID)
  }
}
