import Captures
import Storage
import SystemPackage

/// What kind of file system a folder lies on.
public enum FileSystemName {
  /// Such as `ext4`, from the table of mounts of this process; `unknown` where it cannot be found.
  public static func of(_ folder: FilePath) -> String {
    guard let path = PathSafety.resolved(folder) else { return "unknown" }
    return find(path.text, inMounts: MachineDescription.text("/proc/self/mounts")) ?? "unknown"
  }

  /// Of lines `device place kind options 0 0`, the last one with the longest place that holds the path. Blanks in
  /// places are written `\040`.
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
