import Captures
import FoundationEssentials
import Engine
import Core
import SystemPackage

/// What an upload server has on its way of one capture.
struct IncomingUpload: Hashable, Sendable {
  /// Bytes that have come.
  var bytes: Int64 = 0
  /// The first temporary file, relative to STAGING.
  var temporaryFile: String?
  /// Another text whenever another byte has come.
  var progress = ""
}

/// What an upload server has on its way into a staging folder, by the id of the capture
/// (`STAGING/.incoming/NAME.json` beside `NAME.part`). Counts only while a receiver holds `STAGING/.lock`.
struct IncomingUploads: Sendable {
  private var byCapture: [String: IncomingUpload] = [:]

  private static let most = 10_000
  private static let mostBytes = 1 << 16

  /// Throws when they cannot be listed: then nothing is known of any capture to be at rest.
  ///
  /// Cost: one system call where no receiver is at work; else a listing and a small file per upload.
  init(into staging: FilePath) throws(FileError) {
    guard FileLock.isHeld(at: staging.appending(StagingNames.lock)),
      let open = try HeldFolder(reading: staging).folder(StagingNames.incoming)
    else { return }
    let names = try open.list().filter { $0.kind == .file && $0.name.hasSuffix(".json") }
    for name in names.map(\.name).sorted().prefix(Self.most) {
      guard let bytes = open.stampedContents(of: name, limit: Self.mostBytes)?.bytes,
        let note = try? BoundedJSON.decode(
          Note.self, from: bytes, of: staging.appending(StagingNames.incoming).appending(name))
      else { continue }
      let file = name.dropLast(".json".count) + ".part"
      let stamp = open.stamp(of: String(file))
      var upload = byCapture[note.capture] ?? IncomingUpload()
      upload.bytes &+= stamp?.bytes ?? 0
      upload.temporaryFile = upload.temporaryFile ?? "\(StagingNames.incoming)/\(file)"
      upload.progress += "\(file) \(stamp?.bytes ?? 0) \(stamp?.modifiedNanoseconds ?? 0)\n"
      byCapture[note.capture] = upload
    }
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
