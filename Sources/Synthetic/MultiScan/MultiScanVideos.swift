import Media
import Core
import SystemPackage

/// Writes the video of a MultiScan capture, or both of the dual mode.
struct MultiScanVideos {
  private let plan: MultiScanPlan
  private var primary: VideoSink?
  private var secondary: VideoSink?
  private let primaryPath: FilePath
  private var renderer: ColorRenderer

  init(
    plan: MultiScanPlan, folder: FilePath, id: String, rig: Rig, options: SynthesisOptions
  ) throws {
    self.plan = plan
    let generation = plan.generation
    var form = VideoSink.Form(
      container: generation == .iosSingle || generation == .iosDual ? .mov : .mp4,
      ticksPerSecond: MultiScanTimes.ticksPerSecond, bFrames: generation.isLidar ? 2 : 0)
    form.clockwiseQuarterTurns = generation.clockwiseQuarterTurns
    let stored = rig.color.turnedClockwise(quarterTurns: generation.clockwiseQuarterTurns)
    let isDual = generation == .iosDual
    primaryPath = folder.appending(isDual ? "\(id)-primary.mp4" : "\(id).mp4")
    renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    guard plan.hasVideo else { return }
    primary = try VideoSink(primaryPath, form, camera: stored, options: options)
    if isDual {
      secondary = try VideoSink(
        folder.appending("\(id)-secondary.mp4"), form, camera: stored, options: options)
    }
  }

  mutating func append(
    _ frame: Int, state: MotionState, camera: PinholeCamera, ticks: Int64
  ) throws {
    guard let primary else { return }
    renderer.camera = camera
    // A turned picture is a copy.
    if plan.generation.clockwiseQuarterTurns % 4 == 0 { renderer.reuse(primary.spare()) }
    let picture = PictureTurn.stored(
      renderer.render(frame: frame, state: state),
      clockwiseQuarterTurns: plan.generation.clockwiseQuarterTurns)
    try primary.append(picture, ticks: ticks)
    // The second lens shows the same picture here; nothing reads it.
    try secondary?.append(picture, ticks: ticks)
  }

  func finish() throws {
    try primary?.finish()
    try secondary?.finish()
    if primary != nil, !plan.hasVideoIndex { try MovieDamage.removeIndex(of: primaryPath) }
  }
}
