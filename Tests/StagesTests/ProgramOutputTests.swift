import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Stages

@Suite("What programs print, kept small")
struct ProgramOutputTests {
  @Test(
    "Both ends are kept and what is between is counted",
    arguments: [
      (5, "abcde"), (10, "abcdefghij"), (20, "abcdefghijklmnopqrst"),
      (26, "abcdefghij\n[... 6 bytes of output left out here ...]\nqrstuvwxyz"),
    ])
  func ends(count: Int, expected: String) throws {
    let folder = try TemporaryFolder()
    let log = LogFile(folder.path.appending("log"))
    let ends = try FileDescriptor.pipe()
    try ends.writeEnd.writeAll("abcdefghijklmnopqrstuvwxyz".utf8.prefix(count))
    try ends.writeEnd.close()
    var output = ProgramOutput(ends.readEnd, log, keeping: 10)
    while output.take(withinMilliseconds: 10) {}
    output.finish()
    try ends.readEnd.close()
    #expect(try log.path.text() == expected)
  }
}
