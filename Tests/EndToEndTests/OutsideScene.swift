import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A folder with `in/`, `out/` and what must never be touched: `outside-<link>/`, one folder per kind of link.
final class OutsideScene {
  /// What lies in the place of a file or a folder.
  enum Link: String, CaseIterable {
    /// A link to the very thing, moved outside.
    case absolute, relative
    /// A link to a link.
    case twice
    /// A link to a folder that holds it.
    case folder
    /// A link to a name outside that nothing has: what is written through it appears there.
    case dangling
    case loop
    case process, device, pipe

    /// Those that every run of the tests puts in the place of every name; all in `make soak`: tracing takes minutes.
    static let tried = Rounds.isSoak ? allCases : [.absolute, .process]
  }

  let temporary: TemporaryFolder
  /// Without links.
  let folder: FilePath
  private var count = 0

  init() throws {
    temporary = try TemporaryFolder()
    let real = try #require(realpath(temporary.path.string, nil))
    defer { free(real) }
    folder = FilePath(String(cString: real))
    for link in Link.allCases { try FileSystem.makeFolder(outside(link)) }
  }

  func path(_ name: String) -> FilePath { folder.pushing(FilePath(name)) }

  func outside(_ link: Link) -> FilePath { folder.appending("outside-\(link)") }

  /// All that nothing may touch.
  var border: [String] {
    Link.allCases.map { outside($0).string } + ["/dev/zero"]
  }

  /// Puts a link in the place of `path`; what was there, if anything, is moved outside.
  func put(_ link: Link, at path: FilePath) throws {
    count += 1
    let place = outside(link).appending("\(count)")
    try FileSystem.makeFolder(place)
    let name = try #require(path.lastComponent?.string)
    let thing = place.appending(name)
    if FileSystem.exists(path) {
      try FileSystem.rename(path, to: thing)
    } else if link != .dangling {
      try FileSystem.makeFolder(thing)
      try OutputFile.write(Array("outside".utf8), to: thing.appending("outside.txt"))
    }
    try FileSystem.makeFolder(path.removingLastComponent())
    try symlink(to: try target(link, thing, in: place, from: path), at: path)
  }

  private func target(
    _ link: Link, _ thing: FilePath, in place: FilePath, from path: FilePath
  ) throws -> String {
    switch link {
    case .absolute: return thing.string
    case .relative:
      let above = path.components.count - folder.components.count - 1
      let rest = thing.components.dropFirst(folder.components.count).map(\.string)
      return String(repeating: "../", count: above) + rest.joined(separator: "/")
    case .twice:
      try symlink(to: thing.string, at: place.appending("step"))
      return place.appending("step").string
    case .folder: return place.string
    case .dangling: return place.appending("absent").string
    case .loop: return path.lastComponent?.string ?? ""
    case .process: return "/proc/self/environ"
    case .device: return "/dev/zero"
    case .pipe:
      #expect(mkfifo(place.appending("pipe").string, 0o600) == 0)
      return place.appending("pipe").string
    }
  }

  func symlink(to target: String, at path: FilePath) throws {
    try #require(Glibc.symlink(target, path.string) == 0, "\(path) -> \(target)")
  }

  func copy(_ from: FilePath, to place: FilePath) throws {
    try FileSystem.makeFolder(place.removingLastComponent())
    try from.copy(to: place)
  }

  // MARK: What lies outside

  /// Every name outside with its size and time of change.
  func outsideTree() throws -> [String] {
    try Link.allCases.flatMap { link in
      let root = outside(link)
      return try root.namesBelow().map { name in
        var status = stat()
        lstat(root.appending(FilePath(name).components).string, &status)
        return "\(link)/\(name) \(status.st_mode) \(status.st_size) \(status.st_mtim.tv_sec)"
          + " \(status.st_mtim.tv_nsec)"
      }
    }
  }

  // MARK: Runs

  /// What each run touched: by its name and the kind of link.
  private(set) var table: [(verb: String, touches: [String: Set<String>])] = []

  /// Runs the program under `strace`, and expects that it leaves alone what lies outside.
  @discardableResult
  func trace(
    _ verb: String, _ arguments: [String], at location: SourceLocation = #_sourceLocation
  ) throws -> Program.Result {
    let before = try outsideTree()
    let trace = try Trace(arguments, in: folder)
    var touches: [String: Set<String>] = [:]
    let found =
      trace.touches(below: border)
      + trace.touches.filter { $0.path.hasSuffix("/environ") && $0.path.hasPrefix("/proc/") }
    for touch in found {
      let link =
        Link.allCases.first { touch.path.hasPrefix(outside($0).string) }
        ?? (touch.path == "/dev/zero" ? .device : .process)
      touches[link.rawValue, default: []].insert("\(touch.kind)")
    }
    table.append((verb, touches))
    // A look at a name tells what it is, and opens nothing.
    let refused = found.filter { $0.kind != .looked }
    let some = refused.prefix(8).map { "\($0.call) \($0.kind) \($0.path)" }.joined(separator: "\n")
    #expect(
      refused.isEmpty, "\(verb): \(refused.count) touches outside:\n\(some)",
      sourceLocation: location)
    let after = try outsideTree()
    let changed = Set(before).symmetricDifference(after).sorted().prefix(6)
    #expect(
      changed.isEmpty, "\(verb): changed outside: \(changed.joined(separator: "\n"))",
      sourceLocation: location)
    return trace.result
  }

  /// The table of runs and links, for the log of the tests.
  func printTable(_ title: String) {
    let links = Link.allCases.map(\.rawValue)
    print("strace: \(title)")
    print((["verb"] + links).joined(separator: "\t"))
    for (verb, touches) in table {
      let cells = links.map { touches[$0].map { $0.sorted().joined(separator: "+") } ?? "-" }
      print(([verb] + cells).joined(separator: "\t"))
    }
  }
}
