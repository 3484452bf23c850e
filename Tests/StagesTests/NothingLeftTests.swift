@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import Testing

@Suite("Stages that throw away everything they read")
struct NothingLeftTests {
  private func aligned(
    _ kind: any Stage.Type, _ depth: [DepthImage?], _ settings: [String: String]
  ) throws -> [CaptureWarning] {
    let scene = BoardScene()
    let bench = try StageBench(scene.capture)
    return try bench.run(
      kind, settings,
      inputs: [
        "frames": try bench.depth(depth),
        "color": try bench.color(depth.map { _ in scene.color }),
      ]
    ).warnings
  }

  @Test("Alignment says when no depth pixel has a place, and how many there were")
  func alignment() throws {
    let scene = BoardScene()
    let empty = DepthImage(width: 80, height: 60)
    let pixels = 2 * 80 * 60
    for (kind, subject) in [(AlignDepth.self, "aligned"), (AlignColor.self, "color")]
      as [(any Stage.Type, String)]
    {
      #expect(try aligned(kind, [scene.depth, nil, scene.depth], [:]).isEmpty)
      let depth = [scene.depth, nil, empty, scene.depth]
      let warnings = try aligned(kind, depth, ["minimumDepth": "60m"])
      #expect(warnings.map(\.code) == [.nothingLeft] && warnings.map(\.subject) == [subject])
      #expect(warnings.first?.count == 2, "frames with depth")
      #expect(warnings.first?.severity == .warning)
      let message = try #require(warnings.first?.message)
      #expect(message.hasPrefix("0 of \(pixels) depth pixels of 2 frames are left"), "\(message)")
      #expect(message.contains("minimumDepth=60m"), "\(message)")
    }
  }

  @Test("Frames without a measurement have lost none")
  func empty() throws {
    let empty = DepthImage(width: 80, height: 60)
    for kind in [AlignDepth.self, AlignColor.self] as [any Stage.Type] {
      #expect(try aligned(kind, [empty, nil, empty], ["minimumDepth": "60m"]).isEmpty)
    }
  }

  @Test("A recording that is over before its IMU starts has lost no samples")
  func beforeIMU() throws {
    for (gap, codes) in [(70_000_000, []), (20_000_000_000, [.nothingLeft])]
      as [(Int64, [WarningCode])]
    {
      var small = SmallCapture(times: [0, 16_000_000])
      small.addIMU([16_000_000 + gap])
      let warnings = try StageBench(small.capture).run(MatchIMU.self).warnings
      #expect(warnings.map(\.code) == codes)
    }
  }

  @Test("A tally counts until something is left")
  func tally() {
    func warnings(_ frames: [(values: Int, isAnythingLeft: Bool)]) -> [CaptureWarning] {
      let tally = LeftoverTally()
      for frame in frames { tally.add(values: frame.values, isAnythingLeft: frame.isAnythingLeft) }
      let collector = WarningCollector()
      tally.report("depth", "measured pixels", "range=1m..2m", to: collector)
      return collector.warnings
    }
    #expect(warnings([]).isEmpty)
    #expect(warnings([(0, false), (0, false)]).isEmpty, "there was nothing")
    #expect(warnings([(5, false), (7, true), (9, false)]).isEmpty)
    let all = warnings([(5, false), (0, false), (7, false)])
    #expect(all.map(\.message) == ["0 of 12 measured pixels of 2 frames are left: range=1m..2m"])
    #expect(all.map(\.count) == [2])
    #expect(
      warnings([(1, false)]).map(\.message) == [
        "0 of 1 measured pixels of 1 frame are left: range=1m..2m"
      ])
  }
}
