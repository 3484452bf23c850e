@testable import Engine
@testable import Stages
import Testing

@Suite("Parts of a data set")
struct FrameSplitTests {
  private static let usual = "train=80,val=10,test=10"

  @Test("Shares hold over many captures, and a capture stays where it is")
  func manyCaptures() throws {
    let split = try #require(FrameSplit("capture", shares: Self.usual))
    var counts: [String: Int] = [:]
    for number in 0..<2_000 {
      let capture = FrameSplit.OfCapture(
        split: split, key: "capture \(number)", firstNanoseconds: nil)
      let part = try #require(capture.part(ofFrame: 0, at: nil))
      #expect(capture.part(ofFrame: number, at: 5) == part)
      counts[part, default: 0] += 1
    }
    #expect(abs(counts["train", default: 0] - 1_600) < 80)
    #expect(abs(counts["val", default: 0] - 200) < 60 && abs(counts["test", default: 0] - 200) < 60)
  }

  @Test("Frames of different parts of one capture are at least a margin apart")
  func blocks() throws {
    let split = try #require(FrameSplit("blocks:10s", shares: "a=1,b=1"))
    let capture = FrameSplit.OfCapture(split: split, key: "c", firstNanoseconds: 7)
    let frames = (0..<6_000).map { frame -> (time: Int64, part: String?) in
      let time = 7 + Int64(frame) * 33_333_333
      return (time, capture.part(ofFrame: frame, at: time))
    }
    var last: (time: Int64, part: String)?
    for (time, part) in frames {
      guard let part else { continue }
      if let last, last.part != part { #expect(time - last.time >= 2_000_000_000) }
      last = (time, part)
    }
    #expect(Set(frames.compactMap(\.part)) == ["a", "b"])
    #expect(frames.count { $0.part == nil } < 1_300)
    #expect(capture.part(ofFrame: 0, at: Int64.min) == nil)
  }

  @Test(
    "Texts that mean the same are one value: nothing is made again",
    arguments: [
      ("split", "every:04", "every:4"), ("split", " every : 4", "every:4"),
      ("split", "blocks:2000ms", "blocks:2s"),
      ("shares", "train=80.0, val=20", "train=80,val=20"), ("segment", "07", "7"),
    ])
  func spelling(name: String, text: String, spelling: String) throws {
    let parameter = try #require(ExportColmap.parameters.first { $0.name == name })
    #expect(try parameter.value(from: text) == parameter.value(from: spelling))
    #expect(try parameter.value(from: text).text == spelling)
  }

  @Test(
    "What is no split is none",
    arguments: [
      ("", usual), ("capture:3", usual), ("every", usual), ("every:0", usual),
      ("blocks:0s", usual), ("blocks:x", usual), ("capture", ""), ("capture", "a"),
      ("capture", "a=1,a=2"), ("capture", "a/b=1"), ("capture", "a=-1"), ("every:3", "a=1"),
    ])
  func refused(way: String, shares: String) {
    #expect(FrameSplit(way, shares: shares) == nil)
  }
}
