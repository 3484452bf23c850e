import Captures
import Core
import Synchronization
import SystemPackage

extension UploadStore {
  /// The folders of a capture that are there. Those that are gone are known no more.
  func versions(of capture: String) throws -> [StoredFolder] {
    try state.withLock { $0.versions(of: capture) }.filter { folder in
      if try staging.entry(folder.name) != nil { return true }
      forget(folder)
      return false
    }
  }

  private func forget(_ folder: StoredFolder) {
    log("\(folder.name) is gone, and what was noted of it")
    state.withLock { $0.forget(folder.name) }
  }

  /// The folder in which a file of a capture lies, one inside if its name has one; `nil` if that does not exist.
  func holder(of name: UploadName, in folder: HeldFolder) throws(FileError) -> HeldFolder? {
    guard let inner = name.parts.folder else { return folder }
    return try folder.folder(inner)
  }

  /// The status of a file of a capture; `nil` if it does not exist.
  func look(at name: UploadName, in folder: HeldFolder) throws(FileError) -> FileStatus? {
    try holder(of: name, in: folder)?.entry(name.parts.file)
  }

  /// The digests of the bytes on disk; `nil` if there is no such file. Cost: reads the file.
  func digests(
    of name: UploadName, in folder: HeldFolder
  ) throws(FileError) -> RunningDigests.OfFile? {
    let file = name.parts.file
    guard let holder = try holder(of: name, in: folder), let open = try holder.openFile(file) else {
      return nil
    }
    defer { try? open.close() }
    return try Self.digests(of: open, at: holder.path.appending(name: file)).finish()
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
      && found.modified == file.modified
  }

  /// The note of a file as it is now on disk, and the file: read again if anything tells that it has changed; `nil` if it
  /// is gone.
  func refreshed(
    _ file: UploadManifest.File, _ inode: UInt64?, _ name: UploadName, _ held: HeldFolder
  ) throws(FileError) -> (file: UploadManifest.File, found: FileStatus)? {
    guard let found = try look(at: name, in: held), found.kind == .file else { return nil }
    if isAsNoted(file, found, inode) { return (file, found) }
    guard let digests = try digests(of: name, in: held) else { return nil }
    var new = file
    new.modified = found.modified
    guard digests.sha256 != file.sha256 else { return (new, found) }
    new.md5 = digests.md5
    new.sha256 = digests.sha256
    new.bytes = found.bytes
    new.state = Self.state(ofChanged: file)
    return (new, found)
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
      forget(folder)
      return nil
    }
    var looked = Looked(folder: folder)
    var manifest = folder.manifest
    for (index, file) in folder.manifest.files.enumerated() {
      guard let name = uploadName(of: file.name, in: manifest.capture),
        let (new, found) = try refreshed(file, folder.inodes[NameKey(file.name)], name, held)
      else {
        looked.gone.insert(NameKey(file.name))
        manifest.declared = false
        continue
      }
      if new.sha256 != file.sha256 {
        log("\(folder.name): \(file.name) has changed since it was received")
        manifest.declared = false
      }
      manifest.files[index] = new
      looked.folder.inodes[NameKey(file.name)] = found.inode
    }
    let isChanged = manifest != folder.manifest
    if isChanged { looked.folder.manifest = manifest }
    if isChanged || !looked.gone.isEmpty && manifest.complete != nil {
      try settle(looked.folder, held, [])
    } else {
      state.withLock { $0.put(looked.folder) }
    }
    looked.folder = self.folder(folder.name) ?? looked.folder
    return looked
  }

  /// Compares the notes of a folder with the disk, as `current` does, before anything is said of them.
  func lookAgain(at name: String) throws(UploadRefusal) {
    guard let capture = folder(name)?.manifest.capture else { return }
    try Self.refusing {
      try withCapture(capture) { _ = try folder(name).flatMap { try current($0) } }
    }
  }

  /// Differences between a large capture and its notes at a look a moment ago.
  typealias LastLook = (
    nanoseconds: Int64, lastArrival: String, count: Int, differing: Set<Int>
  )

  /// Lists are asked for every few seconds; of captures of more files than that they look once a minute.
  private static let mostLookedAtAlways = 1_000
  private static let lookEvery: Int64 = 60 * 1_000_000_000

  /// A capture with those of its files that are on the disk as they are noted, by size and time; where one is not, it is
  /// not complete. `nil` if nothing of it is there or on its way. Nothing is read or written. Cost: a look at each file.
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
        let look: LastLook = (time, capture.manifest.lastArrival, files.count, differing)
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
    var last: (inner: NameKey?, folder: HeldFolder?) = (nil, held)
    func status(_ name: UploadName) throws(FileError) -> FileStatus? {
      let inner = name.parts.folder.map(NameKey.init)
      if inner != last.inner { last = (inner, try holder(of: name, in: held)) }
      return try last.folder?.entry(name.parts.file)
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
  struct Capture {
    /// The folder in STAGING.
    var folder: String
    var manifest: UploadManifest
    /// What is on its way to this capture.
    var arriving: [UnfinishedUpload]
  }

  /// Newest arrival first.
  var captures: [Capture]
  var freeBytes: Int64?
  var receivedBytes: Int64
  var activeUploads: Int
}

extension FileStatus {
  /// The time of modification as it is noted.
  var modified: String { UTCText.exact(nanoseconds: modifiedNanoseconds) }
}

extension UploadStore {
  func snapshot() -> StoreSnapshot {
    let (folders, arriving, bytes) = state.withLock {
      (Array($0.folders.values), Array($0.uploads.values), $0.bytes)
    }
    let byCapture = Dictionary(grouping: arriving) { NameKey($0.name.capture) }
    var captures = folders.map { folder in
      StoreSnapshot.Capture(
        folder: folder.name, manifest: folder.manifest,
        arriving: NameKey(folder.name) == NameKey(folder.manifest.capture)
          ? (byCapture[NameKey(folder.name)] ?? []) : [])
    }
    // A capture of which nothing is whole yet has no folder.
    let known = Set(folders.map { NameKey($0.name) })
    for (capture, arriving) in byCapture where !known.contains(capture) {
      let time = arriving.filter(\.isActive).map(\.started).max() ?? 0
      captures.append(
        StoreSnapshot.Capture(
          folder: capture.text,
          manifest: UploadManifest(
            capture: capture.text, at: UTCText.exact(nanoseconds: time)),
          arriving: arriving))
    }
    captures.sort {
      ($1.manifest.lastArrival, $0.folder) < ($0.manifest.lastArrival, $1.folder)
    }
    return StoreSnapshot(
      captures: captures, freeBytes: files.freeBytes(at: staging.path), receivedBytes: bytes,
      activeUploads: arriving.count(where: \.isActive))
  }
}
