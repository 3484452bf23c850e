import SystemPackage

/// Shell scripts that take the place of programs in tests.
public enum ShellScript {
  struct NotWritten: Error { let path: FilePath }

  /// Writes an executable script. Another process writes it: while this one had the file open, a program that
  /// another test starts at that moment would inherit it, and the script could not be started ("Text file busy").
  public static func write(_ text: String, to path: FilePath) throws {
    let writing = try Running(
      "/bin/sh", ["-c", #"printf '%s' "$0" > "$1" && chmod 755 "$1""#, text, path.string])
    guard try writing.finish().status == 0 else { throw NotWritten(path: path) }
  }
}
