import Core
import SystemPackage

/// The journal of a run as its entry was made from it.
struct RunStamp: Hashable, Sendable {
  /// Sizes, times and inodes.
  var text: String
  /// Digest of what is in the files; `nil`: not known.
  var content: Digest?

  private static let files = [OutputNames.run, OutputNames.events]
}

extension RunStamp {
  /// How it is now, without a look inside.
  init(_ id: String, in root: FilePath) {
    let folder = HeldFolder(root)?.below("\(OutputNames.runs)/\(id)")
    text = Self.files.map { name in
      folder?.stamp(of: name).map {
        "\($0.bytes) \($0.modifiedNanoseconds) \($0.changedNanoseconds) \($0.inode)"
      } ?? "-"
    }.joined(separator: ",")
  }

  /// Cost: reading both files.
  static func content(_ id: String, in root: FilePath) -> Digest? {
    let folder = OutputLayout.run(id, in: root)
    var coder = CacheCoder()
    for name in files {
      let digest = try? Digest(ofFileAt: folder.appending(name))
      coder.put(digest?.hex)
    }
    return Digest(of: coder.bytes)
  }
}
