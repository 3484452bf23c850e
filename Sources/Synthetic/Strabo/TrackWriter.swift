import Media
import Core
import SystemPackage

/// Writes a Strabo capture, frame by frame.
struct TrackWriter {
  let plan: TrackPlan
  let token: String
  let options: SynthesisOptions
  let folder: CaptureFolder
  /// The rig, whose color camera is upright.
  let rig: Rig
  private let rate: Double
  private let times: TrackTimes

  init(
    plan: TrackPlan, token: String, options: SynthesisOptions, folder: CaptureFolder, rig: Rig
  ) {
    self.plan = plan
    self.token = token
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 30
    times = TrackTimes(rate: rate, isStill: plan.form.isStill, seed: options.seed)
  }

  func write(id: String, createdAt: Int, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    try writePictures(&truth)
    let points = TrackWalk.points(
      plan: plan, duration: times.duration(frames: plan.frames), seed: options.seed)
    let held =
      plan.crossesNorth
      ? TrackPoint(seconds: 0, latitude: -16.5, longitude: 179.99999, accuracy: 0, heading: 2)
      : TrackPoint(seconds: 0, latitude: 12.3456, longitude: -34.5678, accuracy: 0, heading: 99.4)
    let info = TrackInfo(plan: plan, token: token, first: held, createdAt: createdAt)
    try OutputFile.write(
      info.json.bytes(escapingSlashes: true),
      to: folder.capture.appending("capture-info.json"))
    if !plan.missingFiles.contains(.geodata) {
      let log: JSONTree = ["points": .array(points.map(\.json))]
      let bytes = try log.bytes()
      try OutputFile.write(
        plan.isBrokenJSON ? Array("<".utf8) + bytes.dropFirst() : bytes, to: path("json"))
    }
    let isRead = !plan.missingFiles.contains(.geodata) && !plan.isBrokenJSON
    let report = TrackReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults, times: times,
      points: isRead ? Array(points.dropFirst(plan.hasStalePoint ? 1 : 0)) : [], held: held,
      createdAt: createdAt, warnings: TrackExpectation.warnings(plan, points: points))
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.warnings.entries
  }

  private func path(_ fileExtension: String) -> FilePath {
    folder.capture.appending("\(token).\(fileExtension)")
  }

  private func writePictures(_ truth: inout TruthWriter) throws {
    let mediaPath = path(plan.form.isStill ? "jpg" : "mov")
    let hasMedia = !plan.missingFiles.contains(.media)
    let turns = plan.clockwiseQuarterTurns
    let stored = turns % 2 == 0 ? rig.color : rig.color.turnedClockwise(quarterTurns: 1)
    var form = VideoSink.Form(container: .mov, ticksPerSecond: TrackTimes.ticksPerSecond)
    form.clockwiseQuarterTurns = turns
    let video =
      hasMedia && !plan.hasEmptyMedia && !plan.form.isStill
      ? try VideoSink(mediaPath, form, camera: stored, options: options) : nil
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.seconds(frame))
      let nanoseconds = times.nanoseconds(frame)
      exact.render(state.viewpoint())
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: rig.color)
      let upright = renderer.render(frame: frame, state: state)
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
      if frame == 0 { try writeThumbnail(of: upright) }
      let picture = PictureTurn.stored(upright, clockwiseQuarterTurns: turns)
      if plan.form.isStill, hasMedia, !plan.hasEmptyMedia {
        try writeStill(picture, to: mediaPath)
      } else {
        try video?.append(picture, ticks: times.ticks(frame))
      }
    }
    try video?.finish()
    if hasMedia, plan.hasEmptyMedia { try OutputFile.write([], to: mediaPath) }
  }

  private func writeStill(_ picture: ColorImage, to path: FilePath) throws {
    var writer = try JPEGWriter(quality: 90)
    var file: [UInt8] = []
    try writer.encode(
      rgb: picture.rgb, width: picture.width, height: picture.height, into: &file)
    let orientation = PictureTurn.orientation(
      clockwiseQuarterTurns: plan.clockwiseQuarterTurns)
    try OutputFile.write(PictureTurn.tag(file, orientation: orientation), to: path)
  }

  /// Movies get a small thumbnail; stills one in full size.
  private func writeThumbnail(of upright: ColorImage) throws {
    guard !plan.missingFiles.contains(.thumbnail) else { return }
    var size = TrackThumbnail.size(width: upright.width, height: upright.height)
    if plan.hasLargeThumbnail { size = (size.width * 2, size.height * 2) }
    let small =
      plan.form.isStill
      ? upright : TrackThumbnail.scale(upright, width: size.width, height: size.height)
    var png = PNGWriter(compression: .compact)
    try OutputFile.write(png.encode(small), to: path("png"))
  }
}
