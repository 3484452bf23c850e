import Captures
import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Finds the groups of a video's pictures where these must be compared, without keeping any.
struct VideoScan {
  private let plan: PickPlan

  init(_ plan: PickPlan) {
    self.plan = plan
  }

  /// The plan with the groups that were found. Damage is not reported: the pass that writes meets it again.
  ///
  /// Cost: decoding the video once more.
  func plan(
    _ context: StageContext, _ color: ColorStream, _ file: FilePath, _ track: Int
  ) throws -> PickPlan {
    let decoder = try SharedVideoDecoder(
      context, color, file: file, track: track, workNanosecondsPerPixel: 0)
    let wanted = Set(plan.frames)
    let state = Mutex(
      (
        picking: VideoPicking(plan, size: color.uprightSize, keeps: false),
        accounting: PictureAccounting(
          counted: color.countedFrames.count, frameOfPicture: color.frameOfPicture,
          selection: FrameSelection(only: wanted), width: color.description.width,
          height: color.description.height)
      ))
    try pullFrames(
      workers: 1, budget: context.budget, precedence: .first, makeScratch: {},
      next: { (_: inout Void) throws -> Int? in
        while true {
          try context.cancellation.check()
          guard let picture = try decoder.next() else { return nil }
          context.progress.showLife()
          let isOver = try state.withLock { state in
            guard let frame = state.accounting.enter(picture) else {
              return state.accounting.isOver
            }
            _ = try state.picking.take(picture, frame: frame)
            return false
          }
          if isOver { return nil }
        }
      }, work: { _, _ in })
    return state.withLock { plan.scanned($0.picking.plan, $0.picking.starts) }
  }
}
