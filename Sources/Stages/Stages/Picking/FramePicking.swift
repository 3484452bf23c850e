import Captures
import Core
import Engine
import Media
import Processing

/// Takes some of the frames of which it is known that they can be made.
enum FramePicking {
  /// The frames that `count` and `pick` take; `nil` if all are.
  ///
  /// - Parameters:
  ///   - frames: ascending.
  ///   - look: at the picture of a frame, by any thread; a frame without one is taken only if its group has no other.
  ///
  /// Cost: for `sharpest` and `motion`, a look at every picture. Holds a few bytes per frame, and the outline of
  /// each picture where these are compared.
  static func pick(
    _ frames: [Int], _ context: StageContext, look: @Sendable (Int) throws -> PictureLook?
  ) throws -> PickedFrames? {
    let values = context.parameters
    guard PickParameters.picks(values), !frames.isEmpty else { return nil }
    if let even = PickParameters.even(frames, values) {
      return PickedFrames(even, PickPlan.factsOfEven(frames.count))
    }
    guard var plan = PickPlan(context, frames, FrameSelection()) else { return nil }
    let isCompared = plan.comparesPictures
    let looks = try concurrentMap(count: frames.count, budget: context.budget) {
      index -> (sharpness: Sharpness, outline: PictureOutline?)? in
      try context.cancellation.check()
      context.progress.showLife()
      return try look(frames[index]).map { ($0.sharpness, isCompared ? $0.outline : nil) }
    }
    if plan.needsScan {
      var scan = plan
      var starts: [PickPlan.Start] = []
      for (frame, look) in zip(frames, looks) {
        guard let begun = scan.take(frame, look?.outline) else { continue }
        starts.append((frame, begun))
      }
      plan = plan.scanned(scan, starts)
    }
    var picker = GroupPicker<Void>()
    var picked: [Int] = []
    for (frame, look) in zip(frames, looks) {
      let rank = plan.rank(
        frame, isWhole: look != nil,
        look?.sharpness ?? Sharpness(gray: [], width: 0, height: 0))
      let begun = plan.take(frame, look?.outline)
      if let over = picker.take(frame, begins: begun, rank, ()) { picked.append(over.frame) }
    }
    if let last = picker.finish() { picked.append(last.frame) }
    return PickedFrames(picked.sorted(), plan.facts(picked: picked.count))
  }

  /// The frames that a stage makes which may follow color: those that its own parameters choose among the ones that
  /// color has.
  ///
  /// - Parameter frames: that can be made, ascending.
  /// - Throws: `StageDoesNotApply` when none of them is left.
  static func choose(
    _ frames: [Int], _ context: StageContext
  ) throws -> (frames: [Int], picked: PickedFrames?) {
    if let nothing = CommonParameters.nothingLeft(context.stage, context.parameters, of: frames) {
      throw StageDoesNotApply(nothing)
    }
    var chosen = Array(CommonParameters.selected(frames, context.parameters))
    let followed = try PickParameters.picked(context)
    if let followed {
      let pictures = Set(followed.frames)
      let selected = chosen.count
      chosen.removeAll { !pictures.contains($0) }
      if chosen.isEmpty, selected > 0 {
        throw StageDoesNotApply(
          CaptureWarning(
            .nothingLeft, context.stage, count: selected,
            "no frame is left: \(PickParameters.colorStage) has taken "
              + "\(Plural.text(pictures.count, "picture")), none of the \(Plural.text(selected, "frame")) of \(context.stage)"
          ))
      }
    }
    let color = context.inputs[PickParameters.colorPort.name].map(PublishedPictureFiles.init)
    let own = try pick(chosen, context) { frame in
      try color?.look(frame).flatMap {
        PictureLook(rgb: $0.rgb, width: $0.width, height: $0.height)
      }
    }
    return (own?.frames ?? chosen, own ?? followed)
  }
}

/// A decoded picture on its way to a worker.
typealias FramePicture = (frame: Int, picture: DecodedPicture)

/// Picks pictures of a video while it is decoded: only the best one of the running group is kept.
struct VideoPicking {
  private(set) var plan: PickPlan
  private(set) var table = PickTable()
  private var picker = GroupPicker<DecodedPicture?>()
  private let size: (width: Int, height: Int)?
  /// Whether pictures are kept to be written.
  private let keeps: Bool
  /// Whether `finish` was called.
  private(set) var isOver = false
  private var latest = -1
  private var gray: [UInt8] = []
  private var rgb: [UInt8] = []
  private var converter = ColorConverter()
  /// Frames at which groups began.
  private(set) var starts: [PickPlan.Start] = []

  /// - Parameters:
  ///   - size: upright, of the pictures of the stream; those of another size are second best.
  ///   - keeps: `false` to find out only where groups begin.
  init(_ plan: PickPlan, size: (width: Int, height: Int)?, keeps: Bool = true) {
    self.plan = plan
    self.size = size
    self.keeps = keeps
  }

  /// Takes a decoded picture. A picture that comes after one of a later frame, as in damaged videos, is no
  /// candidate.
  ///
  /// - Returns: the picked picture of the group that is thereby over.
  mutating func take(
    _ picture: DecodedPicture, frame: Int
  ) throws(VideoError) -> FramePicture? {
    guard frame > latest, let look = try look(at: picture) else { return nil }
    latest = frame
    let hasSize = size.map { $0.width == picture.width && $0.height == picture.height } ?? true
    let rank = plan.rank(
      frame, isWhole: hasSize && !picture.isDamaged, look.sharpness)
    let begun = plan.take(frame, look.outline)
    if let begun { starts.append((frame, begun)) }
    return note(picker.take(frame, begins: begun, rank, keeps ? picture : nil))
  }

  /// Ends picking; returns the picked picture of the last group, once.
  mutating func finish() -> FramePicture? {
    isOver = true
    return note(picker.finish())
  }

  private mutating func note(
    _ picked: PickedFrame<DecodedPicture?>?
  ) -> FramePicture? {
    guard let picked else { return nil }
    table.add(picked)
    return picked.payload.map { (picked.frame, $0) }
  }

  private mutating func look(at picture: DecodedPicture) throws(VideoError) -> PictureLook? {
    if let size = picture.luma(into: &gray) {
      return PictureLook(gray: gray, width: size.width, height: size.height)
    }
    try converter.convert(picture, into: &rgb)
    return PictureLook(rgb: rgb, width: picture.width, height: picture.height)
  }
}

extension ColorStream {
  /// The canonical frame of a picture; for a picture that was not counted, its number.
  func frame(ofPicture index: Int) -> Int {
    guard let frameOfPicture, frameOfPicture.indices.contains(index) else { return index }
    return frameOfPicture[index]
  }

  /// The upright size of its pictures; `nil` if it is not known.
  var uprightSize: (width: Int, height: Int)? {
    description.width.flatMap { width in description.height.map { (width, $0) } }
  }

  /// The frames of the pictures that were counted, in the order of the pictures.
  var countedFrames: [Int] {
    let count =
      switch source {
      case .video: order?.count ?? description.frames ?? 0
      case .stills(let files): files.count
      case .pictures(let pictures): pictures.count
      }
    guard let frameOfPicture else { return Array(0..<max(0, count)) }
    return Array(frameOfPicture.prefix(max(0, count)))
  }
}
