import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

extension Program {
  /// Runs `synthesize` once for all tests of the process that want the same capture, and copies it to where this one
  /// wants it: rendering takes longer than most of what tests do with a capture.
  ///
  /// - Parameter arguments: `synthesize` and its words, with `--output FOLDER` among them.
  /// - Returns: as `run` does; the paths that are printed are those of the copies.
  static func runOnce(_ arguments: [String]) throws -> Result {
    guard let at = arguments.firstIndex(of: "--output"), arguments.indices.contains(at + 1) else {
      return try run(arguments)
    }
    let folder = FilePath(arguments[at + 1])
    var words = arguments
    words.removeSubrange(at...(at + 1))
    let (place, result) = try MadeCaptures.made(words)
    guard result.status == 0 else { return try run(arguments) }
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: place.string) {
      try FileManager.default.copyItem(
        atPath: place.appending(name).string, toPath: folder.appending(name).string)
    }
    var copied = result
    copied.outputBytes = Array(
      result.output.replacing(place.string, with: folder.string).utf8)
    return copied
  }
}

/// What `synthesize` has made, by its words. Read only.
private enum MadeCaptures {
  private final class Made: Sendable {
    let result = Mutex<(place: FilePath, result: Program.Result)?>(nil)
  }

  private static let all = Mutex<[[String]: Made]>([:])

  static func made(_ words: [String]) throws -> (place: FilePath, result: Program.Result) {
    let (made, number) = all.withLock { all in
      let made = all[words] ?? Made()
      all[words] = made
      return (made, all.count)
    }
    // Others that want the same wait for it; who wants another does not.
    return try made.result.withLock { found in
      if let found { return found }
      let place = try TemporaryFolder.ofThisProcess().appending("captures-\(number)")
      let result = try Program.run(words + ["--output", place.string])
      found = (place, result)
      return (place, result)
    }
  }
}
