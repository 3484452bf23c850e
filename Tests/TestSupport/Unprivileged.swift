import Glibc

/// Looks at files as somebody who may not read everything.
public enum Unprivileged {
  private typealias SetUser = @convention(c) (UInt32) -> Int32

  /// Only root can become somebody else; everybody else is somebody else already.
  public static let isPossible = getuid() == 0

  /// Runs `body` as user `nobody` as far as files are concerned: this thread only (`setfsuid`), what
  /// `body` does on other threads not.
  public static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let set = dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: SetUser.self) }
    _ = set?(65534)
    defer { _ = set?(0) }
    return try body()
  }
}
