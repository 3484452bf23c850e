import Captures
import Core
import Synchronization
import SystemPackage

extension UploadStore {
  /// The folders of a capture that are there. Those that are gone are known no more.
  func versions(of capture: String) throws -> [StoredFolder] {
    try state.withLock { $0.versions(of: capture) }.filter { folder in
      if try staging.entry(folder.name) != nil { return true }
      log("\(folder.name) is gone, and what was noted of it")
      state.withLock { $0.forget(folder.name) }
      return false
    }
  }

  /// The status of a file of a capture; `nil` if it does not exist.
  func look(at name: UploadName, in folder: HeldFolder) throws(FileError) -> FileStatus? {
    let (inner, file) = name.parts
    guard let inner else { return try folder.entry(file) }
    return try folder.folder(inner)?.entry(file)
  }

  /// The digests of the bytes on disk; `nil` if there is no such file. Cost: reads the file.
  func digests(
    of name: UploadName, in folder: HeldFolder
  ) throws(FileError) -> RunningDigests.OfFile? {
    let (inner, file) = name.parts
    let holder = try inner.map { (inner) throws(FileError) in try folder.folder(inner) } ?? folder
    guard let open = try holder?.openFile(file) else { return nil }
    defer { try? open.close() }
    return try Self.digests(of: open, at: holder?.path.appending(name: file) ?? FilePath(file))
      .finish()
  }

  /// The digests of an open file from its current offset to its end.
  static func digests(
    of file: FileDescriptor, at path: FilePath
  ) throws(FileError) -> RunningDigests {
    let digests = RunningDigests()
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    do {
      while true {
        let count = try piece.withUnsafeMutableBytes { buffer in
          let count = try file.read(into: buffer)
          digests.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          return count
        }
        if count == 0 { return digests }
      }
    } catch {
      throw FileError(error, path: path, operation: "read")
    }
  }

  /// Whether nothing tells that a file is another one than its note says.
  ///
  /// - Parameter inode: that of the file when its content was known; `nil` if that is not known.
  func isAsNoted(_ file: UploadManifest.File, _ found: FileStatus, _ inode: UInt64?) -> Bool {
    found.kind == .file && found.bytes == file.bytes && inode ?? found.inode == found.inode
      && UTCText.exact(nanoseconds: found.modifiedNanoseconds) == file.modified
  }

  /// The note of a file as it is now on disk, and its inode: read again if anything tells that it has changed; `nil` if it
  /// is gone.
  func refreshed(
    _ folder: StoredFolder, _ index: Int, _ name: UploadName, _ held: HeldFolder
  ) throws(FileError) -> (file: UploadManifest.File, inode: UInt64)? {
    let file = folder.manifest.files[index]
    guard let found = try look(at: name, in: held), found.kind == .file else { return nil }
    if isAsNoted(file, found, folder.inodes[NameKey(file.name)]) { return (file, found.inode) }
    guard let digests = try digests(of: name, in: held) else { return nil }
    var new = file
    new.modified = UTCText.exact(nanoseconds: found.modifiedNanoseconds)
    guard digests.sha256 != file.sha256 else { return (new, found.inode) }
    new.md5 = digests.md5
    new.sha256 = digests.sha256
    new.bytes = found.bytes
    new.state = Self.state(ofChanged: file)
    return (new, found.inode)
  }

  /// The state of a file whose content is another one than was noted: what its sender has said of it was said of the other.
  static func state(ofChanged file: UploadManifest.File) -> UploadManifest.FileState {
    file.state == .verified ? .mismatch : .unverified
  }

  /// A folder as it is on the disk.
  struct Looked {
    var folder: StoredFolder
    /// Names that are noted and not there.
    var gone: Set<NameKey> = []
  }

  /// Compares the notes of a folder with the disk: files of another size, time or inode are read again. With content that
  /// is gone or another one, what its sender has said of the whole counts no more. What has changed is written; what is
  /// gone stays noted until the next start, so that it is missed. To be called with the capture's lock. Cost: a look at
  /// each file.
  ///
  /// - Returns: `nil` if the folder is gone.
  func current(_ folder: StoredFolder) throws(FileError) -> Looked? {
    guard let held = try staging.folder(folder.name) else {
      log("\(folder.name) is gone, and what was noted of it")
      state.withLock { $0.forget(folder.name) }
      return nil
    }
    var looked = Looked(folder: folder)
    var manifest = folder.manifest
    for (index, file) in folder.manifest.files.enumerated() {
      guard let name = uploadName(of: file.name, in: manifest.capture),
        let (found, inode) = try refreshed(folder, index, name, held)
      else {
        looked.gone.insert(NameKey(file.name))
        manifest.declared = false
        continue
      }
      if found.sha256 != file.sha256 {
        log("\(folder.name): \(file.name) has changed since it was received")
        manifest.declared = false
      }
      manifest.files[index] = found
      looked.folder.inodes[NameKey(found.name)] = inode
    }
    let isChanged = manifest != folder.manifest
    if isChanged { looked.folder.manifest = manifest }
    if isChanged || !looked.gone.isEmpty && manifest.complete != nil {
      try settle(looked.folder, held, [])
    } else {
      state.withLock { $0.put(looked.folder) }
    }
    if let settled = state.withLock({ $0.folders[NameKey(folder.name)] }) {
      looked.folder = settled
    }
    return looked
  }

  /// Compares the notes of a folder with the disk, as `current` does, before anything is said of them.
  func lookAgain(at name: String) throws(UploadRefusal) {
    guard let capture = state.withLock({ $0.folders[NameKey(name)]?.manifest.capture }) else {
      return
    }
    try Self.refusing {
      try withCapture(capture) {
        if let folder = state.withLock({ $0.folders[NameKey(name)] }) { _ = try current(folder) }
      }
    }
  }

  /// Differences between a large capture and its notes at a look a moment ago.
  struct LastLook {
    var nanoseconds: Int64
    var lastArrival: String
    var count: Int
    var differing: Set<Int>
  }

  /// Lists are asked for every few seconds; of captures of more files than that they look once a minute.
  private static let mostLookedAtAlways = 1_000
  private static let lookEvery: Int64 = 60 * 1_000_000_000

  /// A capture with those of its files that are on the disk as they are noted, by size and time; with one less it is not
  /// complete. `nil` if nothing of it is there or on its way. Nothing is read or written. Cost: a look at each file.
  ///
  /// - Parameter isListed: of many files the look may be that of an earlier list, less than a minute ago.
  func onDisk(
    _ capture: StoreSnapshot.Capture, isListed: Bool = false
  ) -> StoreSnapshot.Capture? {
    let files = capture.manifest.files
    if files.isEmpty { return capture }
    var capture = capture
    let held = try? staging.folder(capture.folder)
    let key = NameKey(capture.folder)
    let time = now()
    let last = isListed ? lastLooks.withLock { $0[key] } : nil
    let differing: Set<Int>
    if let last, held != nil, time &- last.nanoseconds < Self.lookEvery,
      (last.lastArrival, last.count) == (capture.manifest.lastArrival, files.count)
    {
      differing = last.differing
    } else {
      differing = self.differing(capture.manifest, in: held)
      if files.count > Self.mostLookedAtAlways {
        let look = LastLook(
          nanoseconds: time, lastArrival: capture.manifest.lastArrival, count: files.count,
          differing: differing)
        lastLooks.withLock { $0[key] = held == nil ? nil : look }
      }
    }
    if !differing.isEmpty {
      capture.manifest.files = files.indices.filter { !differing.contains($0) }.map { files[$0] }
      capture.manifest.complete = nil
    }
    return held == nil && capture.arriving.isEmpty ? nil : capture
  }

  /// The files of a manifest that are not on the disk as they are noted.
  private func differing(_ manifest: UploadManifest, in held: HeldFolder?) -> Set<Int> {
    guard let held else { return Set(manifest.files.indices) }
    // Most files of a folder follow each other.
    var inner: (name: String, folder: HeldFolder?)?
    func status(_ name: UploadName) throws(FileError) -> FileStatus? {
      let parts = name.parts
      guard let folder = parts.folder else { return try held.entry(parts.file) }
      if inner?.name != folder { inner = (folder, try held.folder(folder)) }
      return try inner?.folder?.entry(parts.file)
    }
    return Set(
      manifest.files.indices.filter { index in
        let file = manifest.files[index]
        guard let name = uploadName(of: file.name, in: manifest.capture),
          let found = try? status(name)
        else { return true }
        return !isAsNoted(file, found, nil)
      })
  }
}

/// What a store holds and receives at one moment, for people and for other programs.
struct StoreSnapshot {
  public struct Capture: Sendable {
    /// The folder in STAGING.
    var folder: String
    var manifest: UploadManifest
    /// What is on its way to this capture.
    var arriving: [Arriving]
  }

  public struct Arriving: Sendable {
    var capture: String
    var name: String
    var expected: Int64?
    var received: Int64
    /// Nanoseconds since 1970.
    var started: Int64
    var sender: String
    /// Whether bytes arrive now; otherwise its sender may resume it.
    var isActive: Bool
  }

  /// Newest arrival first.
  var captures: [Capture]
  var freeBytes: Int64?
  var receivedBytes: Int64
  var activeUploads: Int
}

extension UploadStore {
  func snapshot() -> StoreSnapshot {
    let (folders, arriving, bytes, active) = state.withLock { state in
      (
        Array(state.folders.values),
        state.active.values.map { upload in
          StoreSnapshot.Arriving(
            capture: upload.name.capture, name: upload.name.name, expected: upload.expected,
            received: upload.progress.received, started: upload.started, sender: upload.sender,
            isActive: true)
        }
          + state.suspended.values.map { upload in
            StoreSnapshot.Arriving(
              capture: upload.name.capture, name: upload.name.name,
              expected: upload.record.expected,
              received: upload.bytes, started: 0, sender: upload.record.sender, isActive: false)
          },
        state.bytes, state.active.count
      )
    }
    let byCapture = Dictionary(grouping: arriving) { NameKey($0.capture) }
    var captures = folders.map { folder in
      StoreSnapshot.Capture(
        folder: folder.name, manifest: folder.manifest,
        arriving: NameKey(folder.name) == NameKey(folder.manifest.capture)
          ? (byCapture[NameKey(folder.name)] ?? []) : [])
    }
    // A capture of which nothing is whole yet has no folder.
    let known = Set(folders.map { NameKey($0.name) })
    for (capture, arriving) in byCapture where !known.contains(capture) {
      let time = arriving.map(\.started).max() ?? 0
      captures.append(
        StoreSnapshot.Capture(
          folder: capture.text,
          manifest: UploadManifest(
            capture: capture.text, at: UploadStore.text(nanoseconds: time)),
          arriving: arriving))
    }
    captures.sort {
      ($1.manifest.lastArrival, $0.folder) < ($0.manifest.lastArrival, $1.folder)
    }
    return StoreSnapshot(
      captures: captures, freeBytes: files.freeBytes(at: staging.path), receivedBytes: bytes,
      activeUploads: active)
  }
}
