import SystemPackage
import Testing

@testable import Cluster

@Suite("Profile and command line")
struct ProfileOverrideTests {
  @Test("The command line goes before the profile, key by key")
  func keys() throws {
    let file = try ProfileReaderTests.read(ProfileReaderTests.whole)
    #expect(file.overridden(by: ClusterProfile()) == file)
    #expect(ClusterProfile().overridden(by: file) == file)
    var line = ClusterProfile()
    line.executor = .local
    line.partition = "gpu"
    line.account = "other"
    line.qos = "high"
    line.cpus = 8
    line.memoryBytes = 8_000_000_000
    line.maxMemoryBytes = 64_000_000_000
    line.timeSeconds = 60
    line.maxTimeSeconds = 120
    line.group = .captures(3)
    line.maxRunning = 2
    line.maxQueued = 3
    line.pollSeconds = 1
    line.patienceSeconds = 2
    line.scratch = ClusterProfile.Scratch.none
    line.program = "/other"
    line.setup = ["a"]
    line.extra = ["-b"]
    #expect(file.overridden(by: line) == line)
    var one = ClusterProfile()
    one.cpus = 16
    var expected = file
    expected.cpus = 16
    #expect(file.overridden(by: one) == expected)
  }

  @Test("Who asks for more than the limit of growth lifts it")
  func limits() {
    var file = ClusterProfile()
    file.maxMemoryBytes = 2
    file.maxTimeSeconds = 3
    var line = ClusterProfile()
    line.memoryBytes = 5
    line.timeSeconds = 7
    let both = file.overridden(by: line)
    #expect(both.maxMemoryBytes == 5 && both.maxTimeSeconds == 7)
  }

  @Test(
    "A group is a number of captures or a duration",
    arguments: [
      ("1", GroupLimit.captures(1)), ("20", .captures(20)), ("10m", .seconds(600)),
      ("1.5h", .seconds(5400)), ("1s", .seconds(1)), ("0", nil), ("-1", nil), ("", nil),
      ("0s", nil), ("10 parsecs", nil), ("1000001", nil), ("9e9", nil),
    ] as [(String, GroupLimit?)])
  func groups(text: String, limit: GroupLimit?) { #expect(GroupLimit(text) == limit) }
}
