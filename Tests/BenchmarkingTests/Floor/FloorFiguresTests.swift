import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Benchmarking
@testable import Core

@Suite struct FloorFiguresTests {
  @Test("The floor is what is read and converted, and what is written; all from medians")
  func arithmetic() throws {
    let color = try #require(Samples.floor().stages.first)
    #expect(color.name == "color")
    #expect(color.frames == 100)
    #expect(color.megapixels == 200)
    #expect(color.files == 101)
    #expect(color.bytes == 5_000_000)
    // Medians are those of the round that took twice as long.
    #expect(color.decode?.cpuMillisecondsPerFrame == 30)
    #expect(color.convert?.cpuMillisecondsPerFrame == 35)
    #expect(color.copy.cpuMillisecondsPerFrame == 5)
    #expect(color.ours.cpuMillisecondsPerFrame == 60)
    #expect(color.floorSeconds == 4)
    #expect(color.floorMillisecondsPerFrame == 40)
    #expect(color.oursByFloor == 1.5)
    #expect(color.aboveFloorMillisecondsPerMegapixel == 10)
    #expect(color.busyCores == 1.5)
    #expect(color.ours.userSeconds.median == 4.5)
    #expect(color.ours.systemSeconds.median == 1.5)
    #expect(color.aboveFloorMillisecondsPerMegapixelOfRounds == [5, 10, 20])
  }

  @Test("Where nothing is converted, decoding counts")
  func depth() throws {
    let depth = try #require(Samples.floor([1]).stages.first { $0.name == "depth" })
    #expect(depth.convert == nil)
    #expect(depth.floorSeconds == 0.5)
    #expect(depth.oursByFloor == 2)
  }

  @Test("In the sum what several stages read is counted once, and the video at its conversion")
  func whole() throws {
    let whole = try #require(Samples.floor([1]).whole)
    #expect(whole.name == "whole")
    #expect(whole.decode?.cpuSeconds.median == 1.75)
    #expect(whole.convert?.cpuSeconds.median == 2)
    #expect(whole.copy.cpuSeconds.median == 1)
    #expect(whole.floorSeconds == 3)
    #expect(whole.ours.cpuSeconds.median == 5)
    #expect(whole.megapixels == 600)
    #expect(whole.files == 303)
    #expect(try #require(whole.aboveFloorMillisecondsPerMegapixel) == 2000 / 600)
  }

  @Test("A capture without video has the floor of its depth")
  func noVideo() throws {
    var rounds = FloorRounds()
    var (round, whole) = Samples.round()
    round.removeFirst()
    rounds.add(round, whole: whole)
    let sum = try #require(rounds.wholeFigures(frames: 100))
    #expect(sum.convert == nil)
    #expect(sum.decode?.cpuSeconds.median == 0.25)
    #expect(sum.floorSeconds == 1)
  }

  @Test("Nothing written has no ratio that misleads")
  func empty() throws {
    var rounds = FloorRounds()
    let none = FloorSample(userSeconds: 0, systemSeconds: 0, wallSeconds: 0)
    let round = [
      FloorRounds.Stage(
        name: "depth", parts: [.depth: [none], .copy: [none]], ours: [Samples.ours(1)],
        reading: [.depth])
    ]
    rounds.add(round, whole: Samples.ours(1))
    let stage = try #require(rounds.figures.first)
    #expect(stage.oursByFloor == nil)
    #expect(stage.aboveFloorMillisecondsPerMegapixel == nil)
    #expect(stage.floorMillisecondsPerFrame == 0)
    #expect(FloorRounds().figures.isEmpty)
    #expect(FloorRounds().wholeFigures(frames: 1) == nil)
  }

  @Test(
    "System time that varies is said, with what could not be read",
    arguments: [([1.0, 1.1], 0), ([1, 4], 1)])
  func notes(scales: [Double], count: Int) {
    var rounds = FloorRounds()
    for scale in scales {
      let (round, whole) = Samples.round(scale)
      rounds.add(round, whole: whole)
    }
    #expect(rounds.notes.count == count)
    rounds.stages[1].parts[.depth]?[0].problem = "broken at byte 7"
    #expect(rounds.notes.count == count + 1)
    #expect(rounds.notes.first?.contains("depth: the floor is of what can be read: broken") == true)
  }

  @Test("Pixels of a file with wrong sizes do not overflow")
  func overflow() {
    var count = FloorSample()
    for _ in 0..<3 { count.count(width: Int(UInt32.max), height: Int(UInt32.max)) }
    #expect(count.pixels == .max)
    #expect(count.pictures == 3)
  }

  @Test("A report with a floor reads back, and one without is still a report")
  func roundTrip() throws {
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)])
    report.captures[0].floor = Samples.floor()
    let json = Array(try JSONEncoder().encode(report))
    #expect(try BenchmarkReport(json: json) == report)
    let sample = Samples.part(3)
    #expect(try FloorSample(json: Array(try JSONEncoder().encode(sample))) == sample)
  }

  @Test("The table of given samples")
  func table() {
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)])
    var floor = Samples.floor()
    floor.notes = ["confidence: not applicable, the family records no confidence"]
    report.captures[0].floor = floor
    let lines = BenchmarkTable.text(report, quoted: { $0.joined(separator: " ") }).split(
      separator: "\n"
    ).map(String.init)
    let start = lines.firstIndex { $0.hasPrefix("against the floor") } ?? lines.endIndex
    #expect(lines[start...].joined(separator: "\n") == Self.expectedTable)
  }

  private static let expectedTable = """
    against the floor · -j 2 · medians of 3 rounds, parts and runs in turn · CPU ms per picture written
             pictures  Mpx  decode  + RGB  copy  floor  ours  ours/floor  above floor, ms/Mpx  cores busy  files  MB out
    color         100  200    30.0   35.0  5.00   40.0  60.0        1.50                 10.0        1.50    101    5.00
    depth         100  200    5.00      -  5.00   10.0  20.0        2.00                 5.00        1.50    101    5.00
    aligned       100  200    5.00      -  10.0   15.0  40.0        2.67                 12.5        1.50    101    5.00
    whole         100  600    35.0   40.0  20.0   60.0   100        1.67                 6.67        1.50    303    15.0
    user + system, CPU ms per picture
                    read         copy         ours
    color    26.3 + 8.75  3.75 + 1.25  45.0 + 15.0
    depth    3.75 + 1.25  3.75 + 1.25  15.0 + 5.00
    aligned  3.75 + 1.25  7.50 + 2.50  30.0 + 10.0
    whole    30.0 + 10.0  15.0 + 5.00  75.0 + 25.0
    note: confidence: not applicable, the family records no confidence
    """
}

@Suite struct FloorBaselineTests {
  private static func report(_ floor: FloorFigures?) -> BenchmarkReport {
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)])
    report.captures[0].floor = floor
    return report
  }

  private static let rounds = [1.0, 1, 1, 1, 1]

  /// Only our color runs are slower than before, by a part of their time.
  private static func slower(_ part: Double) -> FloorFigures {
    var rounds = FloorRounds()
    for _ in Self.rounds {
      var (round, whole) = Samples.round()
      round[0].ours = [Samples.ours(3 * (1 + part))]
      rounds.add(round, whole: whole)
    }
    var figures = Samples.floor(Self.rounds)
    figures.stages = rounds.figures
    return figures
  }

  private static let quantity = "aboveFloorMillisecondsPerMegapixel"

  @Test(
    "What is above the floor counts, per megapixel: a tenth of a run is three tenths of it",
    arguments: [(0.0, 0.1, false), (0.1, 0.2, true), (0.1, 0.4, false), (-0.1, 0, false)])
  func above(part: Double, tolerance: Double, isWorse: Bool) throws {
    let comparison = BaselineComparison(
      now: Self.report(Self.slower(part)), before: Self.report(Samples.floor(Self.rounds)),
      tolerance: tolerance)
    let lines = comparison.lines.filter { $0.quantity == Self.quantity }
    #expect(lines.map(\.name) == ["color", "depth", "aligned", "whole"])
    let color = try #require(lines.first)
    #expect(color.before == 5)
    #expect(abs(color.change - 3 * part) < 1e-9)
    #expect(comparison.regressions.map(\.name) == (isWorse ? ["color"] : []))
  }

  @Test("One slow round among others is the machine")
  func slowRound() {
    let comparison = BaselineComparison(
      now: Self.report(Samples.floor([1, 3, 1, 1, 1])),
      before: Self.report(Samples.floor(Self.rounds)), tolerance: 0)
    #expect(comparison.regressions.isEmpty)
  }

  @Test("A baseline without floor, or with other cores, is said to be so")
  func notes() {
    let floor = Samples.floor([1])
    var other = floor
    other.jobs = 1
    for before in [nil, other] {
      let comparison = BaselineComparison(
        now: Self.report(floor), before: Self.report(before), tolerance: 0)
      #expect(comparison.notes.count == 1)
      #expect(!comparison.lines.contains { $0.quantity == Self.quantity })
    }
    // A floor that was not measured again is told.
    let comparison = BaselineComparison(
      now: Self.report(nil), before: Self.report(floor), tolerance: 0)
    #expect(comparison.notes == ["c: a floor is in the baseline only"])
  }
}

@Suite struct FloorCopyTests {
  @Test("The copy has the same files with the same bytes, and counts pictures by their heads")
  func copy() throws {
    let folder = try TemporaryFolder()
    let source = folder.path.appending("source")
    try FileSystem.makeFolder(source.appending("deep"))
    let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
    let picture = head + [0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0]
    // Longer than one piece, and exactly one.
    let files: [(String, [UInt8])] = [
      ("000000.png", picture), ("deep/000001.png", picture), ("empty", []), ("text", [1, 2, 3]),
      ("long", [UInt8](repeating: 7, count: (8 << 20) + 5)),
      ("piece", [UInt8](repeating: 9, count: 8 << 20)), ("cut.png", Array(head[..<10])),
    ]
    for (name, bytes) in files { try OutputFile.write(bytes, to: source.pushing(FilePath(name))) }
    let target = folder.path.appending("target")
    let sample = try FloorCopy.measure(source, to: target)
    #expect(sample.files == files.count)
    #expect(sample.bytes == files.map { Int64($0.1.count) }.reduce(0, +))
    #expect(sample.pictures == 2)
    #expect(sample.pixels == 30)
    for (name, bytes) in files {
      let copied = try MappedFile(target.pushing(FilePath(name))).withBytes {
        $0.withUnsafeBytes { Array($0) }
      }
      #expect(copied == bytes, "\(name)")
    }
    // Into a folder that has them already nothing is written.
    let error = try #require(throws: FileError.self) {
      try FloorCopy.measure(source, to: target)
    }
    #expect(error.operation == "create")
  }

  @Test("Half of what is available is touched at most")
  func touchable() {
    let info = "MemTotal: 9 kB\nMemAvailable:    2000 kB\nBuffers: 1 kB\n"
    #expect(HostMemory.touchable(wanted: 500_000, memoryInfo: info) == 500_000)
    #expect(HostMemory.touchable(wanted: .max, memoryInfo: info) == 1_024_000)
    #expect(HostMemory.touchable(wanted: -1, memoryInfo: info) == 0)
    #expect(HostMemory.touchable(wanted: 5, memoryInfo: "MemTotal: 9 kB\n") == 0)
    #expect(HostMemory.touchable(wanted: 5, memoryInfo: "MemAvailable: much kB\n") == 0)
    #expect(HostMemory.touch(upTo: 1 << 20) <= 1 << 20)
  }
}

extension Samples {
  /// Seconds of CPU; a tenth of them in the kernel.
  static func part(
    _ cpu: Double, pictures: Int = 100, pixels: Int64 = 200_000_000, bytes: Int64 = 5_000_000
  ) -> FloorSample {
    FloorSample(
      userSeconds: cpu * 0.75, systemSeconds: cpu * 0.25, wallSeconds: cpu, pictures: pictures,
      pixels: pixels, files: pictures + 1, bytes: bytes)
  }

  /// Our run, with two cores half of the time.
  static func ours(_ cpu: Double) -> FloorSample {
    FloorSample(userSeconds: cpu * 0.75, systemSeconds: cpu * 0.25, wallSeconds: cpu / 1.5)
  }

  static func stage(
    _ name: String, reading: [FloorPart], parts: [FloorPart: Double], ours: Double
  ) -> FloorRounds.Stage {
    FloorRounds.Stage(
      name: name, parts: parts.mapValues { [part($0)] }, ours: [Samples.ours(ours)],
      reading: reading)
  }

  /// A round of a capture with color, depth and aligned depth; `scale` times as slow as another.
  static func round(_ scale: Double = 1) -> ([FloorRounds.Stage], whole: FloorSample) {
    let round = [
      stage(
        "color", reading: [.decode, .convert],
        parts: [.decode: 1.5 * scale, .convert: 1.75 * scale, .copy: 0.25 * scale],
        ours: 3 * scale),
      stage(
        "depth", reading: [.depth], parts: [.depth: 0.25 * scale, .copy: 0.25 * scale],
        ours: 1 * scale),
      stage(
        "aligned", reading: [.depth], parts: [.depth: 0.25 * scale, .copy: 0.5 * scale],
        ours: 2 * scale),
    ]
    return (round, Samples.ours(5 * scale))
  }

  static func floor(_ scales: [Double] = [1, 2, 4]) -> FloorFigures {
    var rounds = FloorRounds()
    for scale in scales {
      let (round, whole) = Samples.round(scale)
      rounds.add(round, whole: whole)
    }
    var figures = FloorFigures(jobs: 2, rounds: scales.count)
    figures.stages = rounds.figures
    figures.whole = rounds.wholeFigures(frames: 100)
    return figures
  }
}
