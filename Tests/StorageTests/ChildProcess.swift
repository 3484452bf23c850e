import Glibc

/// A program of the system, as another process.
final class ChildProcess {
  private let id: pid_t
  private var isWaitedFor = false

  struct Failure: Error {
    var code: Int32
  }

  init(_ program: String, _ arguments: [String]) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A process group of its own, so that all of it can be ended.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var child = pid_t()
    let code = posix_spawnp(&child, program, nil, &attributes, &words, environ)
    guard code == 0 else { throw Failure(code: code) }
    id = child
  }

  deinit {
    if !isWaitedFor { kill() }
  }

  /// The exit code.
  func wait() throws -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure(code: errno) }
    }
    isWaitedFor = true
    return (status >> 8) & 0xFF
  }

  /// SIGKILL, to its children too.
  func kill() {
    Glibc.kill(-id, SIGKILL)
    _ = try? wait()
  }

  static func pause() { usleep(10_000) }
}
