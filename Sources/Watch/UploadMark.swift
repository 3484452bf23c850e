import Engine
import Core
import SystemPackage

/// What a sender or an upload server says about a capture's folder, as far as the folder bears it out.
struct UploadMark: Hashable, Sendable {
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
      // One of another size is another file, put there by hand.
      guard let stamp = root.stamp(of: file.name), file.bytes ?? stamp.bytes == stamp.bytes else {
        continue
      }
      waitsFor.append(file.name)
    }
  }

  /// Stamps of all these files, which tell whether they must be read again.
  static func stamps(in folder: FilePath) -> [FileStamp?] {
    let root = try? EnclosedFolder(folder, followsPath: false)
    return [StagingNames.complete, StagingNames.manifest, StagingNames.journal].map {
      root?.stamp(of: $0)
    }
  }
}
