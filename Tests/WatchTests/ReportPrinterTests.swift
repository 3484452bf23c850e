import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("Reports that are made by another process")
struct ReportPrinterTests {
  /// A program in place of ours.
  private static func printer(_ script: String, _ folder: TemporaryFolder) throws -> ReportPrinter {
    let program = folder.path.appending("program")
    try ShellScript.write(
      "#!/bin/sh\necho tried >> \(folder.path)/tries\n\(script)\n", to: program)
    var printer = ReportPrinter(program: program, output: folder.path)
    printer.limits.spinSeconds = 1
    return printer
  }

  @Test("One that computes without end is ended, tried once more, and told with its threads")
  func spinning() throws {
    let folder = try TemporaryFolder()
    let result = try Self.printer("while :; do :; done", folder).json(sinceSeconds: nil)
    #expect(result.bytes.isEmpty)
    let problem = try #require(result.problem)
    #expect(problem.contains("used the processor for"))
    #expect(problem.contains("(program), state "))
    #expect(LogFile.tail(of: folder.path.appending("tries"), lines: 9).count == 2)
  }

  @Test("One that fails or ends well is made once")
  func usual() throws {
    let folder = try TemporaryFolder()
    let good = try Self.printer("echo '{}'", folder).json(sinceSeconds: 60)
    #expect(good.bytes == Array("{}\n".utf8) && good.problem == nil)
    let bad = try Self.printer("echo oh no >&2; exit 3", folder).json(sinceSeconds: 60)
    #expect(bad.problem?.contains("oh no") == true)
    #expect(LogFile.tail(of: folder.path.appending("tries"), lines: 9).count == 2)
  }
}
