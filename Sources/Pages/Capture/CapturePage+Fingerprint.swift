import Core
import FoundationEssentials
import Engine
import SystemPackage

extension CapturePage {
  /// Must be raised when the same material gives another page.
  private static let version = 1

  /// A digest that changes whenever the page would: records of artifacts, failures, `capture.json`,
  /// triage, and the report about the capture. Pictures and tables are not read: records identify
  /// artifacts.
  ///
  /// Cost: reads small files; the records of long captures are identified by size and modification
  /// time.
  static func fingerprint(_ capture: NightCapture, layout: OutputLayout) -> String {
    let hasher = Digest.Hasher()
    func add(_ text: String) { hasher.update(Array(text.utf8) + [0]) }
    add("\(version) \(PageStyle.capture.text)")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    add((try? encoder.encode(capture)).map { String(decoding: $0, as: UTF8.self) } ?? "")
    guard let folder = HeldFolder(layout.root)?.below(layout.name) else {
      return hasher.finish().hex
    }
    func add(_ name: String, in place: HeldFolder?, as path: String) {
      guard let place, let stamp = place.stamp(of: name) else { return }
      if stamp.bytes <= largestRead,
        let bytes = place.stampedContents(of: name, limit: largestRead)?.bytes
      {
        add("\(path) \(Digest(of: bytes).hex)")
      } else {
        add("\(path) \(stamp.bytes) \(stamp.modifiedNanoseconds) \(stamp.inode)")
      }
    }
    add(OutputNames.document, in: folder, as: OutputNames.document)
    add(TriageRecord.fileName, in: folder.below(OutputNames.notes), as: "triage")
    for entry in ((try? folder.list()) ?? []).sorted(by: { $0.name < $1.name })
    where entry.kind == .folder && !entry.name.hasPrefix(".") {
      add(ArtifactRecord.fileName, in: folder.below(entry.name), as: entry.name)
    }
    for (holder, file) in [
      ("\(OutputNames.notes)/\(OutputNames.removed)", nil),
      (OutputNames.failed, OutputNames.failure),
    ] {
      let place = folder.below(holder)
      for entry in ((try? place?.list()) ?? []).sorted(by: { $0.name < $1.name }) {
        if let file {
          add(file, in: place?.below(entry.name), as: "\(holder)/\(entry.name)")
        } else if entry.kind == .file {
          add(entry.name, in: place, as: "\(holder)/\(entry.name)")
        }
      }
    }
    return hasher.finish().hex
  }

  private static let largestRead = 1 << 20
}
