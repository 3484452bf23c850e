import Engine
import Core
import SystemPackage

extension Removable {
  /// What `clean` would remove or has removed.
  ///
  /// - Parameters:
  ///   - root: the output folder; paths are relative to it.
  ///   - locked: captures that were skipped because another process works on them, and that
  ///     process.
  public static func text(
    _ items: [Removable], in root: FilePath, locked: [String: String], isDone: Bool
  ) -> String {
    var table = TextTable()
    var total = FolderSize()
    for item in items {
      total += item.size
      table.add([ByteCount.text(item.size.bytes), relative(item.path, root), item.kind.words])
    }
    var lines = items.isEmpty ? [] : [table.text]
    for (capture, holder) in locked.sorted(by: { $0.key < $1.key }) {
      lines.append("\(capture): left alone, locked by \(holder)")
    }
    let sum =
      "\(ByteCount.text(total.bytes)) in \(Plural.text(total.files, "file"))"
    if items.isEmpty {
      lines.append("nothing to remove")
    } else {
      lines.append(isDone ? "removed \(sum)" : "\(sum) would be removed; add --yes to remove them")
    }
    return lines.joined(separator: "\n")
  }

  private static func relative(_ path: FilePath, _ root: FilePath) -> String {
    var path = path
    return path.removePrefix(root) ? path.shown : path.shown
  }
}

extension Removable.Kind {
  fileprivate var words: String {
    switch self {
    case .artifact: "artifact"
    case .intermediate: "intermediate, built again when needed"
    case .failed: "failed attempt"
    case .leftover: "leftover of an earlier run"
    case .run: "events and logs of an old run"
    case .retired: "results of a retired capture"
    }
  }
}
