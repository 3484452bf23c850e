@testable import Captures
@testable import Core
@testable import Engine
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("A run before anything is written about it")
struct PreparedRunTests {
  @Test("Where a stage is lacking a worker starts before the output exists; dismissed, it is gone")
  func startsEarly() throws {
    let workshop = try Workshop()
    let note = workshop.folder.path.appending("process")
    let prepared = try prepared(workshop, "echo $$ > \(note).new; mv \(note).new \(note); exec cat")
    defer { prepared.dismiss() }
    Waiting.until("a worker without an order") { FileSystem.exists(note) }
    #expect(!FileSystem.exists(workshop.output))
    let process = try #require(Text.read(note)?.split(separator: "\n").first.flatMap { pid_t($0) })
    #expect(kill(process, 0) == 0)
    prepared.dismiss()
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }

  @Test("Where every capture has results none is expected to be needed, also without intermediates")
  func upToDate() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let prepared = try prepared(workshop, "exec cat")
    defer { prepared.dismiss() }
    #expect(!prepared.isWorkLikely && prepared.order == [0])
  }

  /// Of the capture of a workshop, with a script in the place of workers.
  private func prepared(_ workshop: Workshop, _ script: String) throws -> PreparedRun {
    let batch = workshop.batch(Selection(), { $0.cores = 2 }, clock: .system)
    let source = PipelineSource(name: "usual", text: Workshop.usual)
    return Supervisor(batch, source: source, program: "/bin/sh", arguments: ["-c", script])
      .prepare(batch.targets(workshop.findings(["scan"])))
  }
}
