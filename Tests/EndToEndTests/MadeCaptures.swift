@testable import Core
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
    for name in try FileSystem.names(in: place) {
      try place.appending(name).copy(to: folder.appending(name))
    }
    var copied = result
    copied.outputBytes = Array(
      result.output.replacing(place.string, with: folder.string).utf8)
    return copied
  }
}

extension Program {
  /// Makes `sample-data/` in a folder, of captures with the names of those that come with the sources, and fewer, smaller
  /// frames: for commands of pages, of which the end is looked at alone.
  static func synthesizeSamples(in folder: FilePath) throws {
    let samples = Fixtures.projectRoot.appending("sample-data")
    for name in try FileSystem.names(in: samples) where name.hasSuffix(".truth") {
      let truth = try samples.appending(name).appending("expected.json").json()
      let family = try #require(truth["family"] as? String)
      try synthesize(
        """
        \(family) --frames 8 --width 160 --height 120 --id \(name.dropLast(".truth".count)) \
        --truth-pictures 0 \(family == "scannet" ? Scene.smallDepth : [])
        """, to: folder.appending("sample-data"))
    }
  }
}

/// What is made when the first of several tests wants it; the others wait for it.
final class Once<Value: Sendable>: Sendable {
  private let made = Mutex<Value?>(nil)

  func value(_ make: () throws -> Value) throws -> Value {
    try made.withLock { made in
      if let made { return made }
      let value = try make()
      made = value
      return value
    }
  }
}

/// What `synthesize` has made, by its words. Read only.
private enum MadeCaptures {
  private typealias Made = Once<(place: FilePath, result: Program.Result)>

  private static let all = Mutex<[[String]: Made]>([:])

  static func made(_ words: [String]) throws -> (place: FilePath, result: Program.Result) {
    let (made, number) = all.withLock { all in
      let made = all[words] ?? Made()
      all[words] = made
      return (made, all.count)
    }
    // Others that want the same wait for it; who wants another does not.
    return try made.value {
      let place = try TemporaryFolder.ofThisProcess().appending("captures-\(number)")
      return (place, try Program.run(words + ["--output", place.string]))
    }
  }
}
