import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Which workers may run at a time")
struct AdmissionTests {
  @Test("No more than there are descriptors and threads for; what was short comes back one by one")
  func mostWorkers() {
    let admission = Admission(cores: 8, memoryBytes: 100, mostWorkers: 2)
    let places = (0..<2).compactMap { _ in admission.admit(memoryBytes: 1) }
    #expect(places.count == 2 && admission.admit(memoryBytes: 1) == nil)
    admission.release(places[0])
    #expect(admission.freeWorkers == 1)
    admission.limitToRunning()
    #expect(admission.freeWorkers == 0 && admission.admit(memoryBytes: 1) == nil)
    admission.release(places[1])
    let next = admission.admit(memoryBytes: 1)
    #expect(next.map(places.contains) == false, "places are not given twice")
    admission.allowOneMore()
    #expect(admission.freeWorkers == 1 && admission.admit(memoryBytes: 1) != nil)
    #expect(MachineLimits.workers(forDescriptors: 256) == 60)
    #expect(MachineLimits.workers(forThreads: 64) == 10)
    #expect(MachineLimits.workers >= 1 && MachineLimits.cores >= 1)
  }

  @Test("One may always run, however much it needs")
  func one() throws {
    let admission = Admission(cores: 4, memoryBytes: 100)
    let place = try #require(admission.admit(memoryBytes: 1000))
    #expect(admission.admit(memoryBytes: 0) == nil)
    admission.release(place)
    #expect(admission.admit(memoryBytes: 1000) != nil)
  }

  @Test("The rest of the cores goes to those that started first")
  func shares() throws {
    let admission = Admission(cores: 4, memoryBytes: 300)
    #expect(admission.shares == [:])
    let places = (0..<3).compactMap { _ in admission.admit(memoryBytes: 100) }
    try #require(places.count == 3)
    #expect(admission.shares == [places[0]: 2, places[1]: 1, places[2]: 1])
    admission.release(places[0])
    #expect(admission.shares == [places[1]: 2, places[2]: 2])
  }

  @Test("Never more than cores, never more promised than there is, and all cores are given away")
  func random() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let cores = Int.random(in: 1...9, using: &random)
      let memory = Int64.random(in: 0...100, using: &random)
      let admission = Admission(cores: cores, memoryBytes: memory)
      var running: [Int: Int64] = [:]
      for _ in 0..<40 {
        let needed = Int64.random(in: 0...60, using: &random)
        if let place = admission.admit(memoryBytes: needed) {
          running[place] = needed
        } else {
          // Refused only with a reason.
          #expect(running.count >= cores || running.values.reduce(0, +) + needed > memory)
        }
        #expect(running.count <= cores || cores < 1)
        #expect(running.count == 1 || running.values.reduce(0, +) <= memory)
        let shares = admission.shares
        #expect(shares.keys.sorted() == running.keys.sorted())
        #expect(shares.values.allSatisfy { $0 >= 1 })
        #expect(shares.isEmpty || shares.values.reduce(0, +) == cores)
        if Bool.random(using: &random), let gone = running.keys.randomElement(using: &random) {
          admission.release(gone)
          running[gone] = nil
        }
      }
    }
  }

  @Test("What stages declare is added to what every worker uses; more than can be counted is all")
  func expected() throws {
    func pipeline(_ color: String, _ depth: String) throws -> PipelineDefinition {
      try PipelineReader.read(
        """
        schema: 1
        stages:
          color: {uses: toy-color, resources: {memory: \(color)}}
          depth: {uses: toy-frames, resources: {memory: \(depth)}}
        """, file: "toy.yaml", registry: .toys)
    }
    #expect(
      Admission.expectedMemoryBytes(try pipeline("2GB", "1GB"))
        == Admission.baseMemoryBytes + 3_000_000_000)
    #expect(Admission.expectedMemoryBytes(try pipeline("8999999TB", "8999999TB")) == .max)
  }
}

@Suite("What the control groups leave a process")
struct ControlGroupTests {
  /// A root with `/proc/self/cgroup` and files below `/sys/fs/cgroup`.
  private static func group(
    _ groups: String, _ files: [String: String]
  ) throws -> (ControlGroup, TemporaryFolder) {
    let folder = try TemporaryFolder()
    try Text.write(groups, to: folder.path.appending("proc/self/cgroup"))
    for (name, text) in files {
      try Text.write(
        text + "\n", to: folder.path.appending(FilePath("sys/fs/cgroup/" + name).components))
    }
    return (ControlGroup(root: folder.path), folder)
  }

  @Test(
    "The tightest limit on the way up counts, in both versions and in name spaces",
    arguments: [
      // Version 2: its own, its parent's, that of the mount.
      ("0::/user/job\n", ["user/job/memory.max": "1000", "user/memory.max": "max"], 1000),
      ("0::/user/job\n", ["user/job/memory.max": "max", "user/memory.max": "500"], 500),
      ("0::/user/job\n", ["user/job/memory.max": "900", "user/memory.high": "700"], 700),
      ("0::/\n", ["memory.max": "300"], 300),
      // The path of the host in a container that sees only its own.
      ("0::/docker/abc\n", ["memory.max": "400"], 400),
      ("0::/../..\n", ["memory.max": "450"], 450),
      // Version 1.
      ("5:memory:/a/b\n0::/\n", ["memory/a/memory.limit_in_bytes": "600"], 600),
      // A job of Slurm: the limit is that of the job, two levels above the step's.
      (
        "9:memory:/slurm/uid_0/job_12/step_batch/task_0\n",
        [
          "memory/slurm/uid_0/job_12/memory.limit_in_bytes": "260000000",
          "memory/slurm/uid_0/job_12/step_batch/task_0/memory.limit_in_bytes":
            "9223372036854771712", "memory/memory.limit_in_bytes": "9223372036854771712",
        ], 260_000_000
      ),
      ("5:cpu,memory:/a\n", ["memory/a/memory.limit_in_bytes": "9223372036854771712"], nil),
      ("0::/a\n", ["a/memory.max": "max"], nil), ("", [:], nil), ("nonsense\n", [:], nil),
    ] as [(String, [String: String], Int64?)])
  func memory(groups: String, files: [String: String], bytes: Int64?) throws {
    let (group, folder) = try Self.group(groups, files)
    defer { withExtendedLifetime(folder) {} }
    #expect(group.memoryBytes == bytes)
  }

  @Test("Processors are rounded up, never below one; processes are what is left")
  func others() throws {
    let (group, folder) = try Self.group(
      "0::/a\n",
      [
        "a/cpu.max": "150000 100000", "cpu.max": "max 100000", "a/pids.max": "20",
        "a/pids.current": "15",
      ])
    defer { withExtendedLifetime(folder) {} }
    #expect(group.cores == 2 && group.freeProcesses == 5)
    let (old, other) = try Self.group(
      "3:cpu,cpuacct:/x\n",
      ["cpu/x/cpu.cfs_quota_us": "10000", "cpu/x/cpu.cfs_period_us": "100000"])
    defer { withExtendedLifetime(other) {} }
    #expect(old.cores == 1 && old.freeProcesses == nil)
  }
}

@Suite("The order in which captures are taken up")
struct FinishedFirstTests {
  @Test("Those that earlier runs brought furthest come first, equals in the order given")
  func order() throws {
    let workshop = try Workshop()
    for name in ["a", "b", "c", "d"] { try workshop.add(name) }
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let targets = batch.targets(workshop.findings(["a", "b", "c", "d"]))
    // Nothing done: as given.
    let fresh = Supervisor.finishedFirst(targets, workshop.pipeline)
    #expect(fresh.indices == [0, 1, 2, 3] && fresh.isWorkLikely)
    #expect(workshop.run(captures: ["d"]).exit == 0)
    #expect(workshop.run(.only("color"), captures: ["c"]).exit == 0)
    let later = Supervisor.finishedFirst(targets, workshop.pipeline)
    #expect(later.indices == [3, 2, 0, 1] && later.isWorkLikely)
    #expect(workshop.run(.only("color"), captures: ["a", "b"]).exit == 0)
    #expect(!Supervisor.finishedFirst(targets, workshop.pipeline).isWorkLikely)
  }
}

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
      ("kill -BUS $$", .inputChanged, "input-changed"), ("kill -KILL $$", .killed, "SIGKILL"),
      ("exit 86", .outOfMemory, "MB of memory"), ("exit 3", .programFailed, "exited with code 3"),
      ("echo nonsense", .programFailed, "cannot be understood"),
      ("exec 1>&-; exit 0", .programFailed, "code 0"),
    ] as [(String, FailureDetail.Code, String)])
  func `the end of a process tells what went wrong`(
    _ script: String, _ code: FailureDetail.Code, _ words: String
  ) throws {
    let failure = try #require(Self.failure(script))
    #expect(failure.code == code)
    #expect(failure.description.contains(words))
    #expect(failure.description.hasPrefix("/nowhere: "))
  }

  @Test func `a process that complains without end does not wait for a reader`() throws {
    let failure = try #require(Self.failure("yes complaint | head -c 1000000 >&2; kill -SEGV $$"))
    #expect(failure.code == .crashed)
  }

  @Test func `who takes too long is ended`() throws {
    let process = try InspectionProcess(
      program: "/bin/sh", arguments: ["-c", "exec sleep 1000"], memoryBytes: 1 << 30,
      limits: LifeWatch.Limits())
    let failure = try #require(throws: InspectionFailure.self) {
      try process.ask(InspectionRequest(of: Self.recognition), usualSeconds: 0.1)
    }
    #expect(failure.code == .outOfTime)
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
      #expect(failure.code == .hung && failure.isOurMistake)
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
