#if canImport(Glibc)
  import Glibc
#endif

/// The temporary name of a file that will replace another one in the same folder:
/// `.NAME.<home>-<process>.new`.
public enum Replacement {
  static func name(of name: String) -> String {
    ".\(name).\(ProcessHome.current)-\(getpid()).new"
  }

  /// Whether `found` is an unfinished replacement of `name` whose writer has ended. Files of other
  /// machines count as abandoned if `isOld`.
  public static func isAbandoned(_ found: String, of name: String, isOld: Bool) -> Bool {
    guard found.hasPrefix(".\(name)."), found.hasSuffix(".new"),
      found.utf8.count > name.utf8.count + 6
    else { return false }
    let who = found.dropFirst(name.count + 2).dropLast(4).split(
      separator: "-", omittingEmptySubsequences: false)
    guard who.count == 2, let process = Int32(who[1]) else { return false }
    return who[0] == ProcessHome.current ? !ProcessHome.isAlive(process) : isOld
  }
}
