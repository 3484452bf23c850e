import SystemPackage
import TestSupport
import Testing

@testable import Benchmarking
@testable import Core

@Suite("What a benchmark is asked, and whether it could do it")
struct SettingsTests {
  @Test("Jobs are numbers from 0 to 4096, each once")
  func jobs() {
    let cases: [(String, [Int]?)] = [
      ("0", [0]), ("4,1,2,1", [1, 2, 4]), ("4096", [4096]), ("4097", nil), ("-1", nil), ("", nil),
      ("1,", nil), ("1, 2", nil), ("two", nil),
    ]
    for (text, numbers) in cases { #expect(JobNumbers(text)?.numbers == numbers, "'\(text)'") }
  }

  @Test("0 stands for all cores, which is the largest number of jobs unless more are named")
  func largest() throws {
    let cores = JobNumbers.cores(of: 0)
    #expect(cores >= 1)
    #expect(JobNumbers.cores(of: 3) == 3)
    #expect(try #require(JobNumbers("0,\(cores + 1)")).largest == cores + 1)
    #expect(try #require(JobNumbers("7")).largest == 7)
  }

  @Test("A tolerance is a percentage that is not negative")
  func tolerance() {
    let cases: [(String, Double?)] = [
      ("10%", 0.1), ("50%", 0.5), ("50", nil), ("0%", 0), ("-1%", nil), ("inf", nil), ("x%", nil),
      ("", nil),
    ]
    for (text, share) in cases { #expect(Tolerance(text)?.share == share, "'\(text)'") }
  }

  @Test("The digest of a capture is that of what sha256sum prints of its files")
  func captureDigest() throws {
    let folder = try TemporaryFolder()
    let capture = folder.path.appending("scan")
    try FileSystem.makeFolder(capture.appending("depth"))
    let files = try [("scan.txt", "abc"), ("depth/2.png", "")].map { name, text in
      let path = capture.appending(name)
      try OutputFile.write(Array(text.utf8), to: path)
      return path
    }
    let lines =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  depth/2.png\n"
      + "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  scan.txt\n"
    let expected = Digest(of: lines).hex
    #expect(CaptureFigures.digest(of: files, in: capture) == expected)
    // A capture may be named by one of its files; a file that is named twice counts once.
    #expect(CaptureFigures.digest(of: files + files, in: files[0]) == expected)
    #expect(CaptureFigures.digest(of: files + ["/absent"], in: capture) == nil)
    #expect(CaptureFigures.digest(of: [], in: capture) == nil)
  }

  @Test("Peers that were asked for and are not compared with are a problem, with the reason")
  func peersProblem() {
    func problem(_ comparisons: [PeerComparison?]) -> String? {
      var report = Samples.report([Samples.run(wall: 1, cpu: 1)])
      let capture = report.captures[0]
      report.captures = comparisons.map {
        var capture = capture
        capture.comparison = $0
        return capture
      }
      return report.peersProblem
    }
    let compared = PeerComparison(
      note: "n", ours: [("o", [Samples.run(wall: 1, cpu: 1)])],
      peers: [("p", [Samples.run(wall: 2, cpu: 2)])], frames: 1, inputBytes: 1)
    var partly = compared
    partly.missing = ["b is not compared: x", "a is not compared: x"]
    let cases: [([PeerComparison?], String?)] = [
      ([compared], nil), ([PeerComparison(note: "no video"), compared], nil),
      ([PeerComparison(note: "no video")], "no video"), ([nil], "no capture was measured"),
      ([partly, partly], "a is not compared: x; b is not compared: x"),
    ]
    for (comparisons, text) in cases { #expect(problem(comparisons) == text) }
  }

  @Test("A floor that was asked for and is nowhere is a problem, with the reason")
  func floorProblem() {
    var report = Samples.report([Samples.run(wall: 1, cpu: 1)])
    var floor = FloorFigures(jobs: 1, rounds: 1)
    floor.notes = ["color: left out, x", "depth: not applicable, y"]
    report.captures[0].floor = floor
    #expect(
      report.floorProblem
        == "no stage has a floor here: color: left out, x; depth: not applicable, y")
    report.captures = []
    #expect(report.floorProblem == "no stage has a floor here: no capture")
  }

  @Test("Each command line of a peer runs once, and what is not here is told")
  func foundPeers() {
    let tuned = PeerCommand.tunedFFmpeg("/f")
    let peers = FoundPeers(
      found: [
        FoundPeers.Found(peer: .ffmpeg, version: "5", commands: [.ffmpeg("/f"), tuned]),
        FoundPeers.Found(peer: .tunedFFmpeg, version: "5", commands: [tuned]),
      ], missing: [FoundPeers.Missing(peer: .openCV, description: "no python3")])
    #expect(peers.commands == [.ffmpeg("/f"), tuned])
    #expect(peers.versions == ["ffmpeg": "5", "ffmpeg-tuned": "5"])
    #expect(peers.sentences == ["opencv is not compared: no python3"])
  }
}

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
    #expect(MachineDescription.fileSystem(of: path, inMounts: mounts) == kind)
    #expect(MachineDescription.fileSystem(of: path, inMounts: "") == nil)
    #expect(MachineDescription.fileSystem(of: "/nowhere") == "unknown")
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
