@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster

@Suite("The script of a job")
struct BatchScriptTests {
  static func submission(
    program: FilePath, run: FilePath, count: Int = 4, arguments: [String] = []
  ) -> Submission {
    Submission(
      number: 3, name: "scanmill-R-3", comment: "scanmill R", firstElement: 40, count: count,
      throttle: nil, request: JobRequest(cores: 4, memoryBytes: 4_000_000_000, timeSeconds: 2400),
      runFolder: run, output: "/lab/out", program: program, arguments: arguments)
  }

  /// What `/bin/sh` makes of a script: code and output.
  static func run(_ script: String) throws -> (ProcessEnd.Way, [UInt8]) {
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let file = try FileDescriptor.open(
      output, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
    var order = ProcessOrder("/bin/sh", [])
    let input = try MemoryFile.of(PathText.bytes(of: script))
    defer { try? input.close() }
    order.input = .descriptor(input)
    order.output = .descriptor(file)
    let end = try ChildProcess(order).wait()
    try file.close()
    return (
      end.way,
      try MappedFile(output).withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
    )
  }

  @Test("It is as the specification shows it")
  func literal() {
    let submission = Self.submission(program: "/lab/bin/scanmill", run: "/lab/out/runs/RUN")
    #expect(
      BatchScript.text(submission, setup: ["module load ffmpeg/5.1"]) == """
        #!/bin/sh
        set -e
        trap '' USR2
        module load ffmpeg/5.1
        exec '/lab/bin/scanmill' element '/lab/out/runs/RUN' 40

        """)
    let single = Self.submission(
      program: "/lab/bin/scanmill", run: "/lab/out/runs/RUN", count: 0,
      arguments: ["conclude", "/lab/out/runs/RUN"])
    #expect(
      BatchScript.text(single, setup: [])
        == "#!/bin/sh\nset -e\nexec '/lab/bin/scanmill' conclude '/lab/out/runs/RUN'\n")
  }

  @Test(
    "The program gets every word as it is, whatever is in it",
    arguments: [
      "plain", "two words", "it's", "'", "''", "\"", "\\", "a\\'b", "new\nline", "tab\there",
      "$HOME",
      "`id`", "$(id)", "*", "~", "!x", "#", "&", ";", "", "-n", "Raum Ü'́", "%A_%a", "a\u{10FFFF}b",
    ])
  func words(word: String) throws {
    let folder = "/lab/out \(word)/runs/R"
    let submission = Self.submission(
      program: "/usr/bin/printf", run: FilePath(text: folder), arguments: ["%s\\0", word])
    let (way, bytes) = try Self.run(BatchScript.text(submission, setup: []))
    let expected = [word, "element", FilePath(text: folder).text, "40"]
    #expect(way == .exited(0))
    #expect(bytes == expected.flatMap { PathText.bytes(of: $0) + [0] })
  }

  @Test("Lines before it are of the same shell, and the first that fails ends it")
  func setup() throws {
    let submission = Self.submission(
      program: "/usr/bin/printenv", run: "/r", count: 0, arguments: ["A"])
    let (way, bytes) = try Self.run(BatchScript.text(submission, setup: ["A=1", "export A"]))
    #expect(way == .exited(0) && bytes == Array("1\n".utf8))
    let (failed, nothing) = try Self.run(
      BatchScript.text(submission, setup: ["export A=1", "false", "echo on"]))
    #expect(failed == .exited(1) && nothing.isEmpty)
  }

  @Test("The shell becomes the program: signals that reach it reach the program")
  func exec() throws {
    let submission = Self.submission(
      program: "/bin/sh", run: "/r", count: 0,
      arguments: ["-c", "echo $$ $PPID; ps -o ppid= -p $$"])
    let (_, bytes) = try Self.run(BatchScript.text(submission, setup: ["echo $$ $PPID"]))
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.count >= 2 && lines[0] == lines[1])
  }
}
