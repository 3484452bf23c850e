@testable import Engine
import Testing

@Suite("What the stages of a pipeline ask for together")
struct StageResourcesTests {
  static let text = """
    schema: 1
    stages:
      frames: {uses: make-frames, partOf: depth, resources: {cpus: 2, time: 1ms}}
      depth: {uses: export-depth, needs: [frames], resources: {cpus: 8, time: 10m}}
      color: {uses: make-color, resources: {time: 1h, memory: 1GB}}
      tables: {uses: make-tables, optional: [depth, color]}
    """

  static let cases: [(selected: Set<String>, cpus: Int?, seconds: Int?)] = [
    (["depth", "frames"], 8, 601), (["color"], nil, 3600), (["frames", "color"], 2, 3601),
    // One of them says nothing.
    (["depth", "frames", "color", "tables"], 8, nil), (["tables"], nil, nil), ([], nil, nil),
    (["frames", "nobody"], 2, 1),
  ]

  @Test("The largest number of cores; the sum of times where each says one", arguments: cases)
  func together(selected: Set<String>, cpus: Int?, seconds: Int?) throws {
    let asked = try pipeline(Self.text).resources(of: selected)
    #expect(asked.cpus == cpus)
    #expect(asked.timeSeconds == seconds)
  }

  @Test("A year is the longest time, and rounding up does not pass it")
  func longest() throws {
    for (time, seconds) in [("8760h", 31_536_000), ("1ns", 1), ("31535999.5s", 31_536_000)] {
      let text = "schema: 1\nstages: {a: {uses: make-color, resources: {time: \(time)}}}"
      #expect(try pipeline(text).resources(of: ["a"]).timeSeconds == seconds)
    }
  }
}
