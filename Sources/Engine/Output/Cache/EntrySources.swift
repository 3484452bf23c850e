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
    let listing = seen?.inputs ?? InputListing(folder: folder, stem: stem, nowNanoseconds: .max)
    return listing?.contents(
      known: seen?.digests ?? [:], notedIn: open.layout, readsAll: readsAll)
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

extension EntrySources {
  /// `nil` where no proof can be given: on file systems whose folders do not tell of their names, with links among
  /// the files of the capture, with many files, and unless everything had been still for two seconds at
  /// `nowNanoseconds`.
  ///
  /// Cost: that of the look that it is to spare.
  ///
  /// - Parameter looksAtOutputs: whether published files are part of it.
  func proof(nowNanoseconds: Int64, looksAtOutputs: Bool = true) -> UntouchedProof? {
    guard let output = open.folder, output.tellsOfNames else { return nil }
    var found = Looks(nowNanoseconds)
    let isMarked = putNotes(of: output, &found)
    var published = looksAtOutputs ? Looks(nowNanoseconds) : nil
    for stage in stages {
      guard let status = putRecords(of: stage, in: output, &found) else { continue }
      if published != nil, status.kind == .folder, let folder = output.below(stage),
        published?.put(below: folder, path(stage)) == false
      {
        published = nil
      }
    }
    guard putInputs(&found), found.isSettled else { return nil }
    let outputs = published.flatMap { $0.isSettled ? PathStamps($0.found) : nil }
    let document = (path(OutputNames.document), output.status(of: OutputNames.document))
    return UntouchedProof(
      records: PathStamps(found.found), document: PathStamps([document]), outputs: outputs,
      isMarked: isMarked)
  }

  /// The path below the root of the output.
  private func path(_ name: String) -> String { "\(open.layout.name)/\(name)" }

  /// Returns whether the capture bears a mark.
  private func putNotes(of output: HeldFolder, _ found: inout Looks) -> Bool {
    found.put(open.layout.name, output.status(of: "."))
    for name in [OutputNames.document, OutputNames.failed, OutputNames.notes] {
      found.putPresent(path(name), output.status(of: name))
    }
    guard let notes = open.notes else { return false }
    for name in Self.notes + Self.recordFolders + [OutputNames.lock] {
      found.putPresent(path("\(OutputNames.notes)/\(name)"), notes.status(of: name))
    }
    return notes.status(of: OutputNames.mark) != nil
  }

  /// Returns what lies in the place of the artifact.
  private func putRecords(
    of stage: String, in output: HeldFolder, _ found: inout Looks
  ) -> FileStatus? {
    if let failed = open.failed, let status = failed.status(of: stage) {
      let place = "\(OutputNames.failed)/\(stage)"
      found.put(path(place), status)
      let note = failed.below(stage)?.status(of: OutputNames.failure)
      found.putPresent(path("\(place)/\(OutputNames.failure)"), note)
    }
    guard let status = output.status(of: stage) else { return nil }
    found.put(path(stage), status)
    if status.kind == .folder {
      let record = "\(stage)/\(OutputNames.record)"
      found.putPresent(path(record), output.status(of: record))
    }
    return status
  }

  /// The files of the capture and what an upload server noted of them, by whole paths. `false` where they cannot be
  /// proven.
  private func putInputs(_ found: inout Looks) -> Bool {
    guard let folder else { return true }
    let place = FilePath(text: folder)
    guard place.isAbsolute else { return false }
    guard let status = try? FileStatus(of: place, followsLast: false) else {
      found.put(folder, nil)
      return true
    }
    found.put(folder, status)
    switch status.kind {
    case .file:
      guard stem == nil else { return false }
      for name in [UploadManifest.fileName, UploadJournal.fileName] {
        let path = place.removingLastComponent().appending(name)
        found.put(path.text, try? FileStatus(of: path, followsLast: false))
      }
      return true
    case .folder:
      guard let held = HeldFolder(place, followsLast: false), held.tellsOfNames else {
        return false
      }
      for name in [UploadManifest.fileName, UploadJournal.fileName] {
        found.putPresent("\(folder)/\(name)", held.status(of: name))
      }
      return found.put(inputs: held, folder, level: 0, stem: stem)
    case .link, .other: return false
    }
  }

  /// Places and what was found there.
  private struct Looks {
    private(set) var found: [(path: String, status: FileStatus?)] = []
    private(set) var isSettled = true
    private let now: Int64
    private var files = 0

    /// More files of a capture, or published files, than this are looked at by listing their folders.
    private static let mostFiles = 256
    /// Number of levels that an `InputListing` has.
    private static let mostInputLevels = 6

    /// - Parameter now: nothing may have changed within the two seconds before it.
    init(_ now: Int64) { self.now = now }

    mutating func put(_ path: String, _ status: FileStatus?) {
      found.append((path, status))
      if let status, !status.stamp.isSettled(nowNanoseconds: now) { isSettled = false }
    }

    /// Adds the stamp of an existing entry. An absent one is covered by the stamp of its folder.
    mutating func putPresent(_ path: String, _ status: FileStatus?) {
      if let status { put(path, status) }
    }

    /// All published files of a stage. `false`: too many, or not to be entered.
    mutating func put(below folder: HeldFolder, _ path: String) -> Bool {
      guard let entries = try? folder.list() else { return false }
      for (name, kind) in entries {
        let inner = "\(path)/\(name)"
        files += 1
        guard files <= Self.mostFiles, let status = folder.status(of: name) else { return false }
        put(inner, status)
        guard kind == .folder else { continue }
        guard let held = folder.below(name), put(below: held, inner) else { return false }
      }
      return true
    }

    /// The files of a capture, and the folders that they lie in. `false`: too many, not to be entered, or links, which
    /// lead to files whose changes these looks do not tell.
    mutating func put(inputs folder: HeldFolder, _ path: String, level: Int, stem: String?) -> Bool
    {
      guard let entries = try? folder.list() else { return false }
      for (name, kind) in entries {
        if level == 0, let stem, !name.utf8.starts(with: stem.utf8) { continue }
        if IgnoredFiles.contains(name) || kind == .other { continue }
        let inner = "\(path)/\(name)"
        files += 1
        guard kind != .link, files <= Self.mostFiles, let status = folder.status(of: name) else {
          return false
        }
        put(inner, status)
        guard kind == .folder else { continue }
        guard level < Self.mostInputLevels, let held = folder.below(name),
          put(inputs: held, inner, level: level + 1, stem: nil)
        else { return false }
      }
      return true
    }
  }
}
