import Captures
import Core
import SystemPackage

/// The files that the entry of a capture is made from: notes, records and published files in the capture's
/// output, and the files of the capture itself.
struct EntrySources: Sendable {
  let open: OpenOutput
  /// The folders with published files are called like their stages.
  let stages: [String]
  /// Folder of the capture; `nil`: its place is not known.
  let folder: String?
  let stem: String?
  /// What was found of the files of the capture when the entry was read; `nil`: they are looked at.
  private let seen: Seen?

  /// The files of a capture as they were found a moment ago.
  struct Seen {
    var inputs: InputListing
    /// Digests that a run noted.
    var digests: [String: DigestCache.Entry]
    var manifest: UploadCounts?
  }

  /// The files in the folder of notes.
  static let notes = [
    OutputNames.captureCache, OutputNames.owner, OutputNames.triage,
  ]
  static let recordFolders = [OutputNames.removed, OutputNames.empty]
  private static let looked =
    [".", OutputNames.notes, OutputNames.failed]
    + recordFolders.map { "\(OutputNames.notes)/\($0)" } + [OutputNames.document]
    + notes.map { "\(OutputNames.notes)/\($0)" }
  /// Folders in folders of an artifact that are looked into.
  private static let mostLevels = 8

  /// - Parameter seen: counts only where it is of the capture's place as the entry has it.
  init(_ open: OpenOutput, of entry: CaptureRow, seen: Seen? = nil) {
    self.open = open
    stages = entry.stages.map(\.stage)
    (folder, stem) = (entry.folder, entry.stem)
    self.seen = seen.flatMap {
      $0.inputs.folder == entry.folder && $0.inputs.stem == entry.stem ? $0 : nil
    }
  }

  /// Which places are looked at: stamps of others are of no use, whoever took them.
  var places: Digest {
    var encoder = CacheCoder()
    for names in [Self.looked, [OutputNames.lock, OutputNames.mark], stages] {
      encoder.put(names)
    }
    encoder.put(folder)
    encoder.put(stem)
    return Digest(of: encoder.bytes)
  }

  /// The stamps to remember an entry by; `nil` unless everything had been still for two seconds at
  /// `nowNanoseconds`: a later change could bear the same times.
  func settledStamps(content: Digest?, nowNanoseconds: Int64) -> EntryStamps? {
    guard let records = records(nowNanoseconds), let outputs = outputs(nowNanoseconds) else {
      return nil
    }
    return EntryStamps(records: records, outputs: outputs, content: content, places: places)
  }

  /// The stamps together with the digest of the contents, which leaves out files of the capture that no run has noted a
  /// digest of. Cost: that of `content`; published files are looked at once for both.
  ///
  /// - Parameter looksAtOutputs: `false`: nothing is noted of published files, and no digest of the contents.
  func settledStamps(looksAtOutputs: Bool = true, nowNanoseconds: Int64) -> EntryStamps? {
    guard let records = records(nowNanoseconds) else { return nil }
    var stamps = EntryStamps(records: records, places: places)
    guard looksAtOutputs else { return stamps }
    let published = published(nowNanoseconds)
    guard let outputs = published?.stamps.digest else { return nil }
    stamps.outputs = outputs
    stamps.content = content(readsAll: false, published?.names)
    return stamps
  }

  /// Whether an entry that bears `stamps` would be read the same again.
  ///
  /// - Parameter looksAtOutputs: whether published files are looked at one by one, and not only the folders
  ///   that they lie in.
  func areUntouched(since stamps: EntryStamps, looksAtOutputs: Bool) -> Bool {
    records(nil) == stamps.records && (!looksAtOutputs || outputsAreUntouched(since: stamps))
  }

  /// Whether published files alone are unchanged.
  func outputsAreUntouched(since stamps: EntryStamps) -> Bool {
    stamps.outputs != nil && outputs(nil) == stamps.outputs
  }

  // MARK: By times

  /// - Parameter now: nothing may have changed within the two seconds before it; `nil`: whenever it changed.
  private func records(_ now: Int64?) -> Digest? {
    guard let open = open.folder else { return nil }
    var found = Stamps(now)
    // A link in the place of a folder is not followed.
    var links: Set<Substring> = []
    // Whether the last entry existed.
    var wasThere = false
    func put(_ path: String) {
      wasThere = false
      let above = path.prefix { $0 != "/" }
      guard !links.contains(above), let status = open.status(of: path) else {
        return found.putNothing()
      }
      wasThere = true
      if status.kind == .link { links.insert(Substring(path)) }
      found.put(status)
    }
    for path in Self.looked { put(path) }
    let hasFailures = open.status(of: OutputNames.failed) != nil
    for stage in stages {
      put(stage)
      if wasThere { put("\(stage)/\(OutputNames.record)") }
      if hasFailures { put("\(OutputNames.failed)/\(stage)/\(OutputNames.failure)") }
    }
    if let folder {
      let input = (seen?.inputs ?? InputListing(folder: folder, stem: stem, nowNanoseconds: .max))
        .flatMap { $0.isThere ? $0 : nil }
      found.put(input?.contentStamp.hex)
      let (manifest, journal) = Self.uploadNotes(of: folder)
      if let manifest { found.put(manifest) } else { found.putNothing() }
      if let journal { found.put(journal) }
      if let now, input?.isSettled(nowNanoseconds: now) == false { return nil }
    }
    return found.digest
  }

  /// Stamps of the notes of an upload server about the capture: its files stay as they are when their digests are
  /// compared.
  private static func uploadNotes(
    of folder: String
  ) -> (manifest: FileStamp?, journal: FileStamp?) {
    let path = FilePath(text: folder)
    // Notes about a capture that is one file lie beside it.
    let root =
      (try? EnclosedFolder(path, followsPath: false))
      ?? (try? EnclosedFolder(path.removingLastComponent(), followsPath: false))
    return (
      root?.stamp(of: UploadManifest.fileName), root?.stamp(of: UploadJournal.fileName)
    )
  }

  private func outputs(_ now: Int64?) -> Digest? { published(now)?.stamps.digest }

  /// All published files: their stamps, and their names and sizes. `nil` where there is more than is looked at.
  private func published(_ now: Int64?) -> (stamps: Stamps, names: [UInt8])? {
    var stamps = Stamps(now)
    var names = CacheCoder()
    let isRead = walk { name, folder, kind in
      stamps.put(name)
      names.put(name)
      names.put("\(kind)")
      let status = kind == .folder ? nil : folder.status(of: name)
      if kind == .file { names.put(status?.bytes ?? -1) }
      if let stamp = status?.stamp { stamps.put(stamp) } else { stamps.putNothing() }
    }
    return isRead ? (stamps, names.bytes) : nil
  }

  // MARK: By content

  /// - Parameter readsAll: whether files of the capture are read that no run has noted a digest of, whatever
  ///   their size.
  ///
  /// Cost: reading some ten small files, and the capture where that has to be.
  func content(readsAll: Bool) -> Digest? {
    content(readsAll: readsAll, published(nil)?.names)
  }

  private func content(readsAll: Bool, _ published: [UInt8]?) -> Digest? {
    guard let published, let held = open.folder else { return nil }
    var encoder = CacheCoder()
    func put(_ bytes: [UInt8]?) { encoder.put(bytes.map { Digest(of: $0).hex }) }
    func put(_ name: String, _ folder: HeldFolder?) {
      put(folder?.stampedContents(of: name)?.bytes)
    }
    put(open.contents(of: OutputNames.document))
    for name in Self.notes { put(open.note(name)) }
    for folder in [open.removed, open.empty] {
      guard let names = try? folder?.names() ?? [] else { return nil }
      encoder.put(names)
      for name in names { put(name, folder) }
    }
    let failed = open.failed
    for stage in stages {
      put(OutputNames.failure, failed?.below(stage))
      put(OutputNames.record, held.below(stage))
    }
    encoder.put(published)
    guard let folder,
      let inputs = inputs(folder, readsAll: readsAll)
    else { return nil }
    encoder.put(inputs.hex)
    let manifest = seen.map(\.manifest) ?? UploadCounts(in: FilePath(text: folder))
    encoder.put(manifest.map { "\($0)" })
    return Digest(of: encoder.bytes)
  }

  private func inputs(_ folder: String, readsAll: Bool) -> Digest? {
    guard let seen else {
      return InputContents.digest(
        folder: folder, stem: stem, notedIn: open.layout, readsAll: readsAll)
    }
    return InputContents.digest(
      of: seen.inputs, known: seen.digests, notedIn: open.layout, readsAll: readsAll)
  }

  /// Goes through all published files, by name. `false` where there is more than is looked at.
  private func walk(_ body: (String, HeldFolder, FileStatus.Kind) -> Void) -> Bool {
    func walk(_ folder: HeldFolder, _ level: Int) -> Bool {
      guard let entries = try? folder.list() else { return false }
      for (name, kind) in entries.sorted(by: { $0.name < $1.name }) {
        body(name, folder, kind)
        guard kind == .folder else { continue }
        guard level < Self.mostLevels, let inner = folder.below(name),
          walk(inner, level + 1)
        else { return false }
      }
      return true
    }
    guard let held = open.folder else { return false }
    for stage in stages {
      if let folder = held.below(stage), !walk(folder, 0) { return false }
    }
    return true
  }

  /// Sizes and times of modification of files, one after the other, in a digest. Times of change and inodes
  /// are others after a backup was restored, and count only for what has changed a moment ago.
  private struct Stamps {
    private var encoder = CacheCoder()
    private var isSettled = true
    private let now: Int64?

    /// - Parameter now: nothing may have changed within the two seconds before it.
    init(_ now: Int64?) { self.now = now }

    var digest: Digest? { isSettled ? Digest(of: encoder.bytes) : nil }

    mutating func putNothing() { encoder.put(false) }
    mutating func put(_ text: String?) { encoder.put(text) }

    mutating func put(_ status: FileStatus) {
      encoder.put(true)
      // The size of a folder depends on the disk.
      if status.kind != .folder { encoder.put(status.bytes) }
      encoder.put(status.modifiedNanoseconds)
      encoder.put(Int64(status.mode))
      check(max(status.modifiedNanoseconds, status.changedNanoseconds))
    }

    mutating func put(_ stamp: FileStamp) {
      encoder.put(true)
      encoder.put(stamp.bytes)
      encoder.put(stamp.modifiedNanoseconds)
      check(stamp.changedNanoseconds)
    }

    private mutating func check(_ time: Int64) {
      guard let now else { return }
      if time > now &- 2_000_000_000 { isSettled = false }
    }
  }
}
