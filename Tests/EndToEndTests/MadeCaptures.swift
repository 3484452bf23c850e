import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

extension Program {
  /// Runs `synthesize` once for all tests of the process that want the same capture, and copies it to where this one
  /// wants it: rendering takes longer than most of what tests do with a capture. Fails the test where it cannot be made.
  ///
  /// - Parameter words: of `synthesize`, the family first, without `--output`.
  /// - Returns: what was printed, with the paths of the copies.
  @discardableResult
  static func synthesize(_ words: Words, to folder: some CustomStringConvertible) throws -> Result {
    let folder = FilePath("\(folder)")
    let (place, result) = try MadeCaptures.made(["synthesize"] + words.list)
    try #require(result.status == 0, "\(result.errors)")
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: place.string) {
      try place.appending(name).copy(to: folder.appending(name))
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
