import Core
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What a run of the program, with all processes that it starts, asked the kernel about paths and was given:
/// the kernel's own account, by `strace`.
struct Trace {
  /// What was done with a path.
  enum Kind: String, CaseIterable {
    case opened, listed, changed, watched, looked
  }

  struct Touch: Hashable {
    var kind: Kind
    /// Without links.
    var path: String
    var call: String
  }

  var result: Program.Result
  /// Only what worked.
  var touches: Set<Touch>

  /// Where `strace` is; empty where it is not, or where it may not follow programs. Said once.
  static let strace: String = {
    let places = ["/usr/bin/strace", "/usr/local/bin/strace"]
    guard let found = places.first(where: FileManager.default.isExecutableFile) else {
      print("skipped: strace is not here (apt-get install strace): nothing tells what is opened")
      return ""
    }
    let tried = try? Running(FilePath(found), ["-ff", "-o", "/dev/null", "true"], in: nil).finish()
    guard tried?.status == 0 else {
      print("skipped: strace may not follow programs here: nothing tells what is opened")
      return ""
    }
    return found
  }()

  static var isPossible: Bool { !strace.isEmpty }

  /// Runs the program to its end.
  ///
  /// - Parameter folder: of the program; relative paths in what it asks are taken from there.
  init(_ arguments: [String], in folder: FilePath) throws {
    let notes = try TemporaryFolder()
    let calls = "%file,getdents64,getdents,inotify_add_watch,fchmod,fchown,ftruncate"
    result = try Running(
      FilePath(Self.strace),
      [
        "-ff", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=\(calls)", "-o",
        notes.path.appending("t").string, Program.path.string,
      ] + arguments, in: folder
    ).finish()
    // Processes ask alike: each question is looked at once, and none about libraries, of which there are a hundred.
    var lines: Set<Substring> = []
    for name in try FileSystem.names(in: notes.path) {
      let data = try #require(
        notes.path.appending(name).contents)
      lines.formUnion(String(decoding: data, as: UTF8.self).lines)
    }
    let libraries = ["\"/usr/", "\"/lib", "\"/etc/"].map(\.utf8)
    touches = []
    for line in lines where !libraries.contains(where: { line.utf8.contains($0) }) {
      touches.formUnion(Self.touches(in: line, from: folder.string))
    }
  }

  /// The touches of files and folders at and below `places`.
  func touches(below places: [String]) -> [Touch] {
    touches.filter { touch in
      places.contains { touch.path == $0 || touch.path.hasPrefix($0 + "/") }
    }.sorted { ($0.path, $0.call) < ($1.path, $1.call) }
  }

  // MARK: Reading an account

  private static let following: Set<String> = [
    "stat", "statx", "newfstatat", "access", "faccessat", "faccessat2", "statfs", "chdir", "chmod",
    "fchmodat", "truncate", "utimensat", "inotify_add_watch", "execve", "chown", "setxattr",
    "getxattr",
  ]
  private static let looking: Set<String> = [
    "stat", "lstat", "statx", "newfstatat", "access", "faccessat", "faccessat2", "statfs", "chdir",
    "readlink", "readlinkat", "execve", "getxattr", "lgetxattr", "getcwd",
  ]

  /// `openat(3</a>, "b", O_RDONLY) = 4</a/b>`; nothing of a call that failed.
  static func touches(in line: Substring, from folder: String) -> [Touch] {
    guard let open = line.firstIndex(of: "("), let end = line.range(of: " = ", options: .backwards),
      line[end.upperBound...].first.map({ $0.isNumber }) == true
    else { return [] }
    let call = String(line[..<open])
    let arguments = line[line.index(after: open)..<end.lowerBound]
    if call.hasPrefix("open") || call == "creat" {
      let isWriting =
        call == "creat"
        || ["O_WRONLY", "O_RDWR", "O_CREAT"].contains {
          arguments.contains($0)
        }
      return descriptorPaths(line[end.upperBound...]).map {
        Touch(kind: isWriting ? .changed : .opened, path: $0, call: call)
      }
    }
    if call.hasPrefix("getdents") || ["fchmod", "fchown", "ftruncate"].contains(call) {
      return descriptorPaths(arguments).prefix(1).map {
        Touch(kind: call.hasPrefix("getdents") ? .listed : .changed, path: $0, call: call)
      }
    }
    let kind: Kind =
      call == "inotify_add_watch" ? .watched : looking.contains(call) ? .looked : .changed
    // `AT_EMPTY_PATH`: the open thing itself, which may be a link.
    let follows =
      following.contains(call)
      && !["AT_SYMLINK_NOFOLLOW", "AT_EMPTY_PATH"].contains { arguments.contains($0) }
    // What a link says is no path that was asked for.
    let most = call.hasPrefix("readlink") ? 1 : Int.max
    return paths(in: arguments, from: folder).prefix(most).map {
      Touch(kind: kind, path: resolved($0, follows: follows), call: call)
    }
  }

  /// The paths that `-y` writes behind descriptors.
  private static func descriptorPaths(_ text: Substring) -> [String] {
    text.matches(of: /\d+<(\/[^>]*)>/).map { String($0.1) }
  }

  private static func paths(in arguments: Substring, from folder: String) -> [String] {
    arguments.matches(of: /(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/).map { found in
      let path = String(found.2)
      if path.hasPrefix("/") { return path }
      let start = found.1.map(String.init) ?? folder
      return path.isEmpty ? start : start + "/" + path
    }
  }

  /// Links on the way are followed, and one at the end where the call does.
  private static func resolved(_ path: String, follows: Bool) -> String {
    if follows, let real = realpath(path, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    let whole = FilePath(path)
    guard let name = whole.lastComponent, name.kind == .regular,
      let real = realpath(whole.removingLastComponent().string, nil)
    else { return path }
    defer { free(real) }
    return FilePath(String(cString: real)).appending(name).string
  }
}

@Suite struct `What strace says is understood` {
  @Test(arguments: [
    (#"openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>"#, "opened /w/a"),
    (#"openat2(5</w>, "b", {flags=O_PATH, resolve=RESOLVE_BENEATH}, 24) = 3</w/b>"#, "opened /w/b"),
    (#"openat(5</w>, "a", O_WRONLY|O_CREAT, 0666) = 3</out/a>"#, "changed /out/a"),
    (#"openat(5</w>, "a", O_RDONLY) = -1 ENOENT (No such file or directory)"#, ""),
    (#"getdents64(4</w/c>, 0x7f /* 3 entries */, 32768) = 80"#, "listed /w/c"),
    (#"mkdirat(5</absent>, "d", 0777) = 0"#, "changed /absent/d"),
    (#"mkdirat(5</absent>, "d", 0777) = -1 EEXIST (File exists)"#, ""),
    (#"mkdir("d", 0777) = 0"#, "changed /from/d"),
    (#"renameat2(5</x>, "a", 6</y>, "b", RENAME_NOREPLACE) = 0"#, "changed /x/a, changed /y/b"),
    (#"newfstatat(5</x>, "a", {st_mode=S_IFREG}, AT_SYMLINK_NOFOLLOW) = 0"#, "looked /x/a"),
    (#"inotify_add_watch(5<anon_inode:inotify>, "/x/a", IN_CREATE) = 1"#, "watched /x/a"),
    (#"fchmod(5</x/a>, 0644) = 0"#, "changed /x/a"),
    ("+++ exited with 0 +++", ""),
  ])
  func `a line`(_ line: String, _ expected: String) {
    let found = Trace.touches(in: line[...], from: "/from").map { "\($0.kind) \($0.path)" }
    #expect(found.joined(separator: ", ") == expected)
  }
}
