import Captures
import Core
import SystemPackage

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
