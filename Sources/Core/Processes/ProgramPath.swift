import SystemPackage
import Glibc

/// Where executable files are.
public enum ProgramPath {
  /// The executable file of this process.
  public static var ofThisProgram: FilePath? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map {
        readlink("/proc/self/exe", $0.assumingMemoryBound(to: CChar.self), bytes.count)
      } ?? 0
    }
    guard count > 0 else { return nil }
    return FilePath(text: PathText.text(of: buffer.prefix(count)))
  }

  /// `path` if it still is the file `known`, else a path of this process's own executable that
  /// survives its replacement. A program that is upgraded while it runs keeps starting the old one.
  public static func lasting(_ path: FilePath, known: FileIdentity?) -> FilePath {
    (try? FileIdentity(of: path)) == known ? path : "/proc/self/exe"
  }

  /// A name without `/` is searched in the folders of `PATH`; a path is returned unchanged.
  public static func find(_ program: String) throws(FileError) -> FilePath {
    if program.contains("/") { return FilePath(text: program) }
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    if let found = find(program, in: search.split(separator: ":")) { return found }
    throw FileError(
      kind: .notFound, path: FilePath(text: program), operation: "start",
      reason: "no such program in PATH", remedy: "install it or give its whole path")
  }

  /// The first file of this name in folders that this user may execute.
  public static func find(_ program: String, in folders: [Substring]) -> FilePath? {
    folders.lazy.map { FilePath(text: String($0)).appending(program) }.first {
      $0.withPlatformString { access($0, X_OK) } == 0 && !FileSystem.isFolder($0)
    }
  }
}
