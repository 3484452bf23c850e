/// Which frames are wanted, by canonical index. `first` and `last` are included.
public struct FrameSelection: Hashable, Sendable {
  public var every: Int
  public var first: Int
  /// `nil`: to the end of the capture.
  public var last: Int?
  /// Limits the selection to these frames; `nil`: no limit.
  private(set) var only: Set<Int>?

  /// `every` below 1 counts as 1.
  public init(every: Int = 1, first: Int = 0, last: Int? = nil) {
    self.every = max(1, every)
    self.first = first
    self.last = last
  }

  /// Exactly these frames.
  public init(only frames: Set<Int>) {
    self.init(first: frames.min() ?? 0, last: frames.max() ?? -1)
    only = frames
  }

  public func contains(_ frame: Int) -> Bool {
    frame >= first && frame <= last ?? .max && frame % every == 0
      && only?.contains(frame) ?? true
  }

  /// Whether no frame at or after `frame` is wanted.
  public func isOver(at frame: Int) -> Bool { frame > last ?? .max }
}
