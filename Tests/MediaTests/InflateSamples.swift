@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport

/// Bytes that compress like sensor data: runs, slopes and noise from a fixed seed.
func inflateSample(count: Int, seed: UInt64 = 7) -> [UInt8] {
  var state = seed
  return (0..<count).map { i in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return switch (i / 257) % 3 {
    case 0: UInt8(truncatingIfNeeded: i / 257)
    case 1: UInt8(truncatingIfNeeded: i)
    default: UInt8(truncatingIfNeeded: state >> 40)
    }
  }
}

/// Calls `body` with a mapped file of `bytes`, which is removed afterwards.
func withMappedFile<Result>(
  _ bytes: [UInt8], _ body: (MappedFile) throws -> Result
) throws -> Result {
  let folder = try TemporaryFolder()
  return try body(MappedFile(try folder.write(bytes, to: "file")))
}

extension InflateStream {
  /// Everything that comes out, asked for in pieces of `piece` bytes.
  func readAll(piece: Int) -> [UInt8] {
    var all: [UInt8] = []
    var buffer: [UInt8] = []
    while true {
      let count = read(into: &buffer, count: piece)
      all += buffer[..<count]
      if count < piece { return all }
    }
  }
}
