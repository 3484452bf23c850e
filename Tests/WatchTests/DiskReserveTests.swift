@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Watch

@Suite("Room for the next page on a disk that is full")
struct DiskReserveTests {
  private static let mib: Int64 = 1 << 20

  @Test("Files twice and a margin, no more than 64 MiB and a sixteenth of the disk")
  func wanted() {
    for (files, total, wanted) in [
      (0, 1000, 4), (3, 1000, 10), (100, 10_000, 64), (3, 80, 5), (Int64.max >> 20, 10_000, 64),
    ] as [(Int64, Int64, Int64)] {
      let found = DiskReserve.wantedBytes(files: files * Self.mib, totalBytes: total * Self.mib)
      #expect(found == wanted * Self.mib, "\(files) of \(total)")
    }
  }

  private static func file(_ output: FilePath) -> FilePath {
    output.appending(".scanmill").appending("reserve")
  }

  private static func made() throws -> (TemporaryFolder, DiskReserve) {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending(".scanmill"))
    return (folder, DiskReserve(output: folder.path))
  }

  private static let roomy = FreeSpaceRule(bytes: 1000 * mib, totalBytes: 4000 * mib)

  @Test("It is given up for what finds the disk full, taken again afterwards, and goes at the end")
  func givenUp() throws {
    let (folder, reserve) = try Self.made()
    let file = Self.file(folder.path)
    #expect(reserve.take(of: Self.roomy, nowSeconds: 0))
    #expect(reserve.heldBytes == DiskReserve.marginBytes)
    #expect(FileStamp(of: file)?.bytes == DiskReserve.marginBytes)
    #expect(!reserve.take(of: Self.roomy, nowSeconds: 1))
    var tries = 0
    let written: Bool = try reserve.writing {
      tries += 1
      if FileSystem.exists(file) { throw FileError(.noSpace, path: file, operation: "write") }
      // Nobody takes it while it is used.
      #expect(!reserve.take(of: Self.roomy, nowSeconds: 2))
      return true
    }
    #expect(written && tries == 2)
    #expect(reserve.take(of: Self.roomy, nowSeconds: 3))
    reserve.giveUp()
    #expect(!FileSystem.exists(file))
  }

  @Test("Other trouble does not give it up; without it the first error stands")
  func kept() throws {
    let (folder, reserve) = try Self.made()
    let full = FileError(.noSpace, path: folder.path, operation: "write")
    #expect(throws: FileError.self) { try reserve.writing { throw full } }
    #expect(reserve.using { 1 } == nil)
    _ = reserve.take(of: Self.roomy, nowSeconds: 0)
    let other = FileError(.ioError, path: folder.path, operation: "write")
    #expect(throws: FileError.self) { try reserve.writing { throw other } }
    #expect(FileSystem.exists(Self.file(folder.path)))
    #expect(reserve.using { 1 } == 1)
  }

  @Test("What is free is taken where not all of it is")
  func partial() throws {
    let (_, reserve) = try Self.made()
    let nearly = FreeSpaceRule(bytes: 1 * Self.mib, totalBytes: 4000 * Self.mib)
    #expect(reserve.take(of: nearly, nowSeconds: 0))
    #expect(reserve.heldBytes == 1 * Self.mib)
    #expect(reserve.take(of: Self.roomy, nowSeconds: 1))
    #expect(reserve.heldBytes == DiskReserve.marginBytes)
  }
}
