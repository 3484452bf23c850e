/// Names of files and folders that others leave beside the files of a capture and that no reader opens:
/// they come and go without any meaning for the capture.
public enum IgnoredFiles {
  public static func contains(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return false }
    if first == UInt8(ascii: ".") {
      return dotted.contains(name) || name.hasPrefix("._") || name.hasPrefix(".smbdelete")
        || name.hasPrefix(".nfs")
    }
    return "@Td".utf8.contains(first) && plain.contains(name)
  }

  private static let dotted: Set<String> = [
    ".DS_Store", ".complete", ".upload.json", ".stfolder", ".stignore", ".stversions", ".directory",
    ".Spotlight-V100", ".Trashes", ".fseventsd", ".incoming",
  ]
  private static let plain: Set<String> = ["@eaDir", "Thumbs.db", "desktop.ini"]
}
