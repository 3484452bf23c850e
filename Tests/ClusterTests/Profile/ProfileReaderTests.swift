@testable import Engine
import SystemPackage
import Testing

@testable import Cluster

@Suite("Reading profiles")
struct ProfileReaderTests {
  static func read(_ text: String) throws(PipelineError) -> ClusterProfile {
    try ProfileReader.read(text, file: "lab.yaml")
  }

  /// The one of the specification.
  static let whole = """
    schema: 1
    executor: slurm
    slurm:                       # every key optional
      partition: cpu
      account: lab3d
      qos: normal
      cpus: 4
      memory: 4GB
      maxMemory: 32GB
      time: 30m
      maxTime: 12h
      group: 10m
      maxRunning: 64
      maxQueued: 1000
      poll: 15s
      patience: 15m
      scratch: intermediates
      program: /lab/bin/scanmill
      setup: ["module load ffmpeg/5.1"]
      extra: ["--constraint=avx2", -L, matlab]
    """

  @Test("Every key of the specification is read")
  func whole() throws {
    let profile = try Self.read(Self.whole)
    #expect(profile.executor == .slurm && profile.scratch == .intermediates)
    #expect(profile.partition == "cpu" && profile.account == "lab3d" && profile.qos == "normal")
    #expect(profile.cpus == 4)
    #expect(profile.memoryBytes == 4_000_000_000 && profile.maxMemoryBytes == 32_000_000_000)
    #expect(profile.timeSeconds == 1800 && profile.maxTimeSeconds == 43200)
    #expect(profile.group == .seconds(600))
    #expect(profile.maxRunning == 64 && profile.maxQueued == 1000)
    #expect(profile.pollSeconds == 15 && profile.patienceSeconds == 900)
    #expect(profile.program == "/lab/bin/scanmill")
    #expect(profile.setup == ["module load ffmpeg/5.1"])
    #expect(profile.extra == ["--constraint=avx2", "-L", "matlab"])
  }

  @Test(
    "Every key may be left out",
    arguments: [
      "schema: 1", "schema: 1\nslurm:\n", "schema: 1\nslurm: {}\n",
      "\u{FEFF}schema: 1\r\nslurm: {}\r\n",
    ])
  func nothing(text: String) throws { #expect(try Self.read(text) == ClusterProfile()) }

  @Test("Whatever is wrong is told with line, column, caret and what was meant")
  func wrong() {
    let error = #expect(throws: PipelineError.self) {
      try Self.read("schema: 1\nslurm:\n  partitoin: cpu\n  memory: 4\n")
    }
    #expect(
      error?.description == """
        lab.yaml:3:3: unknown key 'partitoin', did you mean 'partition'?
            partitoin: cpu
            ^
        lab.yaml:4:11: memory is a size with its unit, such as 4GB, 64MB to 1000TB
            memory: 4
                    ^
        """)
  }

  @Test("All errors of a file come at once, in the order of the file")
  func all() {
    let error = #expect(throws: PipelineError.self) {
      try Self.read(
        """
        shema: 1
        executor: slrum
        slurm:
          cpus: 0
          memory: 2GB
          maxMemory: 1GB
          time: 30s
          maxTime: soon
          group: 0
          poll: {}
          scratch: everything
          program: scanmill
          setup: module load
          extra: [avx2, --array=0-3, "", -t5, --mem=1G]
        """)
    }
    #expect(
      error?.diagnostics.map { "\($0.line):\($0.column) \($0.message)" } == [
        "1:1 unknown key 'shema', did you mean 'schema'?",
        "1:1 'schema: 1' is missing",
        "2:11 executor is local or slurm, did you mean 'slurm'?",
        "4:9 cpus is a whole number, 1 to 1024",
        "6:14 maxMemory is at least memory",
        "7:9 time is a duration with its unit, such as 30min, 1min to 365 days",
        "8:12 maxTime is a duration with its unit, such as 30min, 1min to 365 days",
        "9:10 group is a number of captures, 1 to 1000000, or a duration with its unit, such as "
          + "10min, at least 1s",
        "10:9 a single value is expected here",
        "11:12 scratch is none or intermediates",
        "12:12 program is a whole path, from '/' on, that every node sees",
        "13:10 setup is a list of lines for the shell",
        "14:11 an option of sbatch begins with '-'",
        "14:17 --array is set by scanmill itself",
        "14:30 extra is a list of options of sbatch, none of them empty",
        "14:34 --time is set by the key 'time'",
        "14:39 --mem is set by the key 'memory'",
      ])
  }

  @Test(
    "Values at the ends of their ranges, and beyond",
    arguments: [
      ("cpus: 1", true), ("cpus: 1024", true), ("cpus: 1025", false), ("cpus: -1", false),
      ("cpus: 2.5", false), ("cpus: many", false), ("cpus: 99999999999999999999", false),
      ("memory: 64MB", true), ("memory: 63MB", false), ("memory: 1000TB", true),
      ("memory: 1001TB", false), ("memory: -4GB", false), ("maxMemory: 64MB", true),
      ("memory: 1GB\n  maxMemory: 1GB", true), ("time: 1m", true), ("time: 59s", false),
      ("time: 60s", true), ("time: 8760h", true), ("time: 8761h", false), ("time: 90", false),
      ("time: 2h\n  maxTime: 1h", false), ("time: 1h\n  maxTime: 1h", true),
      ("group: 1", true), ("group: 1000000", true), ("group: 1000001", false), ("group: 1s", true),
      ("group: 999ms", false), ("group: -5", false), ("group: 1.5", false), ("group: ten", false),
      ("maxRunning: 1", true), ("maxRunning: 0", false), ("maxQueued: 1000000", true),
      ("maxQueued: 1000001", false), ("poll: 1s", true), ("poll: 500ms", false), ("poll: 1h", true),
      ("poll: 61min", false), ("patience: 168h", true), ("patience: 169h", false),
      ("scratch: none", true), ("scratch: None", false), ("partition: a,b", true),
      ("partition: a b", false), ("partition: -a", false), ("partition: ''", false),
      ("partition: [a]", false), ("account: \"a\\tb\"", false), ("qos: high", true),
      ("program: /", false), ("program: ''", false), ("program: /a b/c", true), ("setup: []", true),
      ("setup: [a, [b]]", false), ("setup: ['']", false), ("extra: [--nice]", true),
      ("extra: [-C, avx2]", true), ("extra: [-p, x]", false), ("extra: [--wrap=x]", false),
      ("extra: [--requeue]", false), ("extra: ['--exclude=a,b']", true), ("extra: [x]", false),
      ("extra: --nice", false), ("extra: [-x, n1]", false), ("extra: [--exclude, n1]", false),
    ])
  func ranges(line: String, isRight: Bool) {
    let result = Result { () throws(PipelineError) in
      try Self.read("schema: 1\nslurm:\n  \(line)\n")
    }
    switch result {
    case .success: #expect(isRight, "\(line)")
    case .failure(let error): #expect(!isRight && error.diagnostics.count == 1, "\(error)")
    }
  }

  @Test(
    "What is no profile at all is told as well",
    arguments: [
      "", "hello", "- a", "schema: 2", "schema: 1\nslurm: 3", "schema: 1\nslurm: [a]",
      "schema: 1\nexecutor: [slurm]", "schema: 1\n\tslurm: {}", "schema: 1\nschema: 1",
      "schema: 1\nslurm: {cpus: 1, cpus: 2}", "schema: 1\nstages: {}",
      String(repeating: "{a: ", count: 50_000),
    ])
  func documents(text: String) {
    let error = #expect(throws: PipelineError.self) { try Self.read(text) }
    #expect(error?.diagnostics.isEmpty == false)
  }

  @Test("A file cut at any byte is read or refused, never more")
  func cut() {
    let bytes = Array(Self.whole.utf8)
    var refused = 0
    for count in 0..<bytes.count {
      do throws(PipelineError) {
        _ = try Self.read(String(decoding: bytes[..<count], as: UTF8.self))
      } catch {
        refused += error.diagnostics.isEmpty ? 0 : 1
      }
    }
    #expect(refused > bytes.count / 4)
  }

  @Test("The known keys are those that are read")
  func keys() {
    for key in ProfileReader.slurmKeys {
      let error = #expect(throws: PipelineError.self) {
        try Self.read("schema: 1\nslurm: {\(key): {a: b}}")
      }
      #expect(error?.description.contains("unknown key") == false, "\(key)")
    }
  }
}
