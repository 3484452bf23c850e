/// What becomes of pictures whose values an ordinary screen does not expect.
public enum HDRTreatment: String, CaseIterable, Sendable {
  /// 8-bit BT.709, tone-mapped.
  case sdr
  /// Linear light of 16 bits, with the primaries of the video.
  case linear16
  /// The video's own transfer and primaries, of 16 bits: all that is in the video.
  case coded16

  /// Whether pictures have 16 bits per sample.
  public var isWide: Bool { self != .sdr }
}
