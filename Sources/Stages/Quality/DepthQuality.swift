import Captures
import Core
import Engine
import Processing
import Synchronization

/// What depth frames tell of themselves: how much of each is measured, and how well it agrees with the
/// frame before it once both are placed by their poses.
struct DepthQuality: Sendable {
  private let reader: FrameStoreReader
  /// `nil` where the cameras do not tell how depth lies in space.
  private let agreement: DepthAgreement?
  private let poses: [Int: Pose]

  /// `nil` without decoded depth.
  init?(_ context: StageContext) throws {
    guard let input = context.inputs["frames"] else { return nil }
    reader = try FrameStoreReader(input.folder)
    poses = Dictionary((context.capture.poses.value?.rows ?? []).map { ($0.frame, $0.pose) }) {
      first, _ in first
    }
    agreement = poses.isEmpty ? nil : try Self.agreement(context, reader.store)
  }

  private static func agreement(
    _ context: StageContext, _ store: FrameStore
  ) throws -> DepthAgreement? {
    let isStated = CaptureSummary.missing(in: context.capture.alignment).isEmpty
    guard isStated || context.externalFiles["calibration"] != nil,
      context.capture.color.value?.isMirrored != true
    else { return nil }
    let cameras = try CalibrationChoice.cameras(context, store)
    return try DepthAgreement(
      calibration: cameras.calibration, depthSize: cameras.depthSize, colorSize: cameras.colorSize)
  }

  /// Fills in the figures of depth, on all cores.
  func measure(_ frames: inout [FrameQuality], _ context: StageContext) throws {
    let wanted = frames.indices.filter(reader.hasPicture)
    context.progress.expect(wanted.count)
    let found = try concurrentMap(count: wanted.count, budget: context.budget) { place in
      try context.cancellation.check()
      defer { context.progress.advance() }
      return figures(of: wanted[place])
    }
    for (frame, figures) in zip(wanted, found) {
      frames[frame].depthShare = figures.share
      frames[frame].comparesDepth = figures.isCompared
      frames[frame].agreement = figures.agreement
    }
  }

  private func figures(
    of frame: Int
  ) -> (share: Double, isCompared: Bool, agreement: DepthAgreement.Result?) {
    reader.withFrame(frame, as: UInt16.self) { depth in
      var measured = 0
      for index in depth.indices where depth[index] != 0 { measured += 1 }
      let share = depth.isEmpty ? 0 : Double(measured) / Double(depth.count)
      guard let agreement, reader.hasPicture(frame - 1), let pose = poses[frame],
        let before = poses[frame - 1]
      else { return (share, false, nil) }
      return reader.withFrame(frame - 1, as: UInt16.self) { other in
        (share, true, agreement.compare(depth, at: pose, with: other, at: before))
      }
    }
  }
}
