/// Tells which canonical frame a decoded picture is.
///
/// A container's pictures are known by their times before anything is decoded; a picture that then
/// fails to decode leaves a hole and shifts nothing. Bare streams have no times: there the order counts.
public struct PictureNumbering: Sendable {
  private let frameOfPicture: [Int]?
  private let ticks: [Int64]?
  private var next = 0

  /// - Parameters:
  ///   - frameOfPicture: canonical frame of picture k; `nil` = k.
  ///   - ticks: presentation ticks of picture k, ascending; `nil` without times.
  public init(frameOfPicture: [Int]?, ticks: [Int64]?) {
    self.frameOfPicture = frameOfPicture
    self.ticks = ticks
  }

  /// The frame of the next decoded picture, in presentation order; `nil` for a picture that nobody
  /// counted on (one more than the table of frames has).
  public mutating func frame(ofPictureAt presentationTicks: Int64?) -> Int? {
    let picture = index(of: presentationTicks)
    next = picture + 1
    guard let frameOfPicture else { return picture }
    return picture < frameOfPicture.count ? frameOfPicture[picture] : nil
  }

  private func index(of presentationTicks: Int64?) -> Int {
    guard let ticks, let presentationTicks else { return next }
    // Never before what was given out: of equal times each belongs to one picture.
    var position = next
    while position < ticks.count, ticks[position] < presentationTicks { position += 1 }
    return position < ticks.count && ticks[position] == presentationTicks ? position : next
  }
}
