import FoundationEssentials
import Output
import Runner
import Storage
import SystemPackage

/// What a sender or an upload server says about a capture's folder.
struct UploadMark: Hashable, Sendable {
  /// Everything is there: the family's own rule is not asked, and with `isSettled` no time waited for.
  var isComplete = false
  /// It need not be waited for that nothing changes any more.
  var isSettled = false

  /// Cost: two looks by name; the manifest is read, which is why callers keep what was found as long as
  /// its stamp is the same.
  init(of folder: FilePath) {
    guard let root = try? EnclosedFolder(folder, followsPath: false) else { return }
    if root.stamp(of: StagingNames.complete) != nil { (isComplete, isSettled) = (true, true) }
    guard let file = try? InputFile(StagingNames.manifest, in: root), file.count <= 1 << 24,
      let bytes = try? file.head(file.count),
      let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(bytes)),
      manifest.schema == 1
    else { return }
    if manifest.complete != nil {
      isComplete = true
      isSettled = isSettled || (manifest.files ?? []).allSatisfy { $0.state == "verified" }
    }
    if manifest.processRequested != nil { isSettled = true }
  }

  init() {}

  private struct Manifest: Decodable {
    var schema: Int
    var complete: String?
    var processRequested: String?
    var files: [File]?

    struct File: Decodable {
      var state: String?
    }
  }

  /// Stamps of both files, which tell whether they must be read again.
  static func stamps(in folder: FilePath) -> [FileStamp?] {
    let root = try? EnclosedFolder(folder, followsPath: false)
    return [StagingNames.complete, StagingNames.manifest].map { root?.stamp(of: $0) }
  }

  /// Ids of captures of which an upload server has something on its way. Counts only while a receiver
  /// holds its lock.
  static func onTheirWay(in staging: FilePath) -> Set<String> {
    guard FileLock.isHeld(at: staging.appending(".lock")),
      let open = HeldFolder(staging)?.below(StagingNames.incoming)
    else { return [] }
    struct Part: Decodable {
      var capture: String
    }
    return Set(
      open.entries().filter { $0.kind == .file && $0.name.hasSuffix(".json") }.compactMap {
        open.stampedContents(of: $0.name, limit: 1 << 20).flatMap {
          try? JSONDecoder().decode(Part.self, from: Data($0.bytes)).capture
        }
      })
  }
}
