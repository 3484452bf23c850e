import Captures
import Core
import SystemPackage

/// The type of a folder's file system.
public enum FileSystemName {
  /// For example `ext4`, from this process's mount table; `unknown` if not found.
  public static func of(_ folder: FilePath) -> String {
    guard let path = PathSafety.resolved(folder) else { return "unknown" }
    return find(path.text, inMounts: MachineDescription.text("/proc/self/mounts")) ?? "unknown"
  }

  /// Searches lines `device place kind options 0 0` for the last one with the longest mount point
  /// that contains the path. Blanks in mount points are written `\040`.
  static func find(_ path: String, inMounts text: String) -> String? {
    var best: (length: Int, kind: String)?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2 else { continue }
      let place = words[1].split(separator: "\\040", omittingEmptySubsequences: false)
        .joined(separator: " ")
      let isAround = place == "/" || path == place || path.hasPrefix(place + "/")
      if isAround, place.utf8.count >= best?.length ?? 0 {
        best = (place.utf8.count, String(words[2]))
      }
    }
    return best?.kind
  }
}
