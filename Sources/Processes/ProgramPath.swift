import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Where programs are.
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

  /// `path` if the same file as `known` is still there, else this process's own file under a name that
  /// lasts: a program that is replaced while it runs goes on with itself.
  public static func lasting(_ path: FilePath, known: FileIdentity?) -> FilePath {
    (try? FileIdentity(of: path)) == known ? path : "/proc/self/exe"
  }

  /// A name without `/` is looked for in the folders of `PATH`; a path is taken as it is.
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
