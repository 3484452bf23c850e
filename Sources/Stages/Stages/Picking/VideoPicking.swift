import Media
import Processing

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
  ) throws(VideoError) -> (frame: Int, picture: DecodedPicture)? {
    guard frame > latest, let look = try look(at: picture) else { return nil }
    latest = frame
    let hasSize = size.map { $0.width == picture.width && $0.height == picture.height } ?? true
    let rank = plan.rank(
      frame, isWhole: hasSize && !picture.isDamaged, look.sharpness)
    let begun = plan.take(frame, look.outline)
    if let begun { starts.append(PickPlan.Start(frame: frame, begun: begun)) }
    return note(picker.take(frame, begins: begun, rank, keeps ? picture : nil))
  }

  /// Ends picking; returns the picked picture of the last group, once.
  mutating func finish() -> (frame: Int, picture: DecodedPicture)? {
    isOver = true
    return note(picker.finish())
  }

  private mutating func note(
    _ picked: PickedFrame<DecodedPicture?>?
  ) -> (frame: Int, picture: DecodedPicture)? {
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
