@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("Programs that we start")
struct ChildProcessTests {
  @Test(
    "How a program ended is told as it was",
    arguments: [
      ("exit 0", ProcessEnd.Way.exited(0), "exited with code 0"),
      ("exit 3", .exited(3), "exited with code 3"),
      ("kill -SEGV $$", .killed(signal: 11), "was ended by SIGSEGV"),
      (
        "kill -KILL $$", .killed(signal: 9), "was ended by SIGKILL (most likely for want of memory)"
      ),
    ])
  func ends(script: String, way: ProcessEnd.Way, phrase: String) throws {
    let end = try ChildProcess(ProcessOrder("sh", ["-c", script])).wait()
    #expect(end.way == way)
    #expect(end.phrase == phrase)
    #expect(end.isSuccess == (way == .exited(0)))
    #expect(end.peakMemoryBytes > 0)
  }

  @Test("Output, errors, environment and working folder go where they were sent")
  func streams() throws {
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let file = try FileDescriptor.open(
      output, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    var order = ProcessOrder("/bin/sh", ["-c", "pwd; echo \"$COLOR\" >&2"])
    order.environment = ["COLOR": "blue"]
    order.workingFolder = folder.path
    order.output = .descriptor(file)
    order.error = .descriptor(file)
    #expect(try ChildProcess(order).wait().isSuccess)
    try file.close()
    let text = try MappedFile(output).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    #expect(text == "\(folder.path)\nblue\n")
  }

  @Test("A program that cannot be started is an error that names it")
  func notThere() throws {
    let folder = try TemporaryFolder()
    let absent = folder.path.appending("absent")
    #expect(throws: FileError.self) { try ChildProcess(ProcessOrder("no-such-program-9", [])) }
    #expect(throws: FileError.self) { try ChildProcess(ProcessOrder(absent.string, [])) }
    var order = ProcessOrder("true", [])
    order.workingFolder = absent
    #expect(throws: FileError.self) { try ChildProcess(order) }
  }

  @Test("A program that wants more memory than its limit does not get it")
  func memoryLimit() throws {
    // `tail` keeps the last line, which has no end.
    var order = ProcessOrder("tail", ["-n", "1", "/dev/zero"])
    order.dataLimitBytes = 64 << 20
    #expect(try ChildProcess(order).wait().isSuccess == false)
  }

  @Test("A guarded program ends as it would alone, and its end is reported the same")
  func guardedEnds() throws {
    for (script, way) in [
      ("exit 5", ProcessEnd.Way.exited(5)), ("kill -SEGV $$", .killed(signal: 11)),
    ] {
      var order = ProcessOrder("sh", ["-c", script])
      order.isGuarded = true
      #expect(try ChildProcess(order).wait().way == way)
    }
    var absent = ProcessOrder("/no/such/program", [])
    absent.isGuarded = true
    #expect(throws: FileError.self) { try ChildProcess(absent) }
  }

  @Test(
    "What a guarded program has started ends with it",
    arguments: ["terminate", "kill", "by itself"])
  func guardedGroup(way: String) throws {
    let folder = try TemporaryFolder()
    let note = folder.path.appending("pid")
    let rest = way == "by itself" ? "" : "wait"
    var order = ProcessOrder(
      "sh", ["-c", "sleep 1000 & echo $! > \(note).new; mv \(note).new \(note); \(rest)"])
    order.isGuarded = true
    let child = try ChildProcess(order)
    if way != "by itself" {
      Waiting.until("the note") { FileSystem.exists(note) }
      if way == "kill" { child.kill() } else { child.terminate() }
    }
    _ = child.wait()
    let text = try MappedFile(note).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    let inner = try #require(Int32(text.filter(\.isNumber)))
    Waiting.until("the end of what it has started") { kill(inner, 0) != 0 }
  }
}
