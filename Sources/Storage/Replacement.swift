#if canImport(Glibc)
  import Glibc
#endif

/// The name of a file while it is written beside the one that it will replace:
/// `.NAME.<home>-<process>.new`.
public enum Replacement {
  static func name(of name: String) -> String {
    ".\(name).\(ProcessHome.current)-\(getpid()).new"
  }

  /// Whether `found` is an unfinished replacement of `name` whose writer has ended. One of another
  /// machine, or of an earlier build, is taken as abandoned once it is `isOld`.
  public static func isAbandoned(_ found: String, of name: String, isOld: Bool) -> Bool {
    guard found.hasPrefix(".\(name)."), found.hasSuffix(".new"),
      found.utf8.count > name.utf8.count + 6
    else { return false }
    let who = found.dropFirst(name.count + 2).dropLast(4).split(
      separator: "-", omittingEmptySubsequences: false)
    switch who.count {
    case 1: return Int32(who[0]) != nil && isOld
    case 2:
      guard let process = Int32(who[1]) else { return false }
      if who[0] == ProcessHome.current { return !ProcessHome.isAlive(process) }
      return isOld
    default: return false
    }
  }
}
