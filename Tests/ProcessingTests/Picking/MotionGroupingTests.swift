@testable import Core
import Testing

@testable import Processing

@Suite("Groups of frames in which the camera hardly moves")
struct MotionGroupingTests {
  private static let limits = MotionGrouping.Limits(degrees: 10, meters: 0.5, levels: 8)

  /// A camera that is at `meters` along x at each frame; `nil` = no pose.
  private func motion(_ meters: [Double?]) -> FrameMotion {
    var poses: [Int: Pose] = [:]
    for (frame, x) in meters.enumerated() {
      poses[frame] = x.map {
        Pose(position: [$0, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
      }
    }
    return FrameMotion(poses: poses, times: [], gyroscope: nil)
  }

  /// An outline of one level, but for its first value.
  private func outline(_ first: UInt8, _ others: UInt8 = 100, size: Int = 4) -> PictureOutline {
    var values = [UInt8](repeating: others, count: size)
    values[0] = first
    return PictureOutline(values: values, width: size, height: 1)
  }

  private func steps(
    _ motion: FrameMotion, _ outlines: [PictureOutline?], limits: MotionGrouping.Limits = limits
  ) -> (steps: [MotionGrouping.Step], compared: [PickMeans: Int]) {
    var grouping = MotionGrouping(motion, limits)
    let steps = outlines.enumerated().map { grouping.take($0.offset, $0.element) }
    return (steps, grouping.compared)
  }

  @Test("A group ends before the first frame that is farther from its first one than the limit")
  func distance() {
    // From 0: 0.5 is not above the limit, 0.6 is; from there 1.0 is not, 1.2 is.
    let found = steps(motion([0, 0.3, 0.5, 0.6, 1.0, 1.2, 0.6]), Array(repeating: nil, count: 7))
    #expect(
      found.steps == [
        .begins(.start), .stays, .stays, .begins(.poses), .stays, .begins(.poses), .begins(.poses),
      ])
    #expect(found.compared == [.poses: 6])
  }

  @Test(
    "Small steps add up: it is the first frame of the group that is compared, not the one before")
  func drift() {
    let found = steps(motion((0..<13).map { Double($0) * 0.125 }), Array(repeating: nil, count: 13))
    let begins = found.steps.indices.filter { found.steps[$0] != .stays }
    #expect(begins == [0, 5, 10])
  }

  @Test("No frame makes no group, one frame one")
  func few() {
    #expect(steps(motion([]), []).steps.isEmpty)
    let one = steps(motion([3]), [nil])
    #expect(one.steps == [.begins(.start)] && one.compared.isEmpty)
  }

  @Test("A frame without pose is compared by its picture, and nothing is noted without one")
  func pictures() {
    let (same, changed) = (outline(100), outline(200))
    // The mean absolute difference after equal means: (75 + 3 · 25) / 4 = 37.5.
    #expect(same.change(to: changed) == 37.5)
    let found = steps(motion([0, nil, nil, 0.1, nil]), [same, same, changed, same, same])
    // Frame 3 has a pose and its group none: pictures again.
    #expect(
      found.steps == [
        .begins(.start), .stays, .begins(.pictures), .begins(.pictures), .stays,
      ])
    #expect(found.compared == [.pictures: 4])
    var grouping = MotionGrouping(motion([0, nil]), Self.limits)
    _ = grouping.take(0, same)
    #expect(grouping.take(1, nil) == .needsPicture && grouping.compared.isEmpty)
    #expect(grouping.take(1, same) == .stays)
  }

  @Test("Pictures of different sizes show different things")
  func sizes() {
    let found = steps(motion([nil, nil]), [outline(100), outline(100, size: 5)])
    #expect(found.steps == [.begins(.start), .begins(.pictures)])
    #expect(outline(100).change(to: outline(100, size: 5)) == nil)
  }

  @Test("Brighter as a whole is no change; one value of four that moves by d changes by 3d/8")
  func change() {
    #expect(outline(50, 50).change(to: outline(90, 90)) == 0)
    for difference in [1, 8, 100] as [UInt8] {
      let changed = outline(100 + difference)
      #expect(outline(100).change(to: changed) == Double(difference) * 3 / 8)
      #expect(changed.change(to: outline(100)) == Double(difference) * 3 / 8)
    }
    #expect(outline(7).change(to: outline(7)) == 0)
  }

  @Test("Poses that are no number do not count as poses")
  func notFinite() {
    let found = steps(motion([0, .nan, 9]), [outline(100), outline(100), outline(100)])
    #expect(found.steps == [.begins(.start), .stays, .begins(.poses)])
    #expect(found.compared == [.pictures: 1, .poses: 1])
  }
}
