import Captures
import Core
import Engine
import FoundationEssentials
import SystemPackage

/// What can be told about the uploads of captures by one look: for verbs that look once and do not wait.
public struct UploadEvidence: Sendable, Hashable {
  /// An upload server has something of it on its way, or a transfer's temporary file lies in it.
  public var isArriving = false
  /// The sender or an upload server says that everything is there; the rule of the family is not asked.
  public var isComplete = false
  /// Files that an upload server waits for.
  public var waitsFor: [String] = []
  /// Why the notes of the upload server are not used, with the file; `nil`: they are, or there are none.
  public var problem: String?
  /// The id of the capture that had this one's id first, with other content.
  public var twinOf: String?
  /// Another version of one of its files that a synchronizer has kept, relative to its folder.
  public var conflict: String?

  /// Evidence of an upload of which nothing is known.
  public init() {}

  /// Cost: the notes of an upload server and a listing per capture, and a system call per file.
  public static func of(
    _ captures: [Recognition]
  ) throws(FileError) -> [CaptureLocation: UploadEvidence] {
    let inFolder = Dictionary(grouping: captures, by: \.folder).mapValues(\.count)
    var found: [CaptureLocation: UploadEvidence] = [:]
    for (capture, uploads) in try onTheirWay(captures) {
      let isOneCapture = inFolder[capture.folder] == 1
      var evidence = UploadEvidence()
      evidence.isArriving = uploads.upload(of: capture, isOneCapture: isOneCapture) != nil
      if isOneCapture {
        let mark = UploadMark(of: capture.folder)
        (evidence.isComplete, evidence.waitsFor) = (mark.isComplete, mark.waitsFor)
        evidence.twinOf = mark.twinOf
        if !evidence.isArriving {
          evidence.problem = mark.problem.map {
            "\(capture.folder.appending(UploadManifest.fileName).shown) is not used: \($0.onOneLine)"
          }
        }
      }
      if let signature = FolderSignature(of: capture) {
        evidence.isArriving = evidence.isArriving || signature.isTransferring
        evidence.conflict = signature.conflict
      }
      found[CaptureLocation(capture)] = evidence
    }
    return found
  }

  /// Whether an upload server has something on its way of a capture that is to be processed.
  public static func areArriving(
    _ captures: [Recognition]
  ) throws(FileError) -> Set<CaptureLocation> {
    Set(
      try onTheirWay(captures).filter { $1.upload(of: $0, isOneCapture: true) != nil }
        .map { CaptureLocation($0.0) })
  }

  /// Captures with what an upload server has on its way into the folder around them.
  private static func onTheirWay(
    _ captures: [Recognition]
  ) throws(FileError) -> [(Recognition, IncomingUploads)] {
    var incoming: [FilePath: IncomingUploads] = [:]
    for staging in captures.map({ $0.folder.removingLastComponent() }).uniqued {
      incoming[staging] = try IncomingUploads(into: staging)
    }
    return captures.compactMap { capture in
      incoming[capture.folder.removingLastComponent()].map { (capture, $0) }
    }
  }
}

/// What an upload server has on its way of one capture.
struct IncomingUpload: Hashable {
  /// Bytes that have come.
  var bytes: Int64 = 0
  /// The first temporary file, relative to STAGING.
  var temporaryFile: String?
  /// Identifies what has come so far: it changes with every byte.
  var progress = ""
}

/// What an upload server has on its way into a staging folder, by the id of the capture
/// (`STAGING/.incoming/NAME.json` beside `NAME.part`). Counts only while a receiver holds `STAGING/.lock`.
struct IncomingUploads {
  private var byCapture: [String: IncomingUpload] = [:]

  private static let most = 10_000
  private static let mostBytes = 1 << 16

  /// Throws when they cannot be listed or read: then nothing is known of any capture to be at rest.
  ///
  /// Cost: one system call where no receiver is at work; else a listing and a small file per upload.
  init(into staging: FilePath) throws(FileError) {
    let mark = DeviceErrors.mark
    let lock = staging.appending(IncomingRecord.lockName)
    guard FileLock.isHeld(at: lock),
      let open = try HeldFolder(reading: staging).folder(IncomingRecord.folderName)
    else {
      if let failed = DeviceErrors.since(mark, at: lock).first { throw failed }
      return
    }
    let names = try open.list().filter { $0.kind == .file && $0.name.hasSuffix(".json") }
    for name in names.map(\.name).sorted().prefix(Self.most) {
      guard let bytes = open.stampedContents(of: name, limit: Self.mostBytes)?.bytes,
        let note = try? LooseJSON.decode(
          Note.self, from: bytes, of: staging.appending(IncomingRecord.folderName).appending(name))
      else { continue }
      let file = name.dropLast(".json".count) + ".part"
      let stamp = open.stamp(of: String(file))
      var upload = byCapture[note.capture] ?? IncomingUpload()
      upload.bytes &+= stamp?.bytes ?? 0
      upload.temporaryFile = upload.temporaryFile ?? "\(IncomingRecord.folderName)/\(file)"
      upload.progress += "\(file) \(stamp?.bytes ?? 0) \(stamp?.modifiedNanoseconds ?? 0)\n"
      byCapture[note.capture] = upload
    }
    if let failed = DeviceErrors.since(mark, at: open.path).first { throw failed }
  }

  private struct Note: Decodable { var capture: String }

  var isEmpty: Bool { byCapture.isEmpty }

  /// What is on its way of a capture. A twin (`X~2`) is sent under the id of the first: before it is complete it
  /// is not known of which of them a file will be.
  func upload(of capture: Recognition, isOneCapture: Bool) -> IncomingUpload? {
    if byCapture.isEmpty { return nil }
    var names = [capture.id, capture.path.name].compactMap(\.self)
    if isOneCapture, let folder = capture.folder.name { names.append(folder) }
    return upload(named: names)
  }

  /// What is on its way into a folder in which no capture is recognized yet.
  func upload(into folder: FilePath) -> IncomingUpload? {
    byCapture.isEmpty ? nil : upload(named: [folder.name].compactMap(\.self))
  }

  private func upload(named names: [String]) -> IncomingUpload? {
    for name in names {
      if let found = byCapture[name] { return found }
      if let found = OutputName.twin(of: name).flatMap({ byCapture[$0] }) { return found }
    }
    return nil
  }
}

/// What a sender or an upload server says about a capture's folder, as far as the folder bears it out.
struct UploadMark: Hashable {
  /// Everything is there: the family's own rule is not asked, and with `isSettled` no time waited for.
  var isComplete = false
  /// Whether the upload need not be waited for any longer.
  var isSettled = false
  /// Names, or endings after the stem, of files that an incomplete upload lacks, and of files that are known to be
  /// damaged. They are waited for beside what the family's own rule names.
  var waitsFor: [String] = []
  /// Why the notes of the upload server are not used, in words; the family's own rule decides.
  var problem: String?
  /// The id of the capture that had it first, with other content; `nil`: it is no twin.
  var twinOf: String?

  private static let mostNames = 100

  /// Cost: three looks by name; where there are notes of a server they are read, and each file that they name is looked
  /// at, which is why callers keep what was found as long as nothing in the folder has changed.
  init(of folder: FilePath) {
    guard let root = try? EnclosedFolder(folder, followsPath: false) else { return }
    if root.stamp(of: StagingNames.complete) != nil { (isComplete, isSettled) = (true, true) }
    switch UploadRecord.read(in: root) {
    case .absent: return
    case .damaged(let why): problem = why
    case .record(let record): take(record, root, folder.name ?? "")
    }
  }

  init() {}

  private mutating func take(_ record: UploadRecord, _ root: EnclosedFolder, _ name: String) {
    let twin = OutputName.twin(of: name)
    if let twin, record.capture == nil || record.capture == twin || record.capture == name {
      twinOf = twin
    }
    if record.isProcessRequested { isSettled = true }
    if record.isComplete {
      if let file = record.mismatches.first {
        problem = "it says complete, and that \(file.name) is damaged"
      } else if let contradiction = record.contradiction(in: root) {
        problem = "it says complete, but \(contradiction)"
      } else {
        isComplete = true
        isSettled = isSettled || record.isVerified(in: root)
      }
      return
    }
    let stems = [record.capture, twin, name].compactMap(\.self).filter { !$0.isEmpty }
    for missing in record.missing.prefix(Self.mostNames) {
      let ending =
        stems.first { missing.hasPrefix($0 + ".") }.map { String(missing.dropFirst($0.count)) }
        ?? missing
      let names = ending.hasPrefix(".") ? stems.map { $0 + ending } + [missing] : [missing]
      if names.contains(where: { root.stamp(of: $0) != nil }) { continue }
      if !waitsFor.contains(ending) { waitsFor.append(ending) }
    }
    for file in record.mismatches.prefix(Self.mostNames) where !waitsFor.contains(file.name) {
      // A file of another size is not the one that the receiver compared.
      guard let stamp = root.stamp(of: file.name), file.bytes ?? stamp.bytes == stamp.bytes else {
        continue
      }
      waitsFor.append(file.name)
    }
  }

  /// Stamps of all these files, which tell whether they must be read again.
  static func stamps(in folder: FilePath) -> [FileStamp?] {
    let root = try? EnclosedFolder(folder, followsPath: false)
    return [StagingNames.complete, UploadManifest.fileName, UploadJournal.fileName].map {
      root?.stamp(of: $0)
    }
  }
}
