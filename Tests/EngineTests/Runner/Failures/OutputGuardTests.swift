@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("An output folder that does not stay where it was")
struct OutputGuardTests {
  @Test("Removed, moved and replaced are told; what was written under its old name stays away")
  func check() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("out")
    #expect(OutputGuard(path) == nil)
    try FileSystem.makeFolder(path)
    let place = try #require(OutputGuard(path))
    try place.check()
    try FileSystem.rename(path, to: folder.path.appending("moved"))
    #expect(#expect(throws: FileError.self) { try place.check() }?.reason.contains("gone") == true)
    try FileSystem.makeFolder(path)
    #expect(
      #expect(throws: FileError.self) { try place.check() }?.reason.contains("something else")
        == true)
    try FileSystem.remove(path)
    try FileSystem.rename(folder.path.appending("moved"), to: path)
    try place.check()
  }

  @Test("Output that goes away while a stage runs is exit 73, and nothing is made in its place")
  func run() throws {
    let workshop = try Workshop()
    try FileSystem.makeFolder(workshop.output)
    let output = workshop.output
    let aside = workshop.folder.path.appending("aside")
    workshop.probe().after("color") { _ in try FileSystem.rename(output, to: aside) }
    let result = workshop.run(.only("color"))
    #expect(result.exit == 73)
    #expect(result["scan"].why.cause == .machine)
    #expect(
      ([result["scan"].why.message] + result["scan"].stages.map(\.why.message)).contains {
        $0?.contains("\(output)") == true
      })
    #expect(!FileSystem.exists(output.appending("scan/color")))
  }
}
