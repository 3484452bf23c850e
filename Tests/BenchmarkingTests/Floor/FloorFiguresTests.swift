import Core
import FoundationEssentials
import SystemPackage
import Testing

@testable import Benchmarking

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
    round.stages.removeFirst()
    rounds.add(round, whole: whole)
    let sum = try #require(rounds.wholeFigures(frames: 100))
    #expect(sum.convert == nil)
    #expect(sum.decode?.cpuSeconds.median == 0.25)
    #expect(sum.floorSeconds == 1)
  }

  @Test("Nothing written has no ratio that misleads")
  func empty() throws {
    var rounds = FloorRounds()
    var round = FloorRound(folder: "/r")
    let none = FloorSample(userSeconds: 0, systemSeconds: 0, wallSeconds: 0)
    round.stages = [
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
