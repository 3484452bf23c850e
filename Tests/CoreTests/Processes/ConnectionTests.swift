@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Connections between processes")
struct ConnectionTests {
  @Test("A file is given before the bytes; the other end sees when there is nothing more")
  func give() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("log")
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
    let connection = try Connection()
    #expect(!Connection.isReadable(connection.theirs))
    try Connection.give(file, over: connection.ours)
    try connection.ours.writeAll(Array("line\n".utf8))
    try file.close()
    #expect(Connection.isReadable(connection.theirs))
    guard case .file(let given) = try Connection.take(from: connection.theirs) else {
      Issue.record("no file")
      return
    }
    try given.writeAll(Array("written by the other\n".utf8))
    try given.close()
    var lines = LineReader(connection.theirs)
    #expect(lines.next() == Array("line".utf8))
    try connection.ours.close()
    if case .end = try Connection.take(from: connection.theirs) {} else { Issue.record("no end") }
    try connection.theirs.close()
    #expect(LogFile.tail(of: path, lines: 3) == ["written by the other"])
  }

  @Test("A file or a pipe in place of a connection gives bytes only")
  func pipe() throws {
    let pipe = try Pipe()
    try pipe.writing.writeAll([1])
    if case .none = try Connection.take(from: pipe.reading) {} else { Issue.record("a gift") }
    try pipe.writing.close()
    try pipe.reading.close()
  }

  @Test("The kernel reports what a running program uses; an ended one has no signs")
  func signs() throws {
    let child = try ChildProcess(
      ProcessOrder("sh", ["-c", "i=0; while :; do i=$((i+1)); done"]))
    Waiting.until("its use of the processor") {
      (ProcessSigns(of: child.id)?.cpuSeconds ?? 0) > 0.2
    }
    child.kill()
    _ = child.wait()
    #expect(ProcessSigns(of: child.id) == nil)
  }
}
