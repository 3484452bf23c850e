import Glibc

/// Programs of the system that tests compare with.
enum PeerProgram: String {
  case ffmpeg
  case pngcheck

  /// Whether it is found in `PATH`; says so once when it is not.
  var isInstalled: Bool {
    let found = Self.searchPath.contains { access("\($0)/\(rawValue)", X_OK) == 0 }
    if !found { print("note: \(rawValue) is not installed: comparisons with it are skipped") }
    return found
  }

  private static var searchPath: [String] {
    guard let path = getenv("PATH") else { return [] }
    return String(cString: path).split(separator: ":").map(String.init)
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Runs the program and waits for it. Its texts go nowhere.
  @discardableResult
  func run(_ arguments: [String]) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var words = ([rawValue] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var child = pid_t()
    let status = posix_spawnp(&child, rawValue, &actions, nil, &words, environ)
    guard status == 0 else {
      throw Failure(description: "\(rawValue) cannot be started: \(status)")
    }
    var result: Int32 = 0
    while waitpid(child, &result, 0) < 0 {
      guard errno == EINTR else { throw Failure(description: "\(rawValue) was lost") }
    }
    return result >> 8
  }
}
