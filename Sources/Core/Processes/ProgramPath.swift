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
    for folder in search.split(separator: ":") {
      let candidate = FilePath(String(folder)).appending(program)
      if candidate.withPlatformString({ access($0, X_OK) }) == 0, !FileSystem.isFolder(candidate) {
        return candidate
      }
    }
    throw FileError(
      kind: .notFound, path: FilePath(text: program), operation: "start",
      reason: "no such program in PATH", remedy: "install it or give its whole path")
  }
}
