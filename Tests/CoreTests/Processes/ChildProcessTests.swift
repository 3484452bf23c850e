import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core

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
    order.output = file
    order.error = file
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

@Suite("Standard error that may have no reader")
struct ErrorOutputTests {
  @Test(
    "Nobody who writes waits for a reader; what is lost is counted, and told where it is missing")
  func withoutReader() throws {
    let pipe = try Pipe()
    let output = ErrorOutput(pipe.writing.rawValue)
    output.tellDropped { "\($0) dropped\n" }
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023)
    let count = 3 * ErrorOutput.mostBytes / (line.count + 1)
    for _ in 0..<count { output.write(line + [UInt8(ascii: "\n")]) }
    #expect(!output.flush(withinSeconds: 0.01))
    // Nothing has moved since: not waited for again.
    #expect(!output.flush(withinSeconds: 1e9))
    var lines = LineReader(pipe.reading)
    var whole = 0
    var told: [UInt8]?
    while told == nil, let next = lines.next() {
      if next == line { whole += 1 } else { told = next }
    }
    #expect(whole * (line.count + 1) >= ErrorOutput.mostBytes - line.count)
    #expect(told == Array("\(count - whole) dropped".utf8))
    output.write(Array("later\n".utf8))
    #expect(lines.next() == Array("later".utf8))
    #expect(output.flush(withinSeconds: 600))
  }

  @Test("Lines of several threads come whole, and those of one in their order")
  func order() async throws {
    let pipe = try Pipe()
    let output = ErrorOutput(pipe.writing.rawValue)
    let (writers, each) = (4, 200)
    await withTaskGroup { group in
      for writer in 0..<writers {
        group.addTask {
          for number in 0..<each { output.write(Array("\(writer) \(number) of \(each)\n".utf8)) }
        }
      }
    }
    var next = [Int](repeating: 0, count: writers)
    var lines = LineReader(pipe.reading)
    for _ in 0..<writers * each {
      let line = lines.next()
      let text = String(decoding: try #require(line), as: UTF8.self)
      let words = text.split(separator: " ")
      let writer = try #require(words.first.flatMap { Int($0) })
      #expect(text == "\(writer) \(next[writer]) of \(each)")
      next[writer] += 1
    }
    #expect(output.flush(withinSeconds: 600))
  }

  @Test("The words of a process are those that the system gave to it")
  func arguments() { #expect(ProgramStart.arguments == CommandLine.arguments) }
}

@Suite("Whether a process gets on, seen from outside")
struct LifeWatchTests {
  private static var limits: LifeWatch.Limits {
    var limits = LifeWatch.Limits()
    limits.silenceSeconds = 60
    limits.spinSeconds = 120
    return limits
  }

  /// What is seen each second of a process, and what it says.
  struct Second {
    var cpuSeconds = 0.0
    var readBytes: Int64 = 0
    var minorFaults: Int64 = 0
    var majorFaults: Int64 = 0
    var waitsForDisk = false
    var isHeard = false
  }

  /// The second at which it is given up, and why; `nil` when it never is.
  private static func end(
    of seconds: Int, stall: Double? = 600, readsCount: Bool = false, step: Double = 1,
    _ second: (Int) -> Second
  ) -> (second: Int, verdict: LifeWatch.Verdict)? {
    var watch = LifeWatch(limits, atSeconds: 1000)
    var signs = ProcessSigns()
    for number in 1...seconds {
      let now = second(number)
      signs.cpuSeconds += now.cpuSeconds
      signs.readBytes += now.readBytes
      signs.minorFaults += now.minorFaults
      signs.majorFaults += now.majorFaults
      signs.waitsForDisk = now.waitsForDisk
      if now.isHeard { watch.hear() }
      let verdict = watch.look(
        atSeconds: 1000 + Double(number) * step, stallSeconds: stall,
        readsAndFaultsCount: readsCount, signs: { signs })
      if let verdict { return (number, verdict) }
    }
    return nil
  }

  @Test("One that waits and says nothing is given up a minute after the stall time")
  func silence() throws {
    let end = try #require(Self.end(of: 2000) { _ in Second() })
    #expect(end.second == 661)
    #expect(end.verdict == .silent(seconds: 661))
    #expect(Self.end(of: 2000, stall: 10) { _ in Second() }?.second == 71)
    // A stage whose own stall time is an hour, and one without any.
    #expect(Self.end(of: 3660, stall: 3600) { _ in Second() } == nil)
    #expect(Self.end(of: 100_000, stall: nil) { _ in Second() } == nil)
  }

  @Test("One that says now and then that it gets on is never given up, however long it takes")
  func steady() {
    #expect(Self.end(of: 20_000) { Second(cpuSeconds: 1.6, isHeard: $0 % 110 == 0) } == nil)
    #expect(Self.end(of: 20_000) { Second(isHeard: $0 % 650 == 0) } == nil)
  }

  @Test(
    "One that computes without progress is given up after two minutes of the clock and of the processor",
    arguments: [(1.6, 120...126), (1.0, 120...126), (0.25, 480...490)])
  func spinning(cores: Double, seconds: ClosedRange<Int>) throws {
    // What it reads and how it uses memory is what looking after itself takes.
    let end = try #require(
      Self.end(of: 600) { _ in Second(cpuSeconds: cores, readBytes: 600, minorFaults: 2) })
    #expect(seconds.contains(end.second), "\(end.second)")
    if case .spinning = end.verdict {} else { Issue.record("\(end.verdict)") }
  }

  @Test("One that reads, or comes to use memory, does not spin; whether that is progress depends")
  func working() {
    let kinds: [(Int) -> Second] = [
      { _ in Second(cpuSeconds: 1, readBytes: 1 << 20) },
      { _ in Second(cpuSeconds: 1, minorFaults: 500) },
      { Second(cpuSeconds: 1, majorFaults: $0 % 30 == 0 ? 1 : 0) },
    ]
    for kind in kinds {
      // A capture that is opened: nothing else tells of progress.
      #expect(Self.end(of: 5000, readsCount: true, kind) == nil)
      // A stage tells of frames.
      #expect(Self.end(of: 5000, kind)?.second == 661)
    }
  }

  @Test("A wait for a disk is no silence for an hour")
  func disk() throws {
    #expect(Self.end(of: 4000) { _ in Second(waitsForDisk: true) } == nil)
    #expect(Self.end(of: 6000) { _ in Second(waitsForDisk: true) } != nil)
  }

  @Test("Time without observation does not count: the machine slept, or this process did")
  func gaps() {
    // Ten looks an hour apart count as fifty seconds.
    #expect(Self.end(of: 100, step: 3600) { _ in Second() } == nil)
    #expect(Self.end(of: 200, step: 3600) { _ in Second() } != nil)
  }

  @Test("Limits can be set by variables; what is no positive number is passed over")
  func variables() {
    let names = (LifeWatch.Limits.silenceVariable, LifeWatch.Limits.spinVariable)
    let set = LifeWatch.Limits([names.0: "2", names.1: "3.5"])
    #expect(set.silenceSeconds == 2 && set.spinSeconds == 3.5)
    for text in ["", "x", "-1", "0", "inf", "nan"] {
      #expect(LifeWatch.Limits([names.0: text, names.1: text]) == LifeWatch.Limits())
    }
  }
}
