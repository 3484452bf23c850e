@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite struct `Captures looked at by other processes` {
  private static let recognition = Recognition(
    family: .scannet, certainty: .certain, folder: "/nowhere", id: "a", reason: "")

  /// Whatever `script` does in place of an answer.
  private static func failure(_ script: String) -> InspectionFailure? {
    let client = InspectionClient(program: "/bin/sh", arguments: ["-c", script], atOnce: 1)
    do throws(InspectionFailure) {
      _ = try client.ask(InspectionRequest(of: recognition))
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      ("kill -SEGV $$", .crashed, "SIGSEGV"), ("kill -ILL $$", .crashed, "SIGILL"),
      ("kill -ABRT $$", .crashed, "SIGABRT"), ("kill -FPE $$", .crashed, "SIGFPE"),
      ("echo 'out of luck' >&2; kill -TRAP $$", .crashed, "out of luck"),
      ("kill -BUS $$", .inputChanged, "input-changed"), ("kill -KILL $$", .limit, "SIGKILL"),
      ("exit 86", .limit, "MB of memory"), ("exit 3", .other, "exited with code 3"),
      ("echo nonsense", .other, "cannot be understood"), ("exec 1>&-; exit 0", .other, "code 0"),
    ] as [(String, InspectionFailure.Kind, String)])
  func `the end of a process tells what went wrong`(
    _ script: String, _ kind: InspectionFailure.Kind, _ words: String
  ) throws {
    let failure = try #require(Self.failure(script))
    #expect(failure.kind == kind)
    #expect(failure.description.contains(words))
    #expect(failure.description.hasPrefix("/nowhere: "))
  }

  @Test func `a process that complains without end does not wait for a reader`() throws {
    let failure = try #require(Self.failure("yes complaint | head -c 1000000 >&2; kill -SEGV $$"))
    #expect(failure.kind == .crashed)
  }

  @Test func `who takes too long is ended`() throws {
    let process = try InspectionProcess(
      program: "/bin/sh", arguments: ["-c", "exec sleep 1000"], memoryBytes: 1 << 30,
      limits: LifeWatch.Limits())
    let failure = try #require(throws: InspectionFailure.self) {
      try process.ask(InspectionRequest(of: Self.recognition), usualSeconds: 0.1)
    }
    #expect(failure.kind == .limit)
    #expect(failure.description.contains("was stopped"))
  }

  @Test func `one that computes without end or stands still is tried twice`() throws {
    let folder = try TemporaryFolder()
    let tries = folder.path.appending("tries")
    for (way, words) in [
      ("while :; do :; done", "used the processor for"), ("kill -STOP $$", "made no progress for"),
    ] {
      var limits = LifeWatch.Limits()
      limits.spinSeconds = way.contains("STOP") ? 1000 : 1
      // Beyond ten minutes without any sign.
      limits.silenceSeconds = way.contains("STOP") ? -598 : 1000
      let client = InspectionClient(
        program: "/bin/sh", arguments: ["-c", "echo x >> '\(tries)'; \(way)"], atOnce: 1,
        limits: limits)
      let failure = try #require(throws: InspectionFailure.self) {
        try client.ask(InspectionRequest(of: Self.recognition))
      }
      #expect(failure.kind == .stuck && failure.kind.isOurMistake)
      #expect(failure.description.contains(words), "\(failure)")
      #expect(failure.description.contains("(sh)") && failure.description.contains("state "))
      #expect(LogFile.tail(of: tries, lines: 9).count == 2)
      try FileSystem.remove(tries)
    }
  }

  @Test func `a program that is not there is a failure, not a crash`() {
    let client = InspectionClient(program: "/nowhere/at/all", arguments: [], atOnce: 1)
    #expect(throws: InspectionFailure.self) {
      try client.ask(InspectionRequest(of: Self.recognition))
    }
    #expect(throws: CaptureError.self) { try client.look(at: Self.recognition) }
  }
}
