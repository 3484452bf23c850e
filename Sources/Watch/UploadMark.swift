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

  /// What an upload server has on its way, by the id of the capture. Counts only while a receiver holds its lock.
  static func onTheirWay(in staging: FilePath) -> [String: IncomingUpload] {
    guard FileLock.isHeld(at: staging.appending(".lock")),
      let open = HeldFolder(staging)?.below(StagingNames.incoming)
    else { return [:] }
    struct Part: Decodable {
      var capture: String
    }
    var found: [String: IncomingUpload] = [:]
    for (name, kind) in open.entries().sorted(by: { $0.name < $1.name })
    where kind == .file && name.hasSuffix(".json") {
      guard let bytes = open.stampedContents(of: name, limit: 1 << 20)?.bytes,
        let part = try? JSONDecoder().decode(Part.self, from: Data(bytes))
      else { continue }
      let file = name.dropLast(".json".count) + ".part"
      let stamp = open.stamp(of: String(file))
      var upload = found[part.capture] ?? IncomingUpload()
      upload.bytes &+= stamp?.bytes ?? 0
      upload.temporaryFile = upload.temporaryFile ?? "\(StagingNames.incoming)/\(file)"
      upload.progress += "\(file) \(stamp?.bytes ?? 0) \(stamp?.modifiedNanoseconds ?? 0)\n"
      found[part.capture] = upload
    }
    return found
  }
}

/// What an upload server has on its way of one capture.
struct IncomingUpload: Hashable, Sendable {
  /// That have come.
  var bytes: Int64 = 0
  /// The first temporary file, relative to STAGING.
  var temporaryFile: String?
  /// Another text whenever another byte has come.
  var progress = ""
}
