import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A folder shown at a second place by `faultydisk` (Tests/FaultyDisk), where calls fail as asked for. What lies in the
/// folder itself is read and changed without failures. Both go with the value.
final class FaultyDisk {
  /// What failed since the failures were asked for.
  struct Given: Equatable {
    var count: Int
    var first: String
  }

  /// The files as they are.
  let real: FilePath
  /// The files of a disk that fails.
  let place: FilePath
  private let folder: TemporaryFolder
  private let process = Process()
  private let orders = Foundation.Pipe()
  private let answers = Foundation.Pipe()
  private var unread = Data()

  /// Why there is none; empty: there is.
  static let absence: String = {
    var missing: [String] = []
    if getuid() != 0 { missing.append("root") }
    if !FileManager.default.fileExists(atPath: "/dev/fuse") { missing.append("/dev/fuse") }
    if missing.isEmpty {
      // One that was not built is no reason to skip anything.
      do { _ = try FaultyDisk() } catch let trouble as Trouble {
        missing.append("a mount of FUSE (\(trouble.said))")
      } catch {}
    }
    if !missing.isEmpty {
      print("skipped: no \(missing.joined(separator: ", ")): no disk that fails")
    }
    return missing.joined(separator: ", ")
  }()

  /// - Parameter isCaseless: its names keep the case of letters and are not told apart by it.
  init(isCaseless: Bool = false) throws {
    folder = try TemporaryFolder()
    real = folder.path.appending("real")
    place = folder.path.appending("place")
    for path in [real, place] { try FileSystem.makeFolder(path) }
    process.executableURL = URL(
      filePath: Program.path.removingLastComponent().appending("faultydisk").string)
    process.arguments = [real.string, place.string] + (isCaseless ? ["caseless"] : [])
    process.standardInput = orders
    process.standardOutput = answers
    try process.run()
    let answer = try line()
    guard answer == "ready" else { throw Trouble(said: answer) }
  }

  deinit {
    try? orders.fileHandleForWriting.close()
    process.waitForEnd()
  }

  struct Trouble: Error {
    var said: String
  }

  /// Lets calls fail until `heal`.
  ///
  /// - Parameters:
  ///   - pattern: of their paths below `place`, as a shell has them; `**` at its end: all below a folder.
  ///   - times: how many; 0: all.
  ///   - isDone: what was called for is done, and only its answer is an error.
  func fail(
    _ call: String, _ error: Errno, skip: Int = 0, times: Int = 0, isDone: Bool = false,
    at pattern: String
  ) throws {
    let order = isDone ? "lose" : "fail"
    let answer = try ask("\(order) \(call) \(error.rawValue) \(skip) \(times) \(pattern)")
    guard answer == "ok" else { throw Trouble(said: answer) }
  }

  /// Ends the failures.
  @discardableResult
  func heal() throws -> Given {
    let words = try ask("heal").split(separator: " ", maxSplits: 1)
    return Given(
      count: words.first.flatMap { Int($0) } ?? 0, first: words.count > 1 ? String(words[1]) : "")
  }

  /// What was called since the last `heal`: the call and its path.
  func calls() throws -> [(call: String, path: String)] {
    var calls: [(String, String)] = []
    var line = try ask("calls")
    while !line.isEmpty {
      let words = line.split(separator: " ", maxSplits: 1)
      calls.append((String(words[0]), words.count > 1 ? String(words[1]) : ""))
      line = try self.line()
    }
    return calls
  }

  private func ask(_ order: String) throws -> String {
    try orders.fileHandleForWriting.write(contentsOf: Data("\(order)\n".utf8))
    return try line()
  }

  private func line() throws -> String {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread = Data(unread[(end + 1)...]) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = answers.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Trouble(said: "faultydisk ended") }
      unread += more
    }
  }
}
