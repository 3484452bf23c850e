import SystemPackage
import Testing

@testable import Benchmarking

@Suite struct MachineTests {
  @Test(
    "The governor is the kernel's word, and unknown where there is none",
    arguments: [("performance\n", "performance"), ("", "unknown"), ("\n", "unknown")])
  func governor(text: String, name: String) {
    #expect(MachineDescription.governor(in: text) == name)
  }

  @Test(
    "More load than half of the cores before the first run is warned about",
    arguments: [(2, 1.0, false), (2, 1.01, true), (64, 30, false), (64, 33, true), (1, 0.6, true)])
  func load(cores: Int, load: Double, isWarned: Bool) {
    let machine = MachineDescription(
      processor: "A", cores: cores, memoryBytes: 1, system: "Linux", loadBefore: load)
    #expect(machine.warnings.isEmpty != isWarned)
    #expect(machine.warnings.allSatisfy { $0.contains("the machine was busy") })
  }

  @Test(
    "The file system is that of the longest place that holds the folder",
    arguments: [
      ("/", "ext4"), ("/homes", "ext4"), ("/home", "xfs"), ("/home/ann/out", "xfs"),
      ("/home/my disk/x", "nfs4"), ("/tmp/x", "overlay"),
    ])
  func fileSystem(path: String, kind: String) {
    let mounts = """
      /dev/a / ext4 rw 0 0
      /dev/b /home xfs rw 0 0
      server:/x /home/my\\040disk nfs4 rw 0 0
      tmpfs /tmp tmpfs rw 0 0
      overlay /tmp overlay rw 0 0
      broken
      """
    #expect(FileSystemName.find(path, inMounts: mounts) == kind)
    #expect(FileSystemName.find(path, inMounts: "") == nil)
    #expect(FileSystemName.of("/nowhere") == "unknown")
  }

  @Test("A report's text names build, peers, governor, load and file system, and warns")
  func text() {
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)])
    #expect(!BenchmarkTable.text(report, quoted: { $0.joined(separator: " ") }).contains("warning"))
    report.build = BuildDescription(
      commit: "abc", swift: "6.3", configuration: "debug", libraries: ["libavcodec": "59.1"])
    report.peers = ["opencv": "5.0.0"]
    report.machine.governor = "powersave"
    report.machine.loadBefore = 1.5
    report.machine.loadAfter = 2.5
    report.machine.fileSystem = "xfs"
    let text = BenchmarkTable.text(report, quoted: { $0.joined(separator: " ") })
    for words in [
      "commit abc · Swift 6.3 · debug build · libavcodec 59.1\n", "compared with opencv 5.0.0\n",
      "governor powersave · load 1.50 before · 2.50 after · outputs on xfs\n",
      "warning: this is a debug build", "warning: the machine was busy",
    ] {
      #expect(text.contains(words), "\(words)")
    }
  }
}
