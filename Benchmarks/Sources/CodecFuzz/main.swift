import Captures
import Media
import Foundation
import Core
import SystemPackage

/// Reads damaged files, thousands of them, and ends with 0 if every one was read or refused:
///
///     CodecFuzz lzfse|exr|zip|npy|png SEEDS ROUNDS SEED     files of that kind in the folder SEEDS
///     CodecFuzz captures SEEDS ROUNDS SEED                  captures in SEEDS, whose files are damaged in place
///
/// `.ci/fuzz` makes the seeds, builds this with the address sanitizer and calls it. The last damaged file
/// is `last-KIND` beside SEEDS; captures are put back after each round, so that a crash leaves the one that
/// caused it.
struct Fuzz {
  let seeds: FilePath
  let rounds: Int
  var mutations: Mutations
  private(set) var readable = 0
  private(set) var refused = 0
  private(set) var slowest = Duration.zero
  /// More than any damaged file of some kilobytes may take, also with the sanitizer on a busy machine.
  static let mostSeconds = Duration.seconds(60)

  init(seeds: FilePath, rounds: Int, seed: UInt64) {
    (self.seeds, self.rounds, mutations) = (seeds, rounds, Mutations(seed: seed))
  }

  /// `body` says whether it could read the bytes.
  private mutating func round(_ body: () -> Bool) {
    let clock = ContinuousClock()
    let time = clock.measure {
      if body() { readable += 1 } else { refused += 1 }
    }
    slowest = max(slowest, time)
  }

  // MARK: Codecs

  mutating func lzfse() throws {
    for index in 0..<rounds {
      let samples = LZFSESamples.all
      let sample = samples[index % samples.count]
      let bytes = mutations.damaged(
        sample.stream, other: samples[mutations.below(samples.count)].stream)
      let count = [sample.content.count, sample.content.count, 0, 1, 70_000][mutations.below(5)]
      try note(bytes, "lzfse")
      round {
        var output = [UInt8](repeating: 0, count: count)
        var elements = output.mutableSpan
        var target = elements.mutableBytes
        return (try? LZFSE.decode(bytes.span.bytes, into: &target)) != nil
      }
    }
  }

  mutating func codec(_ kind: String) throws {
    let files = try Self.files(in: seeds).filter { $0.extension == kind }.map {
      try InputFile($0).whole(limit: InputLimits.bytesOfPicture)
    }
    guard !files.isEmpty else { throw FuzzFailure(what: "no files *.\(kind) in \(seeds)") }
    for index in 0..<rounds {
      var bytes = mutations.damaged(
        files[index % files.count], other: files[mutations.below(files.count)])
      // Else no damage gets beyond the checksums.
      if kind == "png", index % 4 != 0 { bytes = Mutations.mendingPNG(bytes) }
      let path = try note(bytes, kind)
      round { Self.read(bytes, path, kind) }
    }
  }

  private static func read(_ bytes: [UInt8], _ path: FilePath, _ kind: String) -> Bool {
    switch kind {
    case "exr":
      guard let picture = try? EXRReader.picture(in: bytes) else { return false }
      return picture.values.count == picture.width * picture.height
    case "npy": return (try? NPYReader.depth(in: bytes)) != nil
    case "png":
      // What is copied into results must be what was decoded.
      let depth = try? PNGReader.storedDepth(in: bytes)
      let gray = try? PNGReader.storedGray(in: bytes)
      if let depth {
        _ = PNGReader.bareGray16(bytes, width: depth.width, height: depth.height)
      }
      if let gray { _ = PNGReader.bareGray8(bytes, width: gray.width, height: gray.height) }
      return depth != nil || gray != nil
    default:
      guard let archive = try? ZIPArchive(MappedFile(path)) else { return false }
      return archive.entries.allSatisfy { (try? archive.content(of: $0, most: 1 << 26)) != nil }
    }
  }

  @discardableResult
  private func note(_ bytes: [UInt8], _ kind: String) throws -> FilePath {
    let path = seeds.removingLastComponent().appending("last-\(kind)")
    try Data(bytes).write(to: URL(filePath: path.string))
    return path
  }

  // MARK: Recognizers and readers

  /// Recognizes, opens and decodes captures of which some files are damaged, doubled, renamed or gone.
  mutating func captures() throws {
    let all = try Self.files(in: seeds)
    guard !all.isEmpty else { throw FuzzFailure(what: "no files in \(seeds)") }
    for _ in 0..<rounds {
      let changes = try (0...mutations.below(3)).map { _ in
        try change(all[mutations.below(all.count)], all[mutations.below(all.count)])
      }
      let seeds = seeds
      round {
        var isWhole = true
        for recognition in CaptureFinder(.builtIn).find(seeds).captures {
          guard let capture = try? CaptureRegistry.builtIn.open(recognition) else {
            isWhole = false
            continue
          }
          let scan = try? StreamScan(capture, budget: CoreBudget(cores: 1))
          isWhole = isWhole && scan?.warnings.isEmpty == true && capture.warnings.isEmpty
        }
        return isWhole
      }
      for undo in changes.reversed() { try undo() }
    }
  }

  /// Damages a file and returns how to put it back.
  private mutating func change(_ path: FilePath, _ other: FilePath) throws -> () throws -> Void {
    let url = URL(filePath: path.string)
    // An earlier change of this round may have moved it.
    guard let bytes = try? Data(contentsOf: url) else { return {} }
    let mend = { try bytes.write(to: url) }
    switch mutations.below(6) {
    case 0:
      try FileManager.default.removeItem(at: url)
      return mend
    case 1:
      let names = [
        "000000.png", "99999999.png", "0", "18446744073709551616.depth", "._x", "metadata",
        "frame_99999.json", "depth_00000.png", "odometry.csv", "a\u{301}", "-1.jpg",
      ]
      let name = names[mutations.below(names.count)]
      let target = URL(filePath: path.removingLastComponent().appending(name).string)
      guard (try? FileManager.default.moveItem(at: url, to: target)) != nil else { return {} }
      return {
        try? FileManager.default.removeItem(at: target)
        try mend()
      }
    default:
      let whole = (try? Data(contentsOf: URL(filePath: other.string))) ?? bytes
      try Data(mutations.damaged(Array(bytes), other: Array(whole))).write(to: url)
      return mend
    }
  }

  private static func files(in folder: FilePath) throws -> [FilePath] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.string).sorted()
      .map { folder.pushing(FilePath($0)) }
      .filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path.string, isDirectory: &isFolder)
          && !isFolder.boolValue
      }
  }
}

struct FuzzFailure: Error {
  var what: String
}

let words = CommandLine.arguments
guard words.count == 5, let rounds = Int(words[3]), let seed = UInt64(words[4]) else {
  print("usage: CodecFuzz lzfse|exr|zip|npy|png|captures SEEDS ROUNDS SEED")
  exit(64)
}
var fuzz = Fuzz(seeds: FilePath(words[2]), rounds: rounds, seed: seed)
switch words[1] {
case "lzfse": try fuzz.lzfse()
case "captures": try fuzz.captures()
case "exr", "zip", "npy", "png": try fuzz.codec(words[1])
default: throw FuzzFailure(what: "no kind '\(words[1])'")
}
print(
  "\(words[1]): \(rounds) damaged files, \(fuzz.readable) of them readable all the same, "
    + "\(fuzz.refused) refused, the slowest took \(fuzz.slowest)")
if fuzz.slowest > Fuzz.mostSeconds { exit(1) }
